"""Test shares and changes of labels with a user's rubric on statements with known labels."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from moot.core.rubric import Rubric
from moot.scores.labels import label_scores
from moot.scores.results import ExperimentResults
from results_on_disk import (
    case,
    experiment_view,
    prediction,
    utterance,
    write_labels,
    write_results,
)

RUBRIC = Rubric(
    labels={"A": "a", "B": "b", "C": "c", "O": "none"}, neutral="O", groups={"AB": ("A", "B")}
)
COURSES = {"c1#0": ("A C", "B B"), "c2#0": ("C A", "O C"), "c3#0": ("- A", "C  ")}
"""Utterances of two speakers: a label, `-` for no label, or nothing for no words."""


def write_labelled_results(folder: Path) -> ExperimentResults:
    utterances: list[dict[str, Any]] = []
    labels: dict[tuple[str, int], str] = {}
    for debate, speakers in COURSES.items():
        for speaker, labels_in_order in zip(("pro", "con"), speakers, strict=True):
            for number, label in enumerate((labels_in_order[0], labels_in_order[2])):
                turn = 2 * number + (speaker == "con")
                text = "" if label == " " else f"I say {label}"
                utterances.append(
                    utterance(debate, turn, speaker, text, round=number + 1, kind="plea")
                )
                if label not in "- ":
                    labels[debate, turn] = label
        utterances.append(utterance(debate, 8, "judge", "yes", kind="verdict", prediction="yes"))
        utterances.append(
            utterance(debate, 9, "pro", "I keep this", visibility="pro", kind="strategy")
        )
    cases = [case(f"c{number}", "yes") for number in (1, 2, 3)]
    view = replace(
        experiment_view(), rubric=RUBRIC.model_copy(update={"utterance_kinds": ("plea",)})
    )
    results = write_results(
        folder,
        cases,
        {"tiny": [prediction(labelled_case.case_id, "yes", "yes") for labelled_case in cases]},
        {"tiny": utterances},
        experiment="pleas",
        config=view,
    )
    write_labels(results, "tiny", labels)
    return results


def test_shares_and_changes_equal_the_known_values(tmp_path: Path) -> None:
    scores = label_scores(write_labelled_results(tmp_path)).set_index(["metric", "group"])
    share = scores.loc["label_share"]
    assert share.loc["label=O", "value"] == pytest.approx(2 / 11), (
        "a statement without words has no position"
    )
    assert share.loc["label=A", ["n", "n_invalid"]].tolist() == [
        11,
        1,
    ], "unlabelled statements do not count"
    assert share.loc["label=C;speaker=con", "value"] == pytest.approx(2 / 6)
    assert share.loc["label=A;round=1", "value"] == pytest.approx(1 / 5)
    assert scores.loc[("group_share", "group=AB"), "value"] == pytest.approx(5 / 11)
    changes = scores.loc[("label_changes", "overall")]
    assert (changes["value"], changes["n"], changes["n_invalid"]) == (pytest.approx(2 / 3), 3, 3)
    follows = scores.loc["label_transition"]
    assert (
        follows.loc["from=C;to=AB", "value"] == 0.5 and follows.loc["from=C;to=O", "value"] == 0.5
    )
    assert follows.loc["from=AB;to=AB;speaker=con", "value"] == 1


def test_there_are_no_scores_without_a_rubric(tmp_path: Path) -> None:
    results = write_labelled_results(tmp_path)
    results.config = experiment_view()
    assert label_scores(results).empty
