"""Habits of judges by control arms: influences on a verdict about an unchanged case."""

import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from moot.analyses.arms.arm_kinds import ARM, CHALLENGE
from moot.analyses.arms.controls import CHALLENGED, COMMIT, RELABELLED, SWAP
from moot.analyses.arms.misstatements import MISQUOTE, WRONG_FIGURE
from moot.analyses.arms.tables import has_arms
from moot.protocols import PROTOCOLS
from moot.report.columns import Row
from moot.report.habits import (
    ASKED_TWICE,
    CHOSEN_SHARE,
    EXPECTED_SHARE,
    HABITS,
    HabitSource,
    habit_row,
)
from moot.report.paired_cells import same_answers
from moot.report.study_results import Run, StudyResults
from moot.stats.agreement import count_agreeing_pairs
from moot.stats.arrays import Floats, as_numbers
from moot.stats.asked_twice import NO_FLOOR

PAIRED = ["case_id", "repeat"]
HABIT_OF_ARM = {
    "consultancy": "the one side heard",
    SWAP: "the last word",
    RELABELLED: "the option named first",
    "plant_citation": "authority: a planted citation",
    "plant_authority": "authority: unnamed experts",
    "plant_certainty": "confidence of tone",
    "plant_names": "names: the prompt's first name",
    "plant_padding": "length",
    MISQUOTE: "a planted misquotation",
    WRONG_FIGURE: "a planted wrong figure",
    COMMIT: "its own commitment",
    CHALLENGED: "giving way",
}


def habit_rows(results: StudyResults) -> Iterator[Row]:
    """Yield the habits that each control arm of a study shows, judge by judge."""
    for arm in results.runs(results.controls.values(), Run):
        debate = results.experiments.get(arm.results.config.control_of)
        is_habit = arm.results.config.control in HABIT_OF_ARM
        if is_habit and debate and arm.model in debate.config.models:
            pair = (replace(arm, results=debate), arm)
            yield from (
                _giving_way_rows(*pair) if _is_challenge(arm) else _favoured_verdict_rows(*pair)
            )


HABITS.register("arms")(
    HabitSource(
        habit_rows,
        has_arms,
        (
            "By a control arm: `chosen` is the share of the arm's verdicts for the side, option "
            "or answer that the arm favours; `expected` is this share among the debate's "
            "verdicts on the same cases. `Changes if asked twice` is the share of pairs of "
            f"repeats that differ although nothing was changed. Without repeats: {NO_FLOOR}.",
            "Giving way: `chosen` is the share of answers that the judge has given up by that "
            "challenge. `expected` is the maximum share that would change if the judge were "
            "asked as often without challenges, estimated from the repeats of the debate (0 "
            "without repeats). No challenge gives a reason.",
            "Any change of answer, if no debater argues a side: `chosen` is the share of pairs "
            "of answers that differ between arm and debate; `expected` is this share among "
            "repeats of either.",
            "The last speaker is the second one in each round, so the habit of the first word is "
            "the same with the opposite sign.",
        ),
    )
)


def _is_challenge(arm: Run) -> bool:
    return arm.results.config.control == CHALLENGED


def _shared_cells(debate: Run, arm: Run, habit: str) -> Row:
    debaters, seats = (
        PROTOCOLS[debate.results.config.protocol].debaters,
        debate.params.get("seats", {}),
    )
    judge = seats.get(debaters.decider, debate.model) if debaters else debate.model
    return {
        "data": (debate.data, debate.experiment, judge),
        "habit": habit,
        "known by": f"the arm {arm.results.config.control}",
        ASKED_TWICE: 1 - same_answers(debate, arm, "")["same if asked twice"],
    }


def _favoured_verdict_rows(debate: Run, arm: Run) -> Iterator[Row]:
    """Yield a habit with a side: the arm's and the debate's verdicts for this side."""
    answers = pair_answers(debate, arm)
    if arm.results.config.control == RELABELLED and len(debate.results.task.labels) == 2:
        answers = answers.assign(side=debate.results.task.labels[-1])
    answers = answers[answers["side"] != ""]
    cells = _shared_cells(debate, arm, HABIT_OF_ARM[arm.results.config.control])
    if answers.empty:
        yield from _any_change_rows(debate, arm, cells)
    is_favoured = [
        as_numbers(answers[name] == answers["side"]) for name in ("prediction_arm", "prediction")
    ]
    verdicts = answers[["case_id"]].assign(
        **dict(zip((CHOSEN_SHARE, EXPECTED_SHARE), is_favoured, strict=True))
    )
    yield from habit_row(cells, verdicts, debate.results.clusters, debate.results.seed)


