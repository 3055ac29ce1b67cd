"""What debate adds: each control arm compared with its experiment, case by case, with what both cost."""

import json
from collections.abc import Iterator, Mapping

import pandas as pd

from moot.core.kinds import ARM
from moot.core.types import Fields
from moot.protocols.arms import ARMS as KNOWN
from moot.report import EVERYWHERE, table
from moot.report.columns import DIFFERENCE, SIGNED, Columns, Row
from moot.report.content import ARMS, Run, StudyResults, TableContent
from moot.report.paired import PAIRED_NOTE, paired_cells
from moot.stats.asked_twice import NO_REPEATS, changes, differ
from moot.stats.bootstrap import DIFFERENCE as BOUNDS
from moot.stats.bootstrap import as_numbers, mean_statistic
from moot.stats.paired import compare_shares, share_right
from moot.studies.across.tables_paired import corrected

FAMILY = "what does debate add?"
COSTS = {
    "calls": "calls",
    "prompt tokens": "prompt_tokens",
    "generated tokens": "completion_tokens",
    "US dollars": "cost_usd",
}
HEADINGS = {(name, who): f"{name} a case, {who}" for name in COSTS for who in ("debate", "arm")}
COLUMNS = (
    Columns()
    .keys("data", "debate", "model")
    .plain("arm", "what is changed")
    .ours("debate right", "arm right")
    .estimate("difference", "difference", "95 % interval", DIFFERENCE, SIGNED)
    .counts("cases", "clusters")
    .plain("p", "p (Holm)", "family")
    .counts("tests in family")
    .plain("same answer", "same if asked twice")
    .estimate("changed by the arm", "changed", role="", digits=SIGNED)
    .estimate("moved to the side", "moved", role="", digits=SIGNED)
    .plain(*list(HEADINGS.values())[:-2], digits=",.1f")
    .plain(*list(HEADINGS.values())[-2:], digits=",.4f")
    .short_form("data", "debate", "model", "arm", "difference", "95 % interval", "cases", "p (Holm)")
)


@table(EVERYWHERE, "what_debate_adds", "What does debate add?", rests_on=(ARMS,))
def what_debate_adds(results: StudyResults) -> TableContent:
    """Each control arm against the whole debate, paired on cases: the difference, its interval, and what both cost."""
    rows = corrected(
        row
        for name, whole in results.experiments.items()
        for model in whole.config.models
        for arm in results.controls.values()
        if arm.config.of == name and model in arm.config.models
        for row in _rows(Run(whole, model), Run(arm, model))
    )
    return COLUMNS.table(
        rows,
        [
            "Difference is the debate's share of right answers less the arm's, on the cases that both argued. "
            f"{PAIRED_NOTE} Holm's correction is over all arms of this table, which ask one question (`family`).",
            "Same answer: the mean over cases of the share of pairs of valid answers, one of the debate and one of "
            "another repeat of the arm (of the one there is, without repeats), that are the same. A model that samples "
            "changes its answers by itself: same if asked twice is that share among repeats of the debate and of the "
            "arm, and changed by the arm what it is more than same answer, with its interval by cluster. Without "
            f"repeats it cannot be told what the arm changed: `{NO_REPEATS}`.",
            "Moved to the side: where an arm lets one side alone speak, or plants words in one side's mouth, how much "
            "more often that side's answer is given in the arm than in the debate, with its interval.",
            "Costs are means a case and repeat, of all calls that a debate rests on: a call that both share is paid "
            "for once and counts in both.",
        ],
        exploratory=True,
    )


def _rows(debate: Run, arm: Run) -> Iterator[Row]:
    right, theirs = share_right(debate.predictions), share_right(arm.predictions)
    comparison = compare_shares(right, theirs, debate.results.clusters, debate.results.seed)
    if comparison.cases:
        common = right.index.intersection(theirs.index)
        yield {
            "data": (debate.data, debate.experiment, debate.model),
            "arm": arm.results.config.arm.replace("_", " "),
            "what is changed": KNOWN[arm.results.config.arm].what,
            "debate right": (float(right[common].mean()), float(theirs[common].mean())),
            **paired_cells(comparison),
            "family": FAMILY,
            **_same(debate, arm),
            **_moved(debate, arm),
            **_costs(debate.predictions, "debate"),
            **_costs(arm.predictions, "arm"),
        }


def _costs(predictions: pd.DataFrame, who: str) -> Mapping[str, float]:
    return {HEADINGS[name, who]: float(predictions[column].mean()) for name, column in COSTS.items()}


def _same(debate: Run, arm: Run) -> Fields:
    """How often both give the same answer, and how often either gives the same when asked twice."""
    answers = [run.predictions[run.predictions["status"] == "valid"] for run in (debate, arm)]
    one, other = (rows.set_index(["case_id", "repeat"])["prediction"] for rows in answers)
    found = changes(one, other, differ, debate.results.clusters, debate.results.seed)
    return {
        "same answer": 1 - found.changed,
        "same if asked twice": found.floor if isinstance(found.floor, str) else 1 - found.floor,
        "changed by the arm": (found.more, found.low, found.high),
    }


def _moved(debate: Run, arm: Run) -> Mapping[str, tuple[float, ...]]:
    """How far the arm moves answers to the side that it speaks for."""
    columns = ["case_id", "repeat", "prediction", "status"]
    both = debate.predictions[columns].merge(arm.predictions[columns], on=["case_id", "repeat"], suffixes=("", "_arm"))
    both = both[(both["status"] == "valid") & (both["status_arm"] == "valid")]
    sides = _sides(arm)
    favoured = pd.Series(
        [sides.get((case, repeat), "") for case, repeat in zip(both["case_id"], both["repeat"], strict=True)],
        index=both.index,
        dtype=object,
    )
    both, favoured = both[favoured != ""], favoured[favoured != ""]
    if both.empty:
        return {}
    moved = as_numbers(both["prediction_arm"] == favoured) - as_numbers(both["prediction"] == favoured)
    bootstrap = debate.results.sample(both["case_id"]).bootstrap
    return {"moved to the side": bootstrap.estimate(mean_statistic(moved, BOUNDS))}


def _sides(arm: Run) -> Mapping[tuple[str, int], str]:
    """The side that an arm speaks for, by case and repeat, as its transcripts say."""
    said = arm.results.transcripts
    notes = said[(said["model"] == arm.model) & (said["kind"] == ARM)]
    found = {
        (case, repeat): json.loads(parsed).get("side", "")
        for case, repeat, parsed in zip(notes["case_id"], notes["repeat"], notes["parsed"], strict=True)
    }
    return {key: side for key, side in found.items() if side}
