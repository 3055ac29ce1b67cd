"""What debate adds: each control arm beside the experiment that it is an arm of, case by case, with what both cost."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from moot.core.kinds import ARM
from moot.protocols.arms import ARMS as KNOWN
from moot.report.content import ARMS, Run, StudyResults, TableContent
from moot.stats.bootstrap import DIFFERENCE, as_numbers, mean_statistic
from moot.stats.paired import compare_shares, holm, share_right
from moot.studies import table
from moot.studies.paired import DIFFERENCES, PAIRED_NOTE, STUDIES, paired_cells

COSTS = {
    "calls": "calls",
    "prompt tokens": "prompt_tokens",
    "generated tokens": "completion_tokens",
    "US dollars": "cost_usd",
}
HEADINGS = {(name, who): f"{name} a case, {who}" for name in COSTS for who in ("debate", "arm")}
COLUMNS = (
    "data",
    "debate",
    "model",
    "arm",
    "what is changed",
    "debate right",
    "arm right",
    *DIFFERENCES,
    "cases",
    "clusters",
    "p",
    "p (Holm)",
    "tests",
    "same answer",
    "moved to the side",
    "moved low",
    "moved high",
    *HEADINGS.values(),
)


def what_debate_adds(results: StudyResults) -> TableContent:
    """One row a control arm and model, beside the whole experiment with the same model."""
    rows = []
    for name, whole in results.experiments.items():
        arms = [found for found in results.controls.values() if found.config.of == name]
        for model in whole.config.models:
            family = [Run(arm, model) for arm in arms if model in arm.config.models]
            rows += list(_rows(Run(whole, model), family))
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return TableContent(
        frame.astype(dict.fromkeys(("cases", "clusters", "tests"), "Int64")),
        notes=[
            "Difference is the debate's share of right answers less the arm's, on the cases that both argued. "
            f"{PAIRED_NOTE} Holm's correction is over the arms of one experiment and model.",
            "Same answer: of the cases and repeats with a valid answer in both, the share with the same one. Moved to "
            "the side: where an arm lets one side alone speak, or plants words in one side's mouth, how much more "
            "often that side's answer is given in the arm than in the debate, with its interval.",
            "Costs are means a case and repeat, of all calls that a debate rests on: a call that both share is paid "
            "for once and counts in both.",
        ],
        ours=("debate right", "arm right"),
        difference=DIFFERENCES,
        exploratory=True,
        intervals={
            "95 % interval": ("difference low", "difference high"),
            "moved, 95 % interval": ("moved low", "moved high"),
        },
        keys=("data", "debate", "model"),
        formats={
            "difference": "+.3f",
            "moved to the side": "+.3f",
            **{heading: ",.4f" if name == "US dollars" else ",.1f" for (name, _), heading in HEADINGS.items()},
        },
    )


for _study in STUDIES:
    table(
        _study,
        "what_debate_adds",
        "What does debate add?",
        "Each control arm beside the whole debate, paired on cases: the difference, its interval, and what both cost.",
        (ARMS,),
    )(what_debate_adds)


def _rows(debate: Run, arms: list[Run]) -> Iterator[dict[str, Any]]:
    right = share_right(debate.predictions)
    compared = []
    for arm in arms:
        comparison = compare_shares(right, share_right(arm.predictions), debate.results.clusters, debate.results.seed)
        if comparison.n:
            compared.append((arm, comparison))
    adjusted = holm([comparison.p for _, comparison in compared])
    for (arm, comparison), p in zip(compared, adjusted, strict=True):
        theirs = share_right(arm.predictions)
        common = right.index.intersection(theirs.index)
        cells = paired_cells(comparison)
        yield {
            "data": debate.data,
            "debate": debate.experiment,
            "model": debate.model,
            "arm": arm.results.config.arm.replace("_", " "),
            "what is changed": KNOWN[arm.results.config.arm].what,
            "debate right": float(right[common].mean()),
            "arm right": float(theirs[common].mean()),
            **{name: value for name, value in cells.items() if name in COLUMNS},
            "p (Holm)": p,
            "tests": len(compared),
            **_answers(debate, arm),
            **_costs(debate.predictions, "debate"),
            **_costs(arm.predictions, "arm"),
        }


def _costs(predictions: pd.DataFrame, who: str) -> Mapping[str, float]:
    return {HEADINGS[name, who]: float(predictions[column].mean()) for name, column in COSTS.items()}


def _answers(debate: Run, arm: Run) -> Mapping[str, float]:
    """How often both give the same answer, and how far the arm moves answers to the side that it speaks for."""
    columns = ["case_id", "repeat", "prediction", "status"]
    both = debate.predictions[columns].merge(arm.predictions[columns], on=["case_id", "repeat"], suffixes=("", "_arm"))
    both = both[(both["status"] == "valid") & (both["status_arm"] == "valid")]
    same = float((both["prediction"] == both["prediction_arm"]).mean()) if len(both) else float("nan")
    sides = _sides(arm)
    favoured = pd.Series(
        [sides.get((case, repeat), "") for case, repeat in zip(both["case_id"], both["repeat"], strict=True)],
        index=both.index,
        dtype=object,
    )
    both, favoured = both[favoured != ""], favoured[favoured != ""]
    if both.empty:
        return {"same answer": same}
    moved = as_numbers(both["prediction_arm"] == favoured) - as_numbers(both["prediction"] == favoured)
    value, low, high = debate.results.sample(both["case_id"]).bootstrap.estimate(mean_statistic(moved, DIFFERENCE))
    return {"same answer": same, "moved to the side": value, "moved low": low, "moved high": high}


def _sides(arm: Run) -> Mapping[tuple[str, int], str]:
    """The side that an arm speaks for, by case and repeat, as its transcripts say."""
    said = arm.results.transcripts
    notes = said[(said["model"] == arm.model) & (said["kind"] == ARM)]
    found = {
        (case, repeat): json.loads(parsed).get("side", "")
        for case, repeat, parsed in zip(notes["case_id"], notes["repeat"], notes["parsed"], strict=True)
    }
    return {key: side for key, side in found.items() if side}
