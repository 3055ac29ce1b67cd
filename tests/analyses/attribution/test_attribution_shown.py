"""Test where the effects of turns are shown: table, reader and log of Inspect."""

from pathlib import Path

import pytest
from attribution_runs import World, study_results

from moot.analyses.attribution.figures import what_moved_figure
from moot.analyses.attribution.tables import what_moved
from moot.core.artifacts import describe, write_rows
from moot.report.exports import Export, write_inspect_log
from moot.report.turn_effects import effects_of_study
from moot.scores import no_scores
from moot.scores.results import ExperimentResults, ExperimentView


def test_the_table_shows_effects_by_role_phase_and_place(tmp_path: Path) -> None:
    results = World(tmp_path, [0, 1, 0, 1], 0.9, 0.2, answer="likelihood").judge_again()
    frame = what_moved(study_results(results)).frame.set_index("group")
    assert frame.columns[:3].tolist() == ["data", "debate", "judge"]
    removed = frame["effect"]
    assert removed["all"] == pytest.approx(0.7 / 6) and removed["phase: opening"] == pytest.approx(
        0.35
    )
    assert removed[["place: 1", "place: 2", "place: 3"]].tolist() == pytest.approx([0.35, 0.35, 0])
    assert removed["role: prosecutor, verdict plaintiff"] == pytest.approx(0.7 / 6)


def test_the_figure_shows_effects_of_one_case_without_intervals(tmp_path: Path) -> None:
    results = study_results(World(tmp_path, [0], 0.9, 0.2, answer="likelihood").judge_again())
    assert "95 % low" not in what_moved(results).frame
    axes = what_moved_figure(results).axes[0]
    assert [line.get_xdata()[0] for line in axes.lines[:1]] == pytest.approx([0.7])


def test_the_reader_shows_effects_at_the_turns_of_the_debate_itself(tmp_path: Path) -> None:
    world = World(tmp_path, [2, None], 0.9, 0.2, answer="likelihood")
    results = world.judge_again()
    trial = ExperimentResults(
        tmp_path, "trial", ExperimentView("courtroom", "toy", ("scripted",), "test", {})
    )
    effects = effects_of_study({"trial": trial, "test": results})
    assert effects.measured_by == {"test"}
    debate = effects.debates["trial", "scripted", "c0#0"]
    assert [turn for turn, rows in debate.turns.items() if rows[0]["moved"]] == [3]
    alone = effects_of_study({"test": results})
    assert alone.measured_by == set()
    assert not any(debate.turns for debate in alone.debates.values())


def export_debate(folder: Path) -> Export:
    """Export a debate whose third of six turns moved the judge."""
    results = World(folder, [2], 0.9, 0.2, answer="likelihood").judge_again()
    outcome = {
        "experiment": "test",
        "model": "scripted",
        "case_id": "c0",
        "repeat": 0,
        "prediction": "plaintiff",
    }
    rows = {"predictions": [{**outcome, "status": "valid"}], "calls": []}
    for kind, kind_rows in rows.items():
        path = folder / kind / "test" / "scripted.parquet"
        path.parent.mkdir(parents=True)
        write_rows(path, kind, kind_rows, describe("test"))
    return Export(results, "scripted", no_scores())


MOVED = [False, False, True, False, False, False]


def test_a_log_of_inspect_contains_the_effects(tmp_path: Path) -> None:
    library = pytest.importorskip(
        "inspect_ai.log", reason="inspect_ai is not installed (the extra `inspect`)"
    )
    write_inspect_log(export_debate(tmp_path), tmp_path / "test.eval")
    [sample] = library.read_eval_log(
        str(tmp_path / "test.eval"), resolve_attachments="full"
    ).samples
    spans = [event.metadata or {} for event in sample.events if event.event == "span_begin"]
    assert [span["effect_moved"] for span in spans if "effect" in span] == MOVED
    effects = sample.scores["moot"].metadata["effects of turns"].values()
    assert [effect["effect_moved"] for effect in effects] == MOVED
