"""Multiverse: planted replies whose reading, ties and confidences are known give what each
combination must give.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import UserError
from moot.core.experiment_config import MultiverseConfig
from moot.plan.plan import Plan
from moot.report import FIGURES
from moot.report.content import StudyResults
from moot.scores import no_scores
from moot.scores.contrasts import Contrast, Side
from moot.scores.results import ExperimentResults, ExperimentView
from moot.studies.across.figures_multiverse import multiverse_figure
from moot.studies.across.tables_multiverse import multiverse
from recorded_runs import PROJECT
from results_on_disk import case, prediction, utterance, write_results

ALL = MultiverseConfig()
CASES = [case(f"c{number:02}", "yes") for number in range(12)]


def run(
    folder: Path, name: str, replies: list[list[tuple[str, str]]], answers: list[str], kind: str = "verdict",
    prompts: str = "", chosen: MultiverseConfig | None = ALL, confidence: float | None = None,
) -> ExperimentResults:  # fmt: skip
    """Each case's replies, as the label that they state and how they were read, and its answer."""
    rows, said = list[dict[str, Any]](), list[dict[str, Any]]()
    stated = {
        "confidence": confidence,
        "probability": None if confidence is None else 0.5 + confidence / 200,
    }
    for one, given, answer in zip(CASES, replies, answers, strict=True):
        rows.append(prediction(one.case_id, "yes", answer, score=None, **stated))
        for turn, (label, read) in enumerate(given, 1):
            reply = {"kind": kind, "prediction": label, "parse_status": read}
            said.append(utterance(f"{one.case_id}#0", turn, "judge", **reply))
        ended = {
            "kind": "conclusion",
            "prediction": answer,
            "source": "computed",
            "parsed": json.dumps({"status": "valid"}),
        }
        said.append(utterance(f"{one.case_id}#0", len(given) + 1, "moot", **ended))
    view = ExperimentView(
        "zero_shot", "toy", ("m",), "test", {}, prompts=prompts, multiverse=chosen
    )
    return write_results(folder, CASES, {"m": rows}, {"m": said}, experiment=name, config=view)


def study(*found: ExperimentResults, contrasts: tuple[Contrast, ...] = ()) -> StudyResults:
    named = {one.experiment: one for one in found}
    return StudyResults("courtroom", named, no_scores(), {}, None, contrasts=contrasts)  # type: ignore[arg-type]


def test_votes_are_counted_anew_by_what_is_read_and_whose_a_tie_is(tmp_path: Path) -> None:
    """Four cases are right by any rule, four are tied by a reply that was extracted, four rest on
    one that was repaired.
    """
    replies = (
        [[("yes", "strict")] * 2] * 4
        + [[("yes", "extracted"), ("no", "strict")]] * 4
        + [[("no", "repaired")]] * 4
    )
    found = study(run(tmp_path, "vote", replies, ["yes"] * 8 + ["no"] * 4, kind="sample"))
    frame = multiverse(found).frame
    value = frame.set_index(["parsing", "ties", "invalid"])["value"]
    assert len(value) == 3 * 3 * 2
    expected = {"first": (8, 12), "last": (4, 12), "invalid": (4, 8)}
    for ties, (right, answered) in expected.items():
        assert value["extracted", ties, "wrong"] == pytest.approx(right / 12)
        assert value["extracted", ties, "dropped"] == pytest.approx(right / answered)
        assert (
            value["repaired", ties, "wrong"]
            == value["strict", ties, "wrong"]
            == pytest.approx(4 / 12)
        )
        assert value["repaired", ties, "dropped"] == pytest.approx(4 / 12)
        assert value["strict", ties, "dropped"] == pytest.approx(4 / 8)
    own = frame[frame["as moot does"] == "yes"]
    assert own[["parsing", "ties", "invalid"]].to_numpy().tolist() == [
        ["extracted", "first", "wrong"]
    ]
    assert (
        frame["in words"]
        .iloc[0]
        .startswith("18 combinations, from 0.333 to 0.667. The choice that moves it most:")
    )


