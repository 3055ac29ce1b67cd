"""Has the model seen the cases? What it recalls of cases before and after its cut-off, and how
often it is right.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from moot.core.experiment_config import COMPARISON
from moot.core.kinds import UNUSABLE
from moot.protocols.recall import (
    CONTINUATION,
    NAME,
    SEQUENCE,
    decided_after,
    halves,
    is_recovered,
    overlap,
)
from moot.report import table
from moot.report.columns import DIFFERENCE, SIGNED, Columns, Row
from moot.report.content import Run, StudyResults, TableContent
from moot.stats.bootstrap import SHARE, as_numbers
from moot.stats.differences import UNPAIRED_NOTE, Sums, compare_unpaired
from moot.stats.paired import share_right

COLUMNS = (
    Columns()
    .keys("data", "model")
    .plain("stated cut-off", "what")
    .ours("all cases", "by chance", "before", "after")
    .estimate("difference", "difference", "95 % interval", DIFFERENCE, SIGNED)
    .plain("p")
    .counts("cases", "cases before", "cases after", "cases undated")
    .short_form(
        "data", "model", "what", "by chance", "before", "after", "difference", "95 % interval", "p"
    )
)


@table(COMPARISON, "contamination", "Has the model seen the cases?", protocols=("recall",))
def contamination(results: StudyResults) -> TableContent:
    """How far a model continues cases word for word, recovers masked names and answers right, for
    cases decided before and after its stated cut-off.
    """
    return COLUMNS.table(
        [row for run in results.runs(results.where("recall"), Run) for row in _rows(run)],
        [
            (
                f"Continuation: the share of the {SEQUENCE}-word sequences that the model wrote"
                " which stand in the second half of the case, and not in the first, which it was"
                " shown. By chance: the same with the second half of another case. Masked names:"
                " how often the most frequent name, masked everywhere, is given. Accuracy is of"
                " every experiment of this run over these cases with the model, an invalid answer"
                " as wrong."
            ),
            (
                "Difference is before less after the cut-off that the model's entry states."
                f" {UNPAIRED_NOTE} A case whose date is blank, or too coarse to say, is undated."
            ),
            (
                "A continuation or names above those of later cases show that text was learnt. The"
                " reverse shows nothing: a model may know a case's outcome and not its words."
                " Higher accuracy on earlier cases may be learnt outcomes, or easier cases, other"
                " courts, or law that has changed. A stated cut-off is a claim of its maker, and"
                " later training may reach past it."
            ),
        ],
        exploratory=True,
    )


def _rows(run: Run) -> Iterator[Row]:
    params, cases = run.params, run.results.case_by_id
    cutoff = params["cutoffs"].get(run.model, "")
    shares, chance = _continued(run)
    measured = {
        "continuation": (shares, chance),
        "masked names recovered": (_recovered(run), float("nan")),
    }
    for name, found in run.study.experiments.items():
        if (
            found.config.dataset == run.results.config.dataset
            and run.model in found.config.models
            and found.has_truth
        ):
            measured[f"accuracy of {name}"] = (
                share_right(replace(run, results=found).predictions),
                float("nan"),
            )
    for what, (values, by_chance) in measured.items():
        if values.empty:
            continue
        after = {
            case: decided_after(cases[case].attributes.get(params["date"], ""), cutoff)
            for case in values.index
        }
        before, later = (
            [case for case in values.index if after[case] is side] for side in (False, True)
        )
        yield {
            "data": (run.data, run.model_name),
            "stated cut-off": cutoff or "not stated",
            "what": what,
            "all cases": (float(values.mean()), by_chance),
            **_compared(run, values, before, later),
            "cases": (len(values), len(before), len(later), len(values) - len(before) - len(later)),
        }


def _compared(
    run: Run, values: "pd.Series[float]", before: Sequence[str], after: Sequence[str]
) -> Row:
    sides = [as_numbers(values[list(cases)])[:, None] for cases in (before, after)]
    sums = [Sums(side, side * 0 + 1) for side in sides]
    clusters = [[run.results.clusters[case] for case in cases] for cases in (before, after)]
    means = tuple(float(side.mean()) if len(side) else None for side in sides)
    if not all(map(len, sides)):
        return {"before": means}
    found = compare_unpaired(sums[0], sums[1], clusters[0], clusters[1], run.results.seed, SHARE)
    return {"before": means, "difference": (found.difference, found.low, found.high), "p": found.p}


def _said(run: Run, kind: str) -> pd.DataFrame:
    said = run.results.transcripts
    return said[
        (said["model"] == run.model) & (said["kind"] == kind) & ~said["parse_status"].isin(UNUSABLE)
    ]


def _continued(run: Run) -> tuple["pd.Series[float]", float]:
    """The overlap of each case's continuation with its second half, and its mean with that of the
    next case.
    """
    said = _said(run, CONTINUATION)
    most = 2 * run.params["characters"]
    cut = {
        case: halves(run.results.case_by_id[case].text[:most])
        for case in sorted(said["case_id"].unique())
    }
    following: Mapping[str, str] = dict(zip(cut, [*list(cut)[1:], *list(cut)[:1]], strict=True))
    rows = list(said[["case_id", "text"]].itertuples(index=False, name=None))
    own = [overlap(text, cut[case][1], cut[case][0]) for case, text in rows]
    other = [overlap(text, cut[following[case]][1], cut[case][0]) for case, text in rows]
    chance = float(as_numbers(other).mean()) if len(cut) > 1 else float("nan")
    return pd.Series(own, said["case_id"], dtype="float64").groupby(level=0).mean(), chance


def _recovered(run: Run) -> "pd.Series[float]":
    said = _said(run, NAME)
    found = [float(is_recovered(json.loads(parsed))) for parsed in said["parsed"]]
    return pd.Series(found, said["case_id"], dtype="float64").groupby(level=0).mean()
