"""Accuracy and agreement of a panel's members before and after they heard each other."""

from pathlib import Path

import pytest

from moot.core.errors import CannotTellError
from moot.scores.case_metrics import CASE_METRICS
from results_on_disk import case, prediction, utterance, write_results

ANSWERS = {
    # true label, the first answers of three members, their last answers
    "c1": ("yes", ("yes", "no", "no"), ("yes", "yes", "yes")),
    "c2": ("no", ("no", "no", "no"), ("yes", "no", "no")),
}


def test_a_panel_is_measured_before_and_after(tmp_path: Path) -> None:
    cases = [case(name, target) for name, (target, *_) in ANSWERS.items()]
    talk, turn = [], 0
    for name, (_, first, last) in ANSWERS.items():
        for member in range(2):  # beliefs of fewer members than vote do not count
            turn += 1
            seat = {"prediction": "no", "kind": "belief", "parse_status": "strict"}
            talk.append(utterance(f"{name}#0", turn, f"judge_{member}", "Words.", **seat))
        for answers in (first, last):
            for member, answer in enumerate(answers):
                turn += 1
                seat = {"prediction": answer, "kind": "vote", "parse_status": "strict"}
                talk.append(utterance(f"{name}#0", turn, f"judge_{member}", "Words.", **seat))
    rows = [prediction(name, target, target) for name, (target, *_) in ANSWERS.items()]
    results = write_results(tmp_path, cases, {"tiny": rows}, {"tiny": talk})
    expected = {
        "panel_accuracy_before": [1 / 3, 1],
        "panel_accuracy_after": [1, 2 / 3],
        "agreement_before": [1 / 3, 1],
        "agreement_after": [1, 1 / 3],
    }
    for metric, shares in expected.items():
        terms = CASE_METRICS[metric](results, "tiny")
        assert terms.case_ids == ["c1", "c2"]
        assert terms.tops[:, 0] == pytest.approx(shares) and (terms.bottoms == 1).all()


def test_a_single_judge_is_no_panel(tmp_path: Path) -> None:
    seat = {"prediction": "yes", "kind": "vote", "parse_status": "strict"}
    talk = [utterance("c1#0", 1, "judge", "Words.", **seat)]
    rows = [prediction("c1", "yes", "yes")]
    results = write_results(tmp_path, [case("c1", "yes")], {"tiny": rows}, {"tiny": talk})
    with pytest.raises(CannotTellError, match="no debate has answers of two members"):
        CASE_METRICS["agreement_after"](results, "tiny")
