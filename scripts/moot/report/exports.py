"""Debates for other tools: what an export contains, and the logs of inspect_ai."""

import json
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

from moot.core.errors import UserError
from moot.core.log import LOG
from moot.core.natural_order import natural_key
from moot.core.optional import import_extra
from moot.core.schemas import JUDGED
from moot.core.types import Fields, Json, JsonObject
from moot.core.utterance_kinds import CONCLUSION, PUBLIC
from moot.report.debate_texts import records
from moot.report.turn_effects import effects_of_experiment
from moot.scores.results import ExperimentResults

NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)
"""The time of an event whose time was not recorded."""


@dataclass(frozen=True)
class ExportedDebate:
    """One debate that has ended, with all data about it.

    Attributes:
        name: case and repeat, and the judge if there are several; unique within an experiment and
            model.
        case: its row of the cases schema.
        outcome: its row of the predictions schema.
        utterances: its rows of the transcripts schema in the order of turns, without the
            conclusion. If debates were judged again without single turns, `EXPORTED_FIELDS` hold
            the effects.
    """

    name: str
    case: Fields
    outcome: Fields
    utterances: list[JsonObject]


@dataclass(frozen=True)
class Export:
    """The source of an export: one experiment's results of one model.

    Attributes:
        results: the experiment's results.
        model: the model's name in the configuration.
        scores: the model's rows of the experiment's scores.
    """

    results: ExperimentResults
    model: str
    scores: pd.DataFrame

    @property
    def model_name(self) -> str:
        """The model's display name in tables."""
        return self.results.config.name_of(self.model)

    def debates(self) -> Iterator[ExportedDebate]:
        """Yield the debates that have ended, in the order of their ids.

        A debate before several judges is yielded once for each.
        """
        results = self.results
        outcomes: dict[tuple[str, int], list[JsonObject]] = {}
        for row in records(results.predictions):
            outcomes.setdefault((row["case_id"], row["repeat"]), []).append(missing_as_none(row))
        effects = effects_of_experiment(results)
        by_debate = results.transcripts.groupby("debate_id", sort=False)
        rows_by_debate = {str(name): rows for name, rows in by_debate}
        for name in sorted(rows_by_debate, key=natural_key):
            rows = rows_by_debate[name]
            utterances = records(rows[rows["kind"] != CONCLUSION])
            public_utterances = (row for row in utterances if row["visibility"] == PUBLIC)
            for position, row in enumerate(public_utterances if effects else (), start=1):
                row.update(effects.get((self.model, str(name), position), {}))
            case_id, repeat = rows["case_id"].iloc[0], rows["repeat"].iloc[0]
            for outcome in outcomes[case_id, repeat]:
                judge_suffix = "".join(f", {outcome[part]}" for part in JUDGED if outcome.get(part))
                yield ExportedDebate(
                    f"{name}{judge_suffix}",
                    asdict(results.case_by_id[case_id]),
                    outcome,
                    utterances,
                )

    def calls(self) -> dict[str, JsonObject]:
        """Return the calls by their id, rows of the calls schema."""
        return {row["call_id"]: missing_as_none(row) for row in records(self.results.calls)}

    def end_time(self) -> datetime:
        """Return the time at which the last call ended; `NO_TIME` without calls."""
        return max((call_times(call)[1] for call in self.calls().values()), default=NO_TIME)


def write_inspect_log(export: Export, path: Path) -> None:
    """Write the log of an experiment and model.

    Raises:
        UserError: the extra `inspect` is not installed.
    """
    import_extra("moot.report.inspect_log", "inspect").write_log(export, path)


def has_inspect() -> bool:
    """Return whether inspect_ai is installed."""
    return find_spec("inspect_ai") is not None


def check_packages(rules: Collection[str]) -> None:
    """Say that the logs of inspect_ai are left out of `export`, before any job starts.

    Raises:
        UserError: the logs were asked for, and inspect_ai is not installed.
    """
    if has_inspect():
        return
    remedy = "pip install 'moot[inspect]' (in a clone: make env EXTRAS=inspect)"
    if "convert_to_inspect" in rules:
        raise UserError(f"the export to inspect needs inspect_ai, not installed here: {remedy}.")
    if "export" in rules:
        LOG.warning("not exported to inspect: it needs inspect_ai: %s", remedy)


def missing_as_none(row: Fields) -> JsonObject:
    """Return a row with None for missing values, in columns of any type."""
    return {str(name): None if is_missing(value) else value for name, value in row.items()}


def is_missing(value: Json) -> bool:
    """Return whether a cell is empty."""
    return value is None or (pd.api.types.is_scalar(value) and bool(pd.isna(value)))


def as_json_values(values: Fields) -> JsonObject:
    """Convert values to JSON types; numbers of other libraries become Python's."""
    decoded: JsonObject = json.loads(
        json.dumps(missing_as_none(values), default=lambda value: value.item())
    )
    return decoded


def call_times(call: Fields) -> tuple[datetime, datetime]:
    """Return when a call began and ended.

    Older ledgers record only when a reply was stored, and how long it took.
    """
    seconds = timedelta(seconds=float(call["seconds"] or 0))
    if call["started_at"] and call["ended_at"]:
        return datetime.fromisoformat(call["started_at"]), datetime.fromisoformat(call["ended_at"])
    end = datetime.fromisoformat(call["created_at"]) if call["created_at"] else NO_TIME
    return end - seconds, end
