"""The paper's tables, figures and example, from runs of one case and a trained model."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from drawn_diagrams import design, draw
from moot.papers.charts import points_frame
from moot.papers.parts import Example, Fact, OwnRow, Series
from moot.report.study_results import StudyResults
from moot.scores import concat_scores, score_experiment
from paper_items import ITEMS, PUBLISHED, fill
from results_on_disk import case, experiment_view, prediction, study_of, utterance, write_results

SWEEP = "paper-feedback-debaters"
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "mine": ("feedback", {"debaters": 3, "rounds": 2, "assistant": "bert"}),
    "paper-feedback-single-caselaw": ("feedback", {"debaters": 3, "rounds": 2}),
    **{
        f"{SWEEP}-debaters={count}": ("feedback", {"debaters": count, "rounds": 2})
        for count in (3, 1, 2)
    },
    "reflection": ("reflexion", {}),
    "prompt": ("zero_shot", {}),
    "masked": ("zero_shot", {}),
}
"""An experiment to its protocol and parameters."""
BOARD = {"baseline": "cnn-bert", "title": "CNN", "evaluation": "test", "status": "ok", "n": 1}


@pytest.fixture
def study(tmp_path: Path) -> StudyResults:
    runs = []
    for name, (protocol, params) in RUNS.items():
        dataset = "masked" if name == "masked" else "paper-caselaw"
        view = experiment_view(protocol, dataset, params=params)
        view = replace(view, loader="caselaw", entry=name.partition("-debaters=")[0])
        answers = {"tiny": [prediction("a", "yes", "yes")]}
        talk = {"tiny": [utterance("a#0", 1, "judge")]}
        cases = [case("a", "yes")]
        runs.append(write_results(tmp_path, cases, answers, talk, experiment=name, config=view))
    boards = {"paper-caselaw": pd.DataFrame([{**BOARD, "accuracy": 0.8}])}
    scores = concat_scores(map(score_experiment, runs))
    return study_of(*runs, study="feedback", scores=scores, baselines=boards, published=PUBLISHED)


DEBATES = [
    ("Debate-Feedback (single), tiny", "paper-feedback-single-caselaw", 1),
    ("Debate-Feedback (assistant), tiny", "mine", 1),
]
ZERO_SHOT = ("zero-shot, tiny", "prompt", 1)


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("table2", [("CNN(with BERT) (trained)", "cnn-bert", 0.8), ZERO_SHOT, *DEBATES]),
        ("table3", [ZERO_SHOT, ("Reflexion, tiny", "reflection", 1), *DEBATES]),
    ],
)
def test_a_table_has_its_methods_in_order_without_sweeps_and_masked_data(
    item: str, expected: list[tuple[str, str, float]], study: StudyResults
) -> None:
    rows = [row for row in fill(f"feedback/{item}", study) if isinstance(row, OwnRow)]
    values = [(*row.heads, row.source, row.cells["caselaw", "accuracy"].value) for row in rows]
    assert values == expected


def test_figure_2_has_each_number_of_debaters_once(study: StudyResults) -> None:
    """The sweep of a grid is one series; other debates of the paper's design repeat its points."""
    item = ITEMS["feedback/figure2"]
    parts = [part for part in fill(item.name, study) if isinstance(part, Series)]
    assert [(part.name, part.cases) for part in parts] == [
        ("Debate-Feedback (single), tiny", 1),
        ("Debate-Feedback (assistant), tiny", 1),
    ]
    frame = points_frame(item, parts)
    assert frame["source"].tolist() == [SWEEP] * 3 + ["mine"]
    assert frame["Number of debaters"].tolist() == [1, 2, 3, 3]
    assert list(frame.columns[3:7]) == ["Number of debaters", "Accuracy", "low", "high"]
    assert frame["Accuracy"].tolist() == [1] * 4


@pytest.mark.parametrize(
    ("assistant", "summaries", "text"),
    [
        ("", True, "debater's opinion, as TF-IDF vectors (no assistant configured)"),
        ("bert", True, "summary of the debater's opinion, as TF-IDF vectors (bert)"),
        ("bert", False, "debater's opinion, as TF-IDF vectors (bert)"),
    ],
)
def test_the_training_data_of_the_first_assistant_are_stated(
    assistant: str, summaries: bool, text: str
) -> None:
    params = {"assistant": assistant, "statement_summaries": summaries}
    designs = [design("feedback", of_design) for of_design in ({}, params)]
    assert fill("feedback/table1", study_of(study="feedback"), *designs) == [
        Fact("training_x", f"case text + {text}"),
        Fact("training_y", "whether the label that the opinion argues for is the true one"),
    ]


def test_the_steps_of_a_round_are_drawn_with_their_seats() -> None:
    diagram = draw("feedback/figure1", "feedback", {"debaters": 1, "assistant": ""})
    assert diagram.seats == ("judge", "debater 1")


def test_the_example_is_the_first_round_of_a_debate_by_step(tmp_path: Path) -> None:
    of_debater = {"parsed": json.dumps({"debater": "debater 1"})}
    talk = [
        utterance("a#0", 1, "judge", "", kind="first", prediction="yes"),
        utterance("a#0", 2, "debater 1", "It is.", kind="opening"),
        utterance("a#0", 3, "debater 2", "Not so.", kind="opening"),
        utterance("a#0", 4, "debater 1", "Still.", kind="rebuttal"),
        utterance("a#0", 5, "judge", "One: yes.", kind="statement summary", **of_debater),
        utterance("a#0", 6, "assistant", "0.8", kind="reliability", **of_debater),
        utterance("a#0", 7, "judge", "They differ.", kind="summary"),
        utterance("a#0", 8, "judge", "Yes.", kind="verdict"),
        utterance("a#0", 9, "judge", "Later.", kind="verdict", round=2),
    ]
    steps = ["1. Initial step", "2. Debate step", "3. Verification step", "4. Output step"]
    tables = []
    for name, turns in (("whole", talk), ("alone", talk[1:2])):
        view = experiment_view("feedback")
        results = write_results(
            tmp_path / name, [case("a", "yes")], None, {"tiny": turns}, experiment=name, config=view
        )
        [example] = fill("feedback/table4", study_of(results, study="feedback"))
        assert isinstance(example, Example) and example.title == f"{name}, tiny, case a"
        tables.append([(row.step, row.cells) for row in example.rows])
    table, opinion_alone = tables
    assert table == [
        (steps[0], {"judge": "judge, first: yes"}),
        (steps[1], {"debater 1": "opinion: It is.", "debater 2": "opinion: Not so."}),
        (steps[1], {"debater 1": "rebuttal: Still."}),
        (steps[2], {"debater 1": "statement summary: One: yes."}),
        (steps[2], {"debater 1": "reliability: 0.8"}),
        (steps[3], {"judge": "judge, summary: They differ.\n\njudge, verdict: Yes."}),
    ]
    assert (steps[2], {"assistant": "This debate has no assistant."}) in opinion_alone
    assert fill("feedback/table4", study_of(study="feedback")) == []
