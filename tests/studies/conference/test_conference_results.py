"""Results of conferences: scores, Table 5 and coverage."""

from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from conference_runs import (
    grading_script,
    hold_conferences,
)
from conference_script import script
from moot.core.cases import Case, Task
from moot.llm.request import Request
from moot.protocols import PROTOCOLS
from moot.scores import score_experiment
from moot.scores.results import ExperimentResults
from moot.studies.conference.data_agreement import AGREEMENT, OPEN
from moot.studies.conference.scores_conference import find_clusters, repeated_share
from results_on_disk import experiment_view, prediction, utterance, write_results

_scored = cache(score_experiment)


def score(results: ExperimentResults, metric: str, group: str = "overall") -> pd.Series:
    frame = _scored(results)
    rows = frame[(frame["metric"] == metric) & (frame["group"] == group) & (frame["average"] == "")]
    assert len(rows) == 1, (metric, group, len(rows))
    return rows.iloc[0]


async def test_coverage_by_lexicon_and_coder(tmp_path: Path) -> None:
    talk = [
        "Patients need treatment and fewer overdoses.",
        "Taxes and health and police.",
        "We shall see.",
    ]
    results = await hold_conferences(
        tmp_path, [script("AGREEMENT", statement=text) for text in talk]
    )
    assert score(results, "clusters_by_lexicon")["value"] == pytest.approx((1 + 3 + 0) / 3)
    assert score(results, "reached_by_lexicon", "cluster=health")["value"] == pytest.approx(2 / 3)
    assert score(results, "reached_by_lexicon", "cluster=cost")["value"] == 0
    assert score(results, "clusters_by_coder")["value"] == 7
    agreement = score(results, "coding_agreement")
    assert agreement["value"] == pytest.approx(4 / 21) and agreement["n"] == 21
    interval = score(results, "clusters_by_lexicon")
    assert 0 <= interval["ci_low"] < interval["value"] < interval["ci_high"] <= 7


async def test_the_rule_that_keeps_a_debate_going_is_counted(tmp_path: Path) -> None:
    decisions = [
        "AGREEMENT is reached.",
        "Well.",
        "Perhaps.",
        "MORE DEBATE is needed.",
        "Who knows.",
    ]
    results = await hold_conferences(tmp_path, [script(decisions)], rounds=2, graded_decisions=0)
    assert score(results, "unusable_decisions")["value"] == pytest.approx(3 / 5)
    assert score(results, "topics_agreed")["value"] == pytest.approx(1 / 3)
    assert score(results, "topics_open_by_rule")["value"] == pytest.approx(2 / 3)


async def test_course_of_the_debate(tmp_path: Path) -> None:
    decisions = [
        *["I think so."] * 2,  # asked again, and repeated
        "AGREEMENT",
        "More debate.",
        "MORE DEBATE",
        "MORE DEBATE",
        "AGREEMENT",
    ]
    model = script(decisions, statement="we must act at once")
    results = await hold_conferences(tmp_path, [model], rounds=3, graded_decisions=0)
    assert score(results, "decisions")["value"] == 6
    assert score(results, "unusable_decisions")["value"] == pytest.approx(1 / 6)
    agreed = score(results, "decided_agreement")
    assert (agreed["value"], agreed["n"], agreed["n_invalid"]) == (pytest.approx(2 / 5), 5, 1)
    assert score(results, "topics_open_by_rule")["value"] == 0
    assert score(results, "format_adherence")["value"] == pytest.approx(4 / 6)
    assert score(results, "topics_agreed")["value"] == pytest.approx(2 / 3)
    assert score(results, "rounds_a_topic")["value"] == 2
    assert score(results, "statements")["value"] == 12
    assert score(results, "repetition")["value"] == pytest.approx(1 - 2 / 24)
    assert score(results, "evaluation")["value"] == 7
    assert score(results, "turns")["value"] == 12 + 6 + 3 + 3 + 1


async def test_grades_and_the_graders_reliability(tmp_path: Path) -> None:
    results = await hold_conferences(tmp_path, [grading_script(8, 2)] * 2, graded_decisions=2)
    assert score(results, "grade")["value"] == 8 and score(results, "grade")["n"] == 8
    assert score(results, "grade", "decision=2")["value"] == 8
    assert score(results, "grade_reversed")["value"] == 2
    assert score(results, "grade_margin")["value"] == 6
    assert score(results, "graded_above_reversed")["value"] == 1
    assert score(results, "regrade_difference")["value"] == 0
    assert score(results, "regrade_correlation")["value"] == pytest.approx(1)