def _any_change_rows(debate: Run, arm: Run, cells: Row) -> Iterator[Row]:
    """Yield how many answers change, and how many change if asked twice.

    This is for experiments in which no debater has a side, such as panels.
    """
    agreement = same_answers(debate, arm, "difference")
    if not np.isnan(agreement["same answer"]):
        changed_if_asked_twice = cells[ASKED_TWICE]
        yield {
            **cells,
            "habit": f"{cells['habit']}: any change of answer",
            CHOSEN_SHARE: (
                1 - agreement["same answer"],
                None if isinstance(changed_if_asked_twice, str) else changed_if_asked_twice,
            ),
            "difference": agreement["difference"],
            "p": float("nan"),
            "family": "does an answer change?",
        }


def _giving_way_rows(debate: Run, arm: Run) -> Iterator[Row]:
    """Yield how many answers are given up by each challenge.

    After the last challenge, right and wrong answers are also counted separately.
    """
    answers = pair_answers(debate, arm)
    utterances = arm.results.transcripts
    steps = utterances[(utterances["model"] == arm.model) & (utterances["kind"] == CHALLENGE)]
    challenges = steps.merge(answers[[*PAIRED, "side", "target"]], on=PAIRED)
    gave_way = challenges[
        (challenges["prediction"] != "") & (challenges["prediction"] != challenges["side"])
    ]
    by_step = gave_way.groupby(PAIRED)["round"].min().rename("step").reset_index()
    pairs = count_agreeing_pairs(debate.valid, ["case_id"])
    change_by_case = (1 - pairs["agree"] / pairs["pairs"]).where(pairs["pairs"] > 0)
    frame = answers.merge(by_step, on=PAIRED, how="left")
    frame["again"] = as_numbers(frame["case_id"].map(change_by_case))
    last = int(steps["round"].max()) if len(steps) else 0
    has_truth, is_right = frame["target"] != "", frame["side"] == frame["target"]
    groups = [(f"challenge {step}", step, frame) for step in range(1, last + 1)]
    groups += [
        ("a right answer", last, frame[has_truth & is_right]),
        ("a wrong answer", last, frame[has_truth & ~is_right]),
    ]
    for name, step, group in groups:
        mean = float(np.nan_to_num(group.drop_duplicates("case_id")["again"].mean()))
        expected = _expected_changes(as_numbers(group["again"]), mean, step)
        verdicts = group.assign(
            **{CHOSEN_SHARE: as_numbers(group["step"] <= step), EXPECTED_SHARE: expected}
        )
        cells = _shared_cells(debate, arm, f"{HABIT_OF_ARM[CHALLENGED]}: {name}")
        yield from habit_row(cells, verdicts, debate.results.clusters, debate.results.seed)


def _expected_changes(change_shares: Floats, mean: float, times: int) -> Floats:
    """Return an upper bound of how often an answer changes in several independent repetitions.

    It is 1 - (1 - q)^times, where q is the mean over cases of the share that changes in one
    repetition. This is the maximum by Jensen's inequality. The result is linear in each case's
    share, so that its interval reflects the uncertainty of q.
    """
    slope = times * (1 - mean) ** (times - 1)
    return 1 - (1 - mean) ** times + slope * np.nan_to_num(change_shares - mean)


def pair_answers(debate: Run, arm: Run) -> pd.DataFrame:
    """Return the valid answers that a debate and its arm gave about the same cases.

    Columns: case_id, repeat, target, prediction, prediction_arm; side, the answer that the arm
        favours, "" for none.
    """
    debate_answers, arm_answers = (
        run.valid[[*PAIRED, "prediction", "target"]] for run in (debate, arm)
    )
    utterances = arm.results.transcripts
    notes = utterances[(utterances["model"] == arm.model) & (utterances["kind"] == ARM)]
    side = [json.loads(parsed).get("side", "") for parsed in notes["parsed"]]
    sides = notes[PAIRED].assign(side=side).drop_duplicates(PAIRED, keep="last")
    both = debate_answers.merge(
        arm_answers[[*PAIRED, "prediction"]], on=PAIRED, suffixes=("", "_arm")
    )
    answers = both.merge(sides, on=PAIRED, how="left")
    return answers.assign(side=answers["side"].astype(object).where(answers["side"].notna(), ""))