def test_a_stated_confidence_is_read_by_three_rules(tmp_path: Path) -> None:
    replies, answers = (
        [[("yes", "strict")]] * 6 + [[("no", "extracted")]] * 6,
        ["yes"] * 6 + ["no"] * 6,
    )
    frame = multiverse(study(run(tmp_path, "prompt", replies, answers, confidence=40))).frame
    brier = frame[frame["metric"] == "brier"].set_index(["parsing", "confidence"])["value"]
    both = {
        "above_chance": (0.09, 0.49),
        "probability": (0.36, 0.16),
        "at_least_chance": (0.25, 0.25),
    }
    for rule, (right, wrong) in both.items():
        assert brier["extracted", rule] == pytest.approx((right + wrong) / 2)
        assert brier["strict", rule] == pytest.approx(right)
    assert set(frame.loc[frame["metric"] == "accuracy", "confidence"]) == {"above_chance"}


def test_a_contrast_is_worked_out_in_each_wording_that_both_sides_were_run_in(
    tmp_path: Path,
) -> None:
    """In moot's wording the first is better by a half, in the other worse by a quarter; the curve
    shows both.
    """
    shares = {
        ("debate", ""): 9,
        ("prompt", ""): 3,
        ("debate", "words/b"): 6,
        ("prompt", "words/b"): 9,
    }
    found = []
    for (name, prompts), right in shares.items():
        answers = ["yes"] * right + ["no"] * (12 - right)
        replies = [[(answer, "strict")] for answer in answers]
        chosen = ALL if (name, prompts) == ("debate", "") else None
        entry = run(
            tmp_path, f"{name}-{prompts[-1:]}", replies, answers, prompts=prompts, chosen=chosen
        )
        found.append(entry)
        if name == "prompt":
            entry.config = ExperimentView("cot", "toy", ("m",), "test", {}, prompts=prompts)
    sides = [Side(f"{name}-", ("m",), "accuracy") for name in ("debate", "prompt")]
    results = study(
        *found, contrasts=(Contrast("better", "", *sides, "differ", True, "courtroom"),)
    )
    rows = multiverse(results).frame
    rows = rows[rows["question"] == "better"]
    by_wording = rows.groupby("wording")["value"].unique()
    assert by_wording["moot's"] == pytest.approx([0.5]) and by_wording["words/b"] == pytest.approx(
        [-0.25]
    )
    assert "3 above 0" in rows["in words"].iloc[0] or "6 above 0" in rows["in words"].iloc[0]
    assert rows["in words"].iloc[0].endswith("The choice that moves it most: wording, by 0.750.")
    figure = multiverse_figure(results)
    labels = [text.get_text() for text in figure.axes[len(figure.axes) // 2].get_yticklabels()]
    assert {"wording: own", "wording: b", "parsing: strict", "invalid: dropped"} <= set(labels)
    assert figure.axes[0].get_ylabel() == "difference in accuracy"
    figure.canvas.draw()
    assert all(tick == round(tick) for axes in figure.axes for tick in axes.get_xticks()), (
        "combinations are counted"
    )


def test_it_is_there_where_an_experiment_asks_for_it_and_a_mistake_is_named() -> None:
    def plan(**entry: Any) -> Plan:
        one = {"protocol": "zero_shot", "dataset": "people", "models": "m", **entry}
        config = {"seed": 1, "models": {"m": {"model": "m", "base_url": "http://nowhere.invalid"}}}
        return Plan.from_yaml(
            config
            | {
                "datasets": {"people": {"loader": "nlsy97", "source": "synthetic"}},
                "experiments": {"one": one},
            },
            PROJECT,
        )

    entry = FIGURES["courtroom/multiverse"]
    assert plan(multiverse={}).can_fill(entry) and not plan().can_fill(entry)
    with pytest.raises(UserError, match=r"experiments\.one\.multiverse\.ties"):
        plan(multiverse={"ties": ["coin"]})
