"""Make predictions from transcripts: a row per case and repeat, with costs and thresholds."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd

from moot.core.artifacts import describe, read_cases, read_frame, write_rows
from moot.core.cases import Case, Task
from moot.core.config import Config
from moot.core.endpoint_traits import endpoint_traits
from moot.core.experiment_config import RECORDED
from moot.core.likelihood import calibrate
from moot.core.schemas import JUDGED
from moot.core.types import JsonObject
from moot.core.utterance_kinds import ASKED_AGAIN, CONCLUSION
from moot.llm.identity import is_other_model
from moot.llm.ledger.database import portions
from moot.llm.ledger.exports import calls_row
from moot.llm.ledger.ledger import Ledger
from moot.protocols.experiment import Experiment
from moot.scores.served import ASKED


class DebateCalls:
    """The data behind a model's predictions, collected shard by shard.

    Args:
        ledger: the calls.
        shards: the model's transcripts, in the order of shards; a debate is in one of them.
        asked_models: the models that were asked, as their servers know them, by name.

    Attributes:
        conclusions: one frame per shard with the rows of kind `conclusion`.
        costs: by debate_id, as `debate_costs`.
        served: by debate_id, as `versions_served`.
    """

    def __init__(
        self, ledger: Ledger, shards: Sequence[Path], asked_models: Mapping[str, str]
    ) -> None:
        self._ledger, self._shards, self._asked_models = ledger, shards, asked_models
        self.conclusions: list[pd.DataFrame] = []
        self.costs: dict[str, dict[str, float]] = {}
        self.served: dict[str, list[tuple[str, str]]] = {}

    def calls(self) -> Iterator[JsonObject]:
        """Yield every call behind the transcripts as a row of the calls schema.

        The calls are in the order of their first use.

        After the last call, the attributes are complete.
        """
        yielded_keys: set[bytes] = set()
        for shard in self._shards:
            transcript = read_frame(shard, _TRANSCRIPT_COLUMNS)
            shard_calls = []
            for row in self._calls_of(transcript):
                shard_calls.append({name: row[name] for name in _CALL_COLUMNS})
                key = bytes.fromhex(row["call_id"])
                if key not in yielded_keys:
                    yielded_keys.add(key)
                    yield row
            called = pd.DataFrame(shard_calls, columns=_CALL_COLUMNS)
            costs: Any = debate_costs(transcript, called).to_dict("index")
            self.costs.update(costs)
            self.served.update(versions_served(transcript, called, self._asked_models))
            self.conclusions.append(transcript[transcript["kind"] == CONCLUSION])

    def _calls_of(self, transcript: pd.DataFrame) -> Iterator[JsonObject]:
        for call_ids in portions(dict.fromkeys(filter(None, transcript["call_id"]))):
            entries = {entry.call_id: entry for entry in self._ledger.entries(call_ids)}
            yield from (calls_row(entries[key]) for key in call_ids if key in entries)


_TRANSCRIPT_COLUMNS = [
    "experiment",
    "model",
    "debate_id",
    "case_id",
    "repeat",
    "turn",
    "speaker",
    "kind",
    "text",
    "source",
]
_TRANSCRIPT_COLUMNS += [
    "parsed",
    "parse_status",
    "prediction",
    "confidence",
    "probability",
    "call_id",
    "missing_fields",
]
_CALL_COLUMNS = ["call_id", "model", "served_model", "system_fingerprint", "provider"]
_CALL_COLUMNS += [
    "finish_reason",
    "attempts",
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
    "seconds",
    "cost_usd",
]


def _conclusions(transcript: pd.DataFrame) -> pd.DataFrame:
    conclusions = transcript[transcript["kind"] == CONCLUSION].copy()
    outcome = [json.loads(parsed) for parsed in conclusions["parsed"]]
    conclusions["status"] = [entry["status"] for entry in outcome]
    conclusions["reason"] = [entry.get("reason", "") for entry in outcome]
    for name in JUDGED:
        conclusions[name] = pd.Series(
            [entry.get(name) for entry in outcome], conclusions.index, dtype=object
        )
    conclusions["score"] = pd.Series(
        [entry["score"] for entry in outcome], conclusions.index, dtype=float
    )
    conclusions["logprobs"] = pd.Series(
        [entry.get("logprobs") for entry in outcome], conclusions.index, dtype=object
    )
    return conclusions.drop(columns=["parsed", "call_id", "parse_status", "kind", "text"])


def debate_costs(transcripts: pd.DataFrame, calls: pd.DataFrame) -> pd.DataFrame:
    """Return the cost of each debate: its calls, retries, unusable or cut replies, tokens, USD.

    The index is debate_id.

    A call that failed permanently counts as one retry, so that its debate counts as one with
    retries. Its cost is the cost of its attempts.
    """
    debate_calls = transcripts.loc[
        transcripts["call_id"].fillna("") != "", ["debate_id", "call_id"]
    ].drop_duplicates()
    call_rows = debate_calls.merge(calls, on="call_id")
    call_rows["retries"] = call_rows["attempts"] - 1
    call_rows["cut_off"] = call_rows["finish_reason"] == "length"
    sums = [
        "retries",
        "cut_off",
        "prompt_tokens",
        "completion_tokens",
        "cached_tokens",
        "seconds",
        "cost_usd",
    ]
    totals = call_rows.groupby("debate_id")[sums].sum()
    totals["calls"] = call_rows.groupby("debate_id").size()
    is_unreadable = transcripts["kind"] == ASKED_AGAIN
    totals["asked_again"] = transcripts[is_unreadable].groupby("debate_id").size()
    # A failed call has a cost. The missing statements of a synthetic panel do not.
    has_cost = transcripts["parsed"].fillna("") != ""
    failed_rows = transcripts[(transcripts["parse_status"] == "failed") & has_cost]
    failed_costs = [json.loads(parsed).get("cost_usd", 0.0) for parsed in failed_rows["parsed"]]
    totals = totals.reindex(transcripts["debate_id"].unique()).fillna(0)
    totals["retries"] = (
        totals["retries"].add(failed_rows.groupby("debate_id").size(), fill_value=0).astype(int)
    )
    totals["cost_usd"] = totals["cost_usd"].add(
        pd.Series(failed_costs, failed_rows["debate_id"]).groupby(level=0).sum(), fill_value=0
    )
    return totals


def versions_served(
    transcripts: pd.DataFrame, calls: pd.DataFrame, asked_models: Mapping[str, str]
) -> dict[str, list[tuple[str, str]]]:
    """Return by debate which version of which model served it, as far as the server states it.

    Each version is (model, fingerprint, provider), with the model that was asked if it is another.
    """
    served_names = (
        calls[["served_model", "system_fingerprint", "provider"]]
        .fillna("")
        .itertuples(index=False, name=None)
    )
    versions = []
    for name, (served_model, *other_names) in zip(calls["model"], served_names, strict=True):
        asked = asked_models.get(name, "")
        is_other = is_other_model(asked, served_model)
        version = f"{served_model}{ASKED}{asked})" if is_other else served_model
        versions.append(", ".join(name for name in (version, *other_names) if name))
    by_call = dict(zip(calls["call_id"], zip(calls["model"], versions, strict=True), strict=True))
    served: dict[str, set[tuple[str, str]]] = {}
    for debate_id, call_id in zip(transcripts["debate_id"], transcripts["call_id"], strict=True):
        if call_id in by_call and by_call[call_id][1]:
            served.setdefault(debate_id, set()).add(by_call[call_id])
    return {
        debate_id: sorted(versions_of_debate) for debate_id, versions_of_debate in served.items()
    }


def prediction_rows(
    debate_calls: DebateCalls,
    cases: Sequence[Case],
    task: Task,
    evaluated_split: str,
    is_recorded: bool = False,
) -> Iterable[JsonObject]:
    """Yield the rows of `predictions/{experiment}/{model}.parquet`.

    They are evaluated cases in the order of the transcripts.

    The cost of recorded debates is unknown and missing.
    """
    splits = {case.case_id: case.split for case in cases}
    targets = {case.case_id: case.target for case in cases}
    frames = [
        frame for frame in debate_calls.conclusions if len(frame)
    ] or debate_calls.conclusions[:1]
    ended = pd.concat(frames, ignore_index=True)
    conclusions = calibrate(_conclusions(ended), splits, targets, task)
    for row in conclusions.to_dict("records"):
        if splits[row["case_id"]] != evaluated_split:
            continue
        cost = debate_calls.costs[row["debate_id"]]
        costs = {name: int(cost[name]) for name in _COUNT_COLUMNS} | {
            name: float(cost[name]) for name in _AMOUNT_COLUMNS
        }
        yield {
            **{str(name): value for name, value in row.items()},
            "target": targets[row["case_id"]],
            **(dict.fromkeys(costs) if is_recorded else costs),
            "served_by": debate_calls.served.get(row["debate_id"], []),
            **{
                name: row[name] if pd.notna(row[name]) else None for name in ("prediction", *JUDGED)
            },
        }


_COUNT_COLUMNS = (
    *("calls", "retries", "asked_again", "cut_off"),
    *("prompt_tokens", "completion_tokens", "cached_tokens"),
)
_AMOUNT_COLUMNS = ("seconds", "cost_usd")


def write_predictions(
    config: Config,
    experiment: Experiment,
    cases_path: Path,
    shards: Sequence[Path],
    output: Path,
    calls: Path,
    **digests: str,
) -> None:
    """Write an experiment's predictions for one model, and the calls behind them.

    Args:
        config: the run's, for its models and its ledger.
        experiment: the experiment.
        cases_path: `cases/{dataset}.parquet`.
        shards: the model's transcripts, in the order of shards.
        output: `predictions/{experiment}/{model}.parquet`.
        calls: `calls/{experiment}/{model}.parquet`.
        digests: the job's digests, for the artifacts' metadata.
    """
    cases, task = read_cases(cases_path, texts=False)
    with closing(Ledger(config.ledger)) as ledger:
        asked_models = {
            name: model.model
            for name, model in config.models.items()
            if endpoint_traits(model.endpoint).has_server
        }
        debate_calls = DebateCalls(ledger, shards, asked_models)
        described = describe(experiment.name, shards, **digests)
        write_rows(calls, "calls", debate_calls.calls(), described)
    rows = prediction_rows(
        debate_calls,
        cases,
        task,
        experiment.config.split,
        experiment.config.protocol == RECORDED,
    )
    metadata = describe(experiment.name, [cases_path, *shards], **digests)
    write_rows(output, "predictions", rows, metadata)
