"""Figures about the judge name own experiments and models, and no text is cut off."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from moot.report import FIGURES
from moot.report.figures import figure_style
from moot.report.study_results import StudyResults
from moot.scores import no_scores
from moot.studies.courtroom.runs import list_runs, run_name
from results_on_disk import case, experiment_view, prediction, utterance, write_results

LONG_NAME = "an-experiment-with-a-very-long-name-of-its-own"
MODELS = ("tiny", "a-model-with-a-long-name")


def make_results(folder: Path, experiments: dict[str, tuple[str, Sequence[str]]]) -> StudyResults:
    """Return two cases of experiments: name to protocol and models; beliefs after two rounds."""
    results = {}
    for name, (protocol, models) in experiments.items():
        predictions: dict[str, list[dict[str, Any]]] = {}
        transcripts: dict[str, list[dict[str, Any]]] = {}
        for model in models:
            predictions[model] = []
            transcripts[model] = []
            for case_id, answer in (("one", "yes"), ("two", "no")):
                stated = {"prediction": answer, "confidence": 80.0, "parsed": "{}"}
                predictions[model].append(
                    prediction(case_id, answer, answer, confidence=80.0, probability=0.9)
                )
                kinds = ("belief", "belief", "verdict")
                for turn, kind in enumerate(kinds, 1):
                    transcripts[model].append(
                        utterance(
                            f"{case_id}#0", turn, "judge", "", kind=kind, round=turn, **stated
                        )
                    )
        results[name] = write_results(
            folder / name,
            [case("one", "yes"), case("two", "no")],
            predictions,
            transcripts,
            experiment=name,
            config=experiment_view(protocol, models=tuple(models)),
        )
    return StudyResults("courtroom", results, no_scores(), {}, pd.DataFrame())


@pytest.mark.parametrize(
    ("experiments", "names"),
    [
        ({"mine": ("courtroom", MODELS[:1])}, ["mine, tiny"]),
        ({"mine": ("courtroom", MODELS)}, [*MODELS]),
        (
            {"mine": ("courtroom", MODELS), "other": ("courtroom", MODELS[:1])},
            ["mine, tiny", f"mine, {MODELS[1]}", "other, tiny"],
        ),
        (
            {"mine": ("courtroom", MODELS[:1]), "other": ("courtroom", MODELS[1:])},
            ["mine, tiny", f"other, {MODELS[1]}"],
        ),
        (
            {"mine": ("courtroom", MODELS), "alone": ("zero_shot", MODELS[:1])},
            [*MODELS, "alone, tiny"],
        ),
    ],
    ids=["one", "models", "mixed", "experiments", "methods"],
)
def test_runs_are_called_by_experiment_and_model(
    experiments: dict[str, tuple[str, Sequence[str]]], names: list[str], tmp_path: Path
) -> None:
    runs = list_runs(make_results(tmp_path, experiments))
    assert sorted(run_name(run, runs) for run in runs) == sorted(names)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["belief_by_turn", "reliability"])
def test_texts_are_inside_the_figure_and_apart(name: str, count: int, tmp_path: Path) -> None:
    protocols = ("courtroom",) * 4 if name == "belief_by_turn" else ("courtroom", "zero_shot")
    experiments = {
        f"{LONG_NAME}-{number}": (protocols[number % len(protocols)], MODELS[:1])
        for number in range(count)
    }
    with figure_style():
        drawing = FIGURES[f"courtroom/{name}"].build(make_results(tmp_path, experiments))
        drawing.draw_without_rendering()
        width, height = drawing.bbox.width, drawing.bbox.height
        texts = [drawing._supylabel, drawing._supxlabel]  # type: ignore[attr-defined]
        texts += [axes.title for axes in drawing.axes]
        for text in texts:
            box = text.get_window_extent()
            assert box.x0 >= -1 and box.x1 <= width + 1, text.get_text()
            assert box.y0 >= -1 and box.y1 <= height + 1, text.get_text()
        y_label, note = (text.get_window_extent() for text in texts[:2])
        assert y_label.y0 >= note.y1 - 1, "the label of the axis runs into the note"
        for axes in drawing.axes:
            if axes.axison and name == "reliability":
                labels = axes.get_xticklabels()
                assert labels and all(label.get_visible() for label in labels)
