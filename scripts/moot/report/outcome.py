"""The outcome of a run's debates: how many are valid, invalid, failed or waiting, and why.

The terminal shows the summary at the end of a run, and the report at its top.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from moot.core.artifacts import atomic_path, read_frame, read_metadata
from moot.core.durable import write_atomically
from moot.core.endpoint_traits import REHEARSAL_MARK
from moot.core.errors import RunStoppedError, UserError
from moot.core.utterance_kinds import CALL_FAILED, REPLY_PENDING
from moot.labels.sheets import FAULTS
from moot.protocols.inbox import NO_ANSWER_YET, UNUSABLE_ANSWER
from moot.report.escaping import csv_text, page_template, visible
from moot.report.notes import REHEARSAL_NOTE
from moot.scores.served import version_notes

STATUSES = ("valid", "invalid", "failed", "waiting")
COLUMNS = ("experiment", "model", "cases", "debates", *STATUSES, "reasons")
MOST_REASONS = 3
_MOST_FILES = 20
WHERE_TO_LOOK = (
    "results/reader/ (what was said, and why it could not be used; the target `readers` builds"
    " it), results/logs/debates/ (attempts, pauses)"
)
_VARIES = re.compile(r"\b(?=\w*\d)[\w-]{8,}\b|\d+")
"""Numbers and identifiers, by which messages of the same kind differ."""


@dataclass(frozen=True)
class RunOutcome:
    """The outcome of some experiments.

    Attributes:
        debates: one row per debate: experiment, model, case_id, repeat, status, reason,
            served_by, calls, cut_off.
        annotation_faults: what is wrong in the files of annotators.
        unreadable: what is wrong with artifacts that cannot be read, and so are not in `debates`.
    """

    debates: pd.DataFrame
    annotation_faults: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()

    @cached_property
    def counts(self) -> pd.DataFrame:
        """The counts, one row per experiment and model, with the columns of `COLUMNS`."""
        rows = []
        for (experiment, model), mine in self.debates.groupby(["experiment", "model"], sort=True):
            by_status = mine["status"].value_counts()
            reasons = [f"{count} x {reason}" for reason, count in frequent_reasons(mine)]
            rows.append(
                [experiment, model, mine["case_id"].nunique(), len(mine)]
                + [int(by_status.get(status, 0)) for status in STATUSES]
                + ["; ".join(reasons)]
            )
        return pd.DataFrame(rows, columns=list(COLUMNS))

    @property
    def missing_answers(self) -> list[str]:
        """The files that people still have to write."""
        return self._reasons(NO_ANSWER_YET)

    @property
    def pending_replies(self) -> list[str]:
        """The replies that debates wait for, other than people's, with the number of debates."""
        counts = Counter(self._reasons(REPLY_PENDING))
        return [f"{source}: {count} debates" for source, count in sorted(counts.items())]

    @property
    def unusable(self) -> list[str]:
        """The faults in people's answers and annotations, one message each."""
        return [*self._reasons(UNUSABLE_ANSWER), *self.annotation_faults]

    def _reasons(self, beginning: str) -> list[str]:
        reasons = self.debates.loc[self.debates["status"] == "waiting", "reason"]
        return [
            reason.removeprefix(beginning) for reason in reasons if reason.startswith(beginning)
        ]

    @property
    def wholly_failed(self) -> list[str]:
        """The experiments, with the model, all of whose debates failed."""
        counts = self.counts[self.counts["failed"] == self.counts["debates"]]
        return [
            f"{experiment} ({model})"
            for experiment, model in zip(counts["experiment"], counts["model"], strict=True)
        ]

    @property
    def incomplete(self) -> pd.DataFrame:
        """The valid debates that lack statements, since their calls failed."""
        is_incomplete = self.debates["reason"].str.startswith(CALL_FAILED)
        return self.debates[is_incomplete & (self.debates["status"] == "valid")]

    @property
    def cut_replies(self) -> list[str]:
        """A sentence on the replies that the limit of tokens cut off; none if it cut none."""
        cut_off, calls = (int(self.debates[column].sum()) for column in ("cut_off", "calls"))
        if not cut_off:
            return []
        return [
            f"{cut_off} of {calls} replies were cut off at the limit of tokens: raise"
            " max_tokens, or ask for fewer words."
        ]

    @property
    def is_finished(self) -> bool:
        """Whether no debate waits or lacks a reply, and `check` finds no fault."""
        return not (
            self.missing_answers
            or self.pending_replies
            or self.unusable
            or (self.debates["status"] == "failed").any()
            or len(self.incomplete)
            or self.unreadable
        )

    def lines(self) -> list[str]:
        """Return the summary for a terminal."""
        total = self.counts[["cases", "debates", *STATUSES]].sum()
        experiments = self.counts["experiment"].nunique()
        lines = [
            f"Debates: {total['debates']} in {experiments} experiment{'s' * (experiments != 1)}: "
            + ", ".join(f"{total[status]} {status}" for status in STATUSES)
            + "."
        ]
        for row in self.counts[self.counts["valid"] < self.counts["debates"]].to_dict("records"):
            counts_text = ", ".join(f"{row[status]} {status}" for status in STATUSES if row[status])
            lines.append(
                f"  {row['experiment']}, {row['model']}: {counts_text} of {row['debates']}"
            )
        finished = self.debates[self.debates["status"] != "waiting"]
        if reasons := frequent_reasons(finished):
            lines.append("Most frequent reasons:")
            lines += [f"  {count} x {reason}" for reason, count in reasons]
            lines.append(f"Where to look: {WHERE_TO_LOOK}")
        if incomplete := len(self.incomplete):
            example = self.incomplete["reason"].iloc[0].removeprefix(CALL_FAILED)
            lines.append(
                f"{incomplete} valid debates lack statements whose calls failed: {example}"
            )
        if (total["failed"] or incomplete) and not self.wholly_failed:
            lines.append(
                f"To ask the calls of the {total['failed'] + incomplete} debates with failed calls"
                " again, run `snakemake retry` with the same options; calls in the ledger are not"
                " repeated."
            )
        lines += [*version_notes(self.debates), *self.cut_replies]
        if self.missing_answers:
            lines.append(
                f"{len(self.missing_answers)} debates wait for a person and are in no table yet. "
                "Each question is next to the file that it asks for. Write these files, and run "
                "the same command again:"
            )
            lines += [f"  {path}" for path in self.missing_answers[:_MOST_FILES]]
        if len(self.missing_answers) > _MOST_FILES:
            lines.append(f"  and {len(self.missing_answers) - _MOST_FILES} more below data/inbox/")
        if self.pending_replies:
            lines.append(
                "Debates wait for batches of a provider and are in no table yet. Run the same "
                "command again later; it continues with each batch that has come back:"
            )
            lines += [f"  {source}" for source in self.pending_replies]
        return [visible(line).replace("\n", " ") for line in lines]

    def check(self) -> None:
        """Require that no experiment failed as a whole, and that all results are readable.

        Raises:
            RunStoppedError: with all faults and their remedies.
        """
        faults = []
        if failed := self.wholly_failed:
            faults.append(
                f"every debate of {', '.join(failed)} failed. Remove the cause, then run "
                "`snakemake retry` with the same options; calls in the ledger are not repeated."
            )
        faults += [*self.unusable, *self.unreadable]
        if faults:
            raise RunStoppedError(visible("\n".join(faults)))