@pytest.mark.parametrize(("grades", "lower"), [((0, 1), 0), ((1, 2), 8), ((1, 1, 1), 8)], ids=str)
async def test_intervals_of_grades_stay_on_their_scales(
    grades: tuple[int, ...], lower: int, tmp_path: Path
) -> None:
    scripts = [grading_script(lower + grade, 10 - lower - grade) for grade in grades]
    results = await hold_conferences(tmp_path, scripts, graded_decisions=2)
    scales = {
        "grade": (0, 10),
        "grade_reversed": (0, 10),
        "grade_margin": (-10, 10),
        "regrade_difference": (0, 10),
        "evaluation": (1, 10),
    }
    for metric, (lowest, highest) in scales.items():
        row = score(results, metric)
        assert lowest <= row["ci_low"] <= row["value"] <= row["ci_high"] <= highest, metric


async def test_an_unusable_grade_counts_where_it_was_given(tmp_path: Path) -> None:
    def no_opposite(request: Request) -> str | dict[str, float] | None:
        reply = grading_script(8, 2)(request)
        return "no grade" if isinstance(reply, str) and '"grade": 2' in reply else reply

    scripts = [grading_script(8, 2), no_opposite]
    results = await hold_conferences(tmp_path, scripts, graded_decisions=2)
    scores = {
        name: score(results, name)
        for name in ("grade", "grade_reversed", "grade_margin", "regrade_difference")
    }
    counts = {name: (row["n"], row["n_invalid"]) for name, row in scores.items()}
    assert counts == {
        "grade": (8, 0),
        "grade_reversed": (4, 4),
        "grade_margin": (2, 2),
        "regrade_difference": (6, 2),
    }


def test_both_errors_of_the_judge(tmp_path: Path) -> None:
    task = Task("the discussion", "Do they agree?", (OPEN, AGREEMENT), AGREEMENT)
    cases = [
        Case(f"c{n}", "agreement", "test", "x", AGREEMENT if n < 4 else OPEN, (OPEN, AGREEMENT))
        for n in range(10)
    ]
    answers = [AGREEMENT, AGREEMENT, OPEN, "", AGREEMENT, OPEN, OPEN, OPEN, OPEN, ""]
    rows, talk = [], []
    for case, answer in zip(cases, answers, strict=True):
        rows.append(prediction(case.case_id, case.target, answer))
        talk.append(utterance(f"{case.case_id}#0", 1, "annotator", kind="answer"))
    config = experiment_view(
        "agreement", "agreement", ("tiny",), params=PROTOCOLS["agreement"].params().model_dump()
    )
    results = write_results(tmp_path, cases, {"tiny": rows}, {"tiny": talk}, task, "pairs", config)
    early, late = score(results, "ends_too_early"), score(results, "goes_on_too_long")
    assert (early["value"], early["n"]) == (pytest.approx(1 / 6), 6)
    assert (late["value"], late["n"]) == (
        pytest.approx(2 / 4),
        4,
    ), "an unusable answer goes on too long"


async def test_criteria_that_could_be_read_count_each_by_itself(tmp_path: Path) -> None:
    def partly(request: Request) -> str | dict[str, float] | None:
        if request.schema and "clarity" in request.schema["properties"]:
            return '{"clarity": 3, "relevance": "11/10"}'
        return script("AGREEMENT")(request)

    results = await hold_conferences(tmp_path, [partly], rounds=1, graded_decisions=0)
    clarity = score(results, "evaluation", "criterion=clarity")
    assert (clarity["value"], clarity["n"], clarity["n_invalid"]) == (3.0, 3, 0)
    for group in ("criterion=relevance", "overall"):
        missing = score(results, "evaluation", group)
        assert pd.isna(missing["value"]) and (missing["n"], missing["n_invalid"]) == (0, 3)


def test_lexicon_matches_words_and_phrases_and_nothing_inside_words() -> None:
    clusters = {"health": ["harm reduction", "health*"], "cost": ["tax"]}
    reached = find_clusters(["Harm  REDUCTION and healthcare", "taxes, syntax"], clusters)
    assert reached == {"health": ["harm reduction", "healthcare"], "cost": []}


def test_repetition() -> None:
    assert repeated_share(["a b c"]) == 0 and repeated_share(["a b c d", "A, b c d!"]) == 0.5
