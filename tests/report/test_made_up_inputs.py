"""Synthetic, sampled and simulated inputs are named wherever their numbers are shown."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from in_process import default_configuration
from moot.plan.plan import Plan
from moot.report.columns import Columns
from moot.report.content import Figure, Table
from moot.report.figures import draw, new_figure
from moot.report.notes import cluster_notes
from moot.report.study_results import StudyResults
from moot.report.tables import as_html, as_latex
from moot.scores.results import MadeUpInputs
from project_copy import PROJECT
from results_on_disk import REARREST, case, experiment_view, prediction, study_of, write_results

SERVER = {"model": "test", "base_url": "http://localhost:9"}
SIMULATED = {"endpoint": "simulated", "model": "voice"}


def make_plan(dataset: str, source: str, model: dict[str, Any]) -> Plan:
    config = {
        "run": ["mine"],
        "models": {"spoken": model},
        "datasets": {dataset: {"source": source}},
        "experiments": {
            "mine": {"protocol": "courtroom", "dataset": dataset, "models": ["spoken"], "cases": 1}
        },
    }
    return Plan.from_yaml(default_configuration(config), PROJECT)


@pytest.mark.parametrize(
    ("dataset", "source", "model", "words"),
    [
        ("nlsy97", "synthetic", SERVER, ["nlsy97: SYNTHETIC DATA: "]),
        ("opinions", "sample", SERVER, ["opinions: SAMPLE: "]),
        (
            "nlsy97",
            "synthetic",
            SIMULATED,
            ["nlsy97: SYNTHETIC DATA: ", "spoken: SIMULATED MODEL: "],
        ),
        ("nlsy97", "download", SERVER, []),
    ],
)
def test_a_run_names_its_made_up_inputs(
    dataset: str, source: str, model: dict[str, Any], words: list[str]
) -> None:
    plan = make_plan(dataset, source, model)
    notes = plan.made_up_notes()
    assert len(notes) == len(words)
    for note, word in zip(notes, words, strict=True):
        name, _, kind = word.partition(": ")
        assert note.startswith(kind) and note.endswith(f" In: {name}.")
    assert plan.made_up_notes("stance") == []
    view = plan.view("mine")
    assert [note for note in view.made_up.notes if note.startswith(tuple(words))] == [
        *view.made_up.notes
    ]
    assert len(view.made_up.data) == bool(words)


def test_data_sets_of_a_kind_share_a_sentence() -> None:
    config = {
        "run": ["first", "second"],
        "experiments": {
            name: {"protocol": protocol, "dataset": dataset, "models": ["smollm2-135m"], "cases": 1}
            for name, protocol, dataset in (
                ("first", "stance", "vast"),
                ("second", "stance", "claim_stance"),
            )
        },
    }
    (note,) = Plan.from_yaml(default_configuration(config), PROJECT).made_up_notes()
    assert note.startswith("SAMPLE: ") and note.endswith(" In: vast, claim_stance.")


def make_results(folder: Path, **made_up: str) -> StudyResults:
    experiments = []
    for name, note in made_up.items():
        rows = {"tiny": [prediction("one", "yes", "yes")]}
        view = replace(experiment_view(), made_up=MadeUpInputs((note,) if note else ()))
        experiments.append(
            write_results(folder / name, [case("one", "yes")], rows, experiment=name, config=view)
        )
    return study_of(*experiments)


def test_a_table_has_a_banner_about_the_experiments_that_it_names(tmp_path: Path) -> None:
    results = make_results(tmp_path, first="toy: SYNTHETIC DATA: <made-up>.", second="")
    assert cluster_notes(results.experiments["first"]) == [], "its cases are not drawn in clusters"
    clusters = {"ward": "ward, drawn as a whole", ("a", "b"): "a and b at once"}
    for cluster, words in clusters.items():
        task = replace(REARREST, cluster=cluster)
        assert cluster_notes(write_results(tmp_path / "drawn", [], task=task)) == [
            f"intervals and tests by {words}"
        ]
    for name, has_banner in (("first, tiny", True), ("second, tiny", False)):
        content = Columns().plain("run").table([{"run": name}], [])
        entry = Table("courtroom", "t", "Title", "Caption", lambda _, content=content: content)
        page = as_html(entry, content, results)
        assert (
            '<p class="warning">toy: SYNTHETIC DATA: &lt;made-up&gt;.</p>' in page
        ) is has_banner
        assert ("SYNTHETIC DATA" in as_latex(entry, content, results)) is has_banner


@pytest.mark.parametrize(
    ("notes", "mark"),
    [
        ({"a": "toy: SAMPLE: few.", "b": "toy: SAMPLE: few."}, "SAMPLE"),
        ({"a": "x: SIMULATED MODEL: none.", "b": ""}, "PARTLY SIMULATED MODEL"),
        ({"a": "", "b": ""}, ""),
    ],
)
def test_a_figure_carries_the_mark(notes: dict[str, str], mark: str, tmp_path: Path) -> None:
    results = make_results(tmp_path, **notes)
    drawing, _ = new_figure()
    entry = Figure("courtroom", "f", "Title", "Caption", lambda _: drawing)
    path = tmp_path / "f.svg"
    draw(entry, results, {"svg": path})
    assert [text.get_text() for text in drawing.texts] == [mark] * bool(mark)
    title = f"Title ({mark})" if mark else "Title"
    assert f"<dc:title>{title}</dc:title>" in path.read_text(encoding="utf-8")