def failure_sentences(outcome: RunOutcome) -> list[str]:
    """Return the failures among the finished debates, one sentence each, for the first page."""
    sentences: list[str] = []
    debates = outcome.debates
    for (experiment, model), mine in debates.groupby(["experiment", "model"], sort=True):
        if (mine["status"] == "failed").all():
            reasons = frequent_reasons(mine)
            reason = f": {reasons[0][0]}" if reasons else ""
            sentences.append(f"All {len(mine)} debates of {experiment} with {model} failed{reason}")
    return [*sentences, *outcome.unusable, *outcome.unreadable]


def frequent_reasons(debates: pd.DataFrame) -> list[tuple[str, int]]:
    """Return the most frequent reasons of debates that are not valid, each with its count.

    Reasons that differ only by numbers and identifiers are counted together; the first one is
    shown.
    """
    reasons = [reason for reason in debates.loc[debates["status"] != "valid", "reason"] if reason]
    counts = Counter(_kind(reason) for reason in reasons)
    examples: dict[str, str] = {}
    for reason in reasons:
        examples.setdefault(_kind(reason), reason)
    return [(examples[kind], count) for kind, count in counts.most_common(MOST_REASONS)]


def _kind(reason: str) -> str:
    if reason.startswith((NO_ANSWER_YET, REPLY_PENDING)):
        return reason.partition(":")[0]
    return _VARIES.sub("0", reason)


def read_outcome(predictions: Sequence[Path], labels: Sequence[Path] = ()) -> RunOutcome:
    """Read the outcome of experiments from their predictions.

    It includes the faults recorded in the files of their labels.

    The end of a run calls this as well. Therefore artifacts that cannot be read are named in the
    result and raise no error.
    """
    columns = ["experiment", "model", "case_id", "repeat", "status", "reason", "served_by"]
    columns += ["calls", "cut_off"]
    frames, faults, unreadable = [pd.DataFrame(columns=columns)], list[str](), list[str]()
    for path in (*predictions, *labels):
        try:
            if path in labels:
                faults += json.loads(read_metadata(path).get(FAULTS, "[]"))
            else:
                frames.append(read_frame(path, columns))
        except UserError as fault:
            unreadable.append(str(fault))
    debates = pd.concat(frames[len(frames) > 1 :], ignore_index=True)
    debates["reason"] = debates["reason"].fillna("")
    # a debate before several judges is valid if one of them decides
    best_first = debates.iloc[(debates["status"] != "valid").argsort(kind="stable")]
    debates = best_first.drop_duplicates(columns[:4]).sort_index(ignore_index=True)
    return RunOutcome(debates, tuple(dict.fromkeys(faults)), tuple(unreadable))


def write_outcome(
    study: str, outcome: RunOutcome, paths: Mapping[str, Path], is_rehearsal: bool = False
) -> None:
    """Write `outcome/{study}.csv` and `.html` to `paths`, keyed by format.

    The files of a rehearsal are marked as such.

    Raises:
        UserError: an artifact cannot be read.
    """
    if outcome.unreadable:
        raise UserError("\n".join(outcome.unreadable))
    counts = outcome.counts.copy()
    if is_rehearsal:
        counts.insert(0, "voices", REHEARSAL_MARK)
    for column in ("experiment", "model", "reasons"):
        counts[column] = counts[column].map(csv_text)
    with atomic_path(paths["csv"]) as part:
        counts.to_csv(part, index=False, lineterminator="\n")
    note = REHEARSAL_NOTE if is_rehearsal else ""
    page = page_template("outcome.html").render(
        study=study,
        note=note,
        outcome=outcome,
        where=WHERE_TO_LOOK,
        rows=outcome.counts.to_dict("records"),
        columns=COLUMNS,
    )
    write_atomically(paths["html"], page)
