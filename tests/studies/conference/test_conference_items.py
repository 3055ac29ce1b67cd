"""The diagram and the numbers in the text of the decision conference."""

from itertools import product
from pathlib import Path

import pytest

from conference_runs import hold_conferences
from conference_script import script
from drawn_diagrams import TOPICS, draw
from moot.papers.parts import Clauses, Fact
from moot.scores import concat_scores, score_experiment
from paper_items import PUBLISHED, fill
from results_on_disk import study_of


async def test_the_first_topic_is_shown_with_and_without_a_judge(tmp_path: Path) -> None:
    talks = [script("AGREEMENT")]
    judged = await hold_conferences(tmp_path / "with", talks)
    free = await hold_conferences(tmp_path / "without", talks, "without-judge", agreement=False)
    scores = concat_scores(map(score_experiment, (judged, free)))
    results = study_of(judged, free, study="conference", scores=scores, published=PUBLISHED)
    parts = fill("decision_conference/text", results)
    clauses = [part for part in parts if isinstance(part, Clauses)]
    assert [part.title.partition(":")[0] for part in clauses] == [
        "As Figures A2 and A3",
        "As Figure A1, without a judge",
    ]
    speakers = [speaker for speaker, _ in clauses[0].clauses]
    assert any(speaker.startswith("judge") for speaker in speakers)
    assert not any(name.startswith("judge") for name, _ in clauses[1].clauses)
    assert not [words for _, words in clauses[0].clauses if not words]
    assert [speaker for speaker in speakers if speaker.startswith("moderator, open")] == [
        "moderator, opening"
    ], "the first topic alone"
    facts = [(part.row, part.text) for part in parts if isinstance(part, Fact)]
    assert facts == [
        (
            f"drug_policy_topic1/clusters_covered_{name}_judge",
            f"1, by a lexicon ({source}, scripted)",
        )
        for name, source in (("with", "conference"), ("without", "without-judge"))
    ]


@pytest.mark.parametrize(("agreement", "evaluator"), [*product([True, False], repeat=2)])
def test_who_decides_and_scores_is_drawn_as_configured(agreement: bool, evaluator: bool) -> None:
    params = {"agreement": agreement, "evaluator": evaluator}
    diagram = draw("decision_conference/figure1", "conference", params)
    assert ("judge" in diagram.seats, "evaluator" in diagram.seats) == (agreement, evaluator)


def test_a_stage_of_ones_own_is_shown_as_it_is_written() -> None:
    diagram = draw("decision_conference/figure1", "conference", {"topics": TOPICS})
    stages = ", ".join(topic["stage"] for topic in TOPICS)
    assert f"For each stage: {stages}" in {step.stage for step in diagram.steps}
