"""Tables, figures and transcripts: right numbers beside the published ones, hostile text harmless,
stable bytes.
"""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from itertools import chain, combinations, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.text import Text

from moot.core.errors import UserError
from moot.report import FIGURES, TABLES, escaping
from moot.report.content import StudyResults, data_label
from moot.report.figures import draw, figure_style, name_points, new_figure
from moot.report.published import read_published
from moot.report.tables import as_csv, as_html, as_latex
from moot.report.transcript_pages import _body, render_markdown
from moot.scores import concat_scores, no_scores, score_experiment
from moot.scores.results import ExperimentResults
from moot.stats.score_intervals import wilson_interval
from of_study import of_study
from results_on_disk import (
    REARREST,
    case,
    experiment_view,
    make_paper_matches,
    prediction,
    utterance,
    write_results,
)

PUBLISHED = Path(__file__).resolve().parents[3] / "data" / "published" / "published_results.csv"
PROTOCOLS = ("zero_shot", "cot", "courtroom")
HOSTILE = "<script>alert(1)</script> \\input{/etc/passwd} =cmd|' /C calc'!A0 $x_1$ 100% & ~^#"


AS_PUBLISHED = make_paper_matches(
    {
        ("zero_shot-x", "dolphin-3"): "paper-zero-shot",
        ("cot-x", "dolphin-3"): "paper-cot",
        ("courtroom-x", "dolphin-3"): "paper-courtroom",
    },
    nlsy97="nlsy97",
)


def study_of(
    experiments: list[ExperimentResults], baselines: dict[str, pd.DataFrame] | None = None
) -> StudyResults:
    published = read_published(PUBLISHED)
    return StudyResults(
        study="courtroom",
        experiments={results.experiment: results for results in experiments},
        scores=(
            concat_scores(score_experiment(results) for results in experiments)
            if experiments
            else no_scores()
        ),
        baselines=baselines or {},
        published=published[published["study"] == "courtroom"],
        paper_matches=AS_PUBLISHED,
    )


def debate_rows(case_id: str, target: str) -> list[dict]:
    """A courtroom in small: openings, a belief, a verdict."""
    identity = f"{case_id}#0"
    verdict = {"prediction": "no", "confidence": 60, "reasons": ["young", HOSTILE]}
    return [
        utterance(
            identity, 1, "prosecutor", "Sound dangerous.", visibility="prosecutor", kind="strategy"
        ),
        utterance(identity, 2, "prosecutor", f"# He did it.\n{HOSTILE}", kind="opening"),
        utterance(identity, 3, "defense", "He was young.", kind="opening"),
        utterance(
            identity,
            4,
            "judge",
            "{}",
            visibility="judge",
            kind="belief",
            prediction="no",
            confidence=60,
            parsed='{"prediction": "no", "confidence": 60, "reasons": ["young", "steady"]}',
            parse_status="strict",
        ),
        utterance(
            identity,
            5,
            "defense",
            "",
            kind="rebuttal",
            parse_status="failed",
            parsed='{"error": "timeout"}',
        ),
        utterance(
            identity,
            6,
            "judge",
            "{}",
            kind="verdict",
            prediction=target,
            confidence=70,
            round=0,
            parsed=json.dumps(verdict),
            parse_status="strict",
        ),
        utterance(
            identity,
            7,
            "moot",
            "",
            kind="conclusion",
            prediction=target,
            confidence=70,
            source="computed",
        ),
    ]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Three methods by two models on ten synthetic cases; the published dolphin-3, and one that the
    paper has not.
    """
    folder = tmp_path_factory.mktemp("results")
    truth = dict(zip("abcdefghij", ["yes"] * 4 + ["no"] * 6, strict=True))
    cases = [case(c, truth[c], sex="male" if c in "abcde" else "female") for c in truth]
    task = replace(REARREST, notes=("Synthetic records, not people.",))
    experiments = []
    for protocol in PROTOCOLS:
        tokens = 9000 if protocol == "courtroom" else 700
        rows = [
            prediction(
                c,
                truth[c],
                "yes" if c in "abcef" else "no",
                confidence=70.0,
                prompt_tokens=tokens - 10,
            )
            for c in truth
        ]
        talk = []
        if protocol == "courtroom":
            for case_id, target in truth.items():
                talk += debate_rows(case_id, target)
        experiments.append(
            write_results(
                folder,
                cases,
                {"dolphin-3": rows, "tiny": rows},
                {"dolphin-3": talk, "tiny": talk},
                task=task,
                experiment=f"{protocol}-x",
                config=experiment_view(
                    protocol, "nlsy97", ("dolphin-3", "tiny"), params={"answer": "generation"}
                ),
            )
        )
    return study_of(experiments)


def rows_of(study, name):
    return TABLES[f"courtroom/{name}"].build(study).frame


def test_published_ours_and_difference_stand_beside_each_other(study):
    frame = rows_of(study, "table4_prompting")
    row = frame[
        (frame["model"] == "dolphin-3")
        & (frame["method"] == "zero-shot")
        & (frame["metric"] == "accuracy")
    ]
    row = row.iloc[0]
    assert (row["published"], row["ours"], row["n"], row["n invalid"]) == (0.77, 0.7, 10, 0)
    assert row["difference"] == pytest.approx(-0.07)
    assert row["published n"] == "150"
    wider = np.hypot(row["ours"] - row["95 % low"], wilson_interval(0.77, 150).high - 0.77)
    assert row["difference low"] == pytest.approx(row["difference"] - wider)
    assert row["replication low"] < row["ours"] < row["replication high"]
    f1 = frame[
        (frame["model"] == "dolphin-3")
        & (frame["method"] == "zero-shot")
        & (frame["metric"] == "F1, binary")
    ]
    assert (f1.iloc[0]["published"], f1.iloc[0]["ours"]) == (0.65, pytest.approx(6 / 9))


def test_every_table_is_built_where_a_study_has_no_published_values(study):
    unpublished = replace(study, published=study.published.iloc[:0])
    frames = {table.name: table.build(unpublished).frame for table in of_study(TABLES, "courtroom")}
    assert (
        frames["table5_courtroom"]["ours"].notna().any()
        and frames["table5_courtroom"]["published"].isna().all()
    )


def test_a_table_without_published_values_has_no_columns_for_them(study):
    frame = rows_of(study, "calibration")
    assert list(frame.columns) == [
        *(
            "method",
            "model",
            "experiment",
            "data",
            "metric",
            "ours",
            "95 % low",
            "95 % high",
            "cases",
            "n",
            "n invalid",
        )
    ]
    assert frame["ours"].notna().all() and set(frame["model"]) == {"dolphin-3", "tiny"}


def test_models_of_one_side_stay_with_the_other_empty(study):
    frame = rows_of(study, "table5_courtroom")
    theirs, ours = frame[frame["model"] == "phi-4"], frame[frame["model"] == "tiny"]
    assert list(theirs["published"]) == [0.73, 0.56] and theirs["ours"].isna().all()
    assert ours["published"].isna().all() and ours["ours"].notna().all()
    assert {"majority-class", "base-rate-coin"} <= set(frame["model"])


def test_what_is_not_as_published_stands_without_a_published_value(study, tmp_path):
    rows = [prediction("a", "yes", "yes"), prediction("b", "no", "yes")]
    cases = [case("a", "yes"), case("b", "no")]
    results = study_of(
        [
            write_results(
                tmp_path, cases, {"dolphin-3": rows}, {"dolphin-3": []}, experiment=name,
                config=experiment_view("courtroom", data, ("dolphin-3",), params=params),
            )
            for name, data, params in [
                ("likelihood", "nlsy97", {"answer": "likelihood"}),
                ("cooperative", "nlsy97", {"roles": "cooperative"}),
                ("compas", "compas", {}),
            ]
        ]
    )  # fmt: skip
    frame = rows_of(results, "table5_courtroom")
    ours = frame[frame["experiment"] != ""]
    assert ours["published"].isna().all()
    published_rows = frame[(frame["model"] == "dolphin-3") & (frame["experiment"] == "")]
    assert list(published_rows["published"]) == [0.75, 0.58]


def test_tables_find_experiments_by_protocol_not_by_name(study):
    renamed = [
        ExperimentResults(r.results, r.experiment, r.config, r.seed)
        for r in study.experiments.values()
        if r.config.protocol == "cot"
    ]
    frame = rows_of(study_of(renamed), "table4_prompting")
    assert set(frame.loc[frame["experiment"] != "", "method"]) == {"chain of thought", "reference"}


def test_table7_corrects_the_printed_columns(study):
    row = rows_of(study, "table7_commercial_confusion").iloc[0]
    assert row["printed accuracy"] == row["corrected: accuracy"] == 0.48
    assert row["corrected: F1 of YES"] == pytest.approx(2 * 19 / (2 * 19 + 10 + 42))


def test_stability_of_published_values_follows_from_the_tables(study):
    frame = rows_of(study, "stability")
    zero_shot = frame[
        (frame["method"] == "zero-shot") & frame["statistic"].str.startswith("standard")
    ].iloc[0]
    assert zero_shot["published"] == pytest.approx(
        np.std([0.65, 0.60, 0.59, 0.62, 0.53, 0.45], ddof=1)
    )
    assert zero_shot["stated in the paper"] == 0.08
    assert zero_shot["models (ours)"] == 1 and np.isnan(zero_shot["difference"]), (
        "not over the paper's models"
    )
    correlations = frame[frame["statistic"].str.startswith("correlation")].set_index("method")[
        "published"
    ]
    assert (
        correlations["courtroom debate"] == pytest.approx(0.26, abs=0.005)
        and correlations.idxmin() == "courtroom debate"
    )


def test_cost_ratio_is_of_means_over_common_cases(study):
    frame = rows_of(study, "cost_ratios")
    row = frame[(frame["prompt"] == "cot-x") & frame["quantity"].str.startswith("tokens")].iloc[0]
    assert (row["ours"], row["published low"], row["published high"]) == (
        pytest.approx(9000 / 700),
        11,
        14,
    )


def test_a_leaderboard_stands_beside_the_published_one(study):
    common = {
        "title": "Random forest",
        "families": "tabular",
        "dataset": "nlsy97",
        "n": 847,
        "folds": 10,
    }
    board = pd.DataFrame(
        [
            {
                "baseline": "rf",
                "evaluation": "cross_validation",
                "status": "ok",
                "accuracy": 0.75,
                **common,
            },
            {
                "baseline": "rf",
                "evaluation": "test",
                "status": "ok",
                "accuracy": 0.7,
                "accuracy_low": 0.6,
                **common,
            },
            {"baseline": "tabpfn", "evaluation": "test", "status": "weights not found", **common},
        ]
    )
    with_board = replace(study, baselines={"nlsy97": board})
    frame = rows_of(with_board, "table2_tabular_leaderboard")
    row = frame[(frame["model"] == "rf") & (frame["metric"] == "accuracy")].iloc[0]
    assert (row["published"], row["ours (cross-validated)"], row["ours (test)"]) == (
        0.7606,
        0.75,
        0.7,
    )
    assert row["in words"] == "Random forest"
    assert row["difference"] == pytest.approx(-0.0106)
    missing = frame[(frame["model"] == "et") & (frame["metric"] == "AUC")].iloc[0]
    assert missing["published"] == 0.6559 and np.isnan(missing["difference"])
    synthetic = rows_of(
        replace(with_board, paper_matches=make_paper_matches({})), "table2_tabular_leaderboard"
    )
    assert (
        synthetic["difference"].isna().all()
        and not synthetic[["published", "ours (test)"]].notna().all(axis=1).any()
    )
    notes = TABLES["courtroom/table3_tabpfn"].build(with_board).notes
    assert any("weights not found" in note for note in notes)


def test_every_table_and_figure_is_built_without_any_experiment(tmp_path):
    nothing = study_of([])
    for entry in of_study(TABLES, "courtroom"):
        assert as_csv(entry.build(nothing)) and as_html(entry, entry.build(nothing), nothing)
        assert as_latex(entry, entry.build(nothing), nothing)
    for entry in of_study(FIGURES, "courtroom"):
        draw(entry, nothing, {"png": tmp_path / f"{entry.name}.png"})
        assert (tmp_path / f"{entry.name}.png").stat().st_size > 1000


def test_every_figure_has_the_same_bytes_when_drawn_again(study, tmp_path):
    assert {
        "figure2_f1_seconds",
        "figure3_f1_tokens",
        "figure4_sorted_prompts",
        "figure5_sorted_debates",
    } <= {entry.name for entry in of_study(FIGURES, "courtroom")}
    for entry in of_study(FIGURES, "courtroom"):
        for attempt in ("a", "b"):
            draw(
                entry,
                study,
                {kind: tmp_path / f"{entry.name}-{attempt}.{kind}" for kind in ("png", "svg")},
            )
        for kind in ("png", "svg"):
            first, second = (tmp_path / f"{entry.name}-{attempt}.{kind}" for attempt in ("a", "b"))
            assert first.read_bytes() == second.read_bytes(), first.name


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.floats(1, 2)), min_size=1, max_size=9)
)
@settings(max_examples=15)
def test_names_of_points_cover_neither_each_other_nor_a_point(places):
    """Those that the default run drew over each other lay on one height, close together, at an
    axis' end.
    """
    with figure_style():
        drawing, axes = new_figure()
        axes.set(xlim=(0.9, 2.1), ylim=(-0.03, 1.03))
        points = [(x, y, f"a rather long name {n}") for n, (y, x) in enumerate(places)]
        name_points(axes, points)
        drawing.draw_without_rendering()
        boxes = [text.get_window_extent() for text in axes.texts if text.get_text()]
        assert len(boxes) == len(points)
        assert not any(first.overlaps(second) for first, second in combinations(boxes, 2))
        dots = [axes.transData.transform((x, y)) for x, y, _ in points]
        assert not any(box.contains(*dot) for box, dot in product(boxes, dots))
        assert all(axes.bbox.x0 <= box.x0 and box.x1 <= axes.bbox.x1 for box in boxes)


def test_looking_up_tables_and_figures_loads_no_heavy_library():
    """Every start of Snakemake, and every job of a table, waits for these imports."""
    program = (
        "import sys; from moot.report import FIGURES, TABLES; from moot.scores import"
        " SCORERS;list(FIGURES), list(TABLES), list(SCORERS);print(sorted({'sklearn',"
        " 'scipy.stats', 'matplotlib', 'torch', 'xgboost'} & set(sys.modules)))"
    )
    scripts = str(Path(__file__).resolve().parents[3] / "scripts")
    process = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": scripts},
        capture_output=True,
        text=True,
        check=True,
    )
    assert process.stdout.strip() == "[]"


def test_a_figure_draws_a_model_with_a_hostile_name(tmp_path):
    rows = [
        prediction("a", "yes", "yes", confidence=80.0),
        prediction("b", "no", "no", confidence=60.0),
    ]
    hostile = "$x_1$&<b>"
    results = write_results(
        tmp_path,
        [case("a", "yes"), case("b", "no")],
        {hostile: rows},
        {hostile: []},
        config=experiment_view("zero_shot", "nlsy97", (hostile,)),
        experiment=hostile + "-long" * 12,
    )
    entry = FIGURES["courtroom/figure4_sorted_prompts"]
    draw(entry, study_of([results]), {"svg": tmp_path / "f.svg"})
    assert "<b>" not in (tmp_path / "f.svg").read_text()
    with figure_style():
        drawing = entry.build(study_of([results]))
        drawing.draw_without_rendering()
        all_texts = chain.from_iterable(axes.findobj(Text) for axes in drawing.axes)
        texts = [text for text in all_texts if len(text.get_text()) > 9]
        cut = [text.get_text() for text in texts if text.get_window_extent().x1 > drawing.bbox.x1]
    assert texts and cut == []


def test_synthetic_data_is_called_so_everywhere(study):
    assert data_label(study.experiments["cot-x"]) == "nlsy97 (synthetic)"
    entry = TABLES["courtroom/table4_prompting"]
    content = entry.build(study)
    assert "Synthetic records, not people." in as_html(entry, content, study)
    assert "Synthetic records, not people." in as_latex(entry, content, study)
    assert "nlsy97 (synthetic)" in as_csv(content)


def test_a_debate_reads_as_the_papers_appendix(study):
    text = "".join(render_markdown(study.experiments["courtroom-x"], "tiny"))
    debate = text[text.index("## Debate a") : text.index("## Debate b")]
    assert "> Facts of a." in debate and "Actual outcome: **yes**" in debate
    assert "**Prosecutor, strategy** *(private: prosecutor)*, turn 1 `call-a#0-1`" in debate
    assert "(Belief: **no** with 60 %)" in debate and "> - young" in debate
    assert "(Prediction: **yes** with 70 %, CORRECT)" in debate
    assert "*The call failed; nothing was said: timeout.*" in debate
    assert "Prediction: **yes** with 70 %, **CORRECT** (actual: yes)." in debate


def test_a_debate_cannot_forge_the_page(study):
    text = "".join(render_markdown(study.experiments["courtroom-x"], "tiny"))
    assert "<script" not in text and "\\# He did it." in text
    assert all(
        line.startswith((">", "#", "*", "-", "(", "Data", "What", "Actual", "Prediction"))
        or not line
        for line in text.split("\n")
    )


@given(st.text(max_size=60))
def test_markdown_opens_no_markup(text):
    for line in escaping.markdown(text).split("\n"):
        assert not re.search(r"(?<!\\)[`*_\[\]<>|~!]", line.replace("\\\\", ""))
        assert not re.match(r"^\s*([#>+=-]|\d+[.)])", line)
        assert "://" not in line and "www." not in line.casefold()


def test_published_figures_say_where_they_are_wrong(tmp_path):
    path = tmp_path / "published.csv"
    rows = "courtroom,t,r,accuracy,0.5,150,150,share,,,\ncourtroom,t,r,f1,{},{},,,,,\n"
    header = "study,table,row,metric,value,n,cases,error,repeated_by,model,note"
    for value, n, fault in (
        ("many", "9", "value 'many'"),
        ("", "9", "value ''"),
        ("0.5", "few", "n 'few'"),
    ):
        path.write_text(f"{header}\n{rows.format(value, n)}")
        with pytest.raises(UserError, match=rf"line 3: {fault}, expected a number"):
            read_published(path)
    path.write_text("study,table,row,metric\n")
    with pytest.raises(UserError, match="column 'value' not found"):
        read_published(path)


def test_what_a_person_said_is_shown_beside_its_condition() -> None:
    row = {
        "source": "human",
        "text": "I would affirm.",
        "parsed": '{"condition": "affirm"}',
        "parse_status": "",
    }
    assert _body(row) == ("", "I would affirm.", (("Condition", "affirm"),))
    assert _body({**row, "source": "model"}) == (
        "",
        "I would affirm.",
        (("Condition", "affirm"),),
    ), "as records have it"
    assert _body({**row, "source": "model", "parse_status": "strict"}) == (
        "",
        "",
        (("Condition", "affirm"),),
    )
    form = {
        **row,
        "text": '{"reasoning": "thick file", "prediction": "NO"}',
        "parse_status": "strict",
    }
    assert _body({**form, "parsed": form["text"]}) == ("", "", (("Reasoning", "thick file"),))
    zero = {
        **row,
        "source": "model",
        "parse_status": "strict",
        "parsed": '{"grade": 0, "reached": false, "reason": "", "gaps": []}',
    }
    assert _body(zero) == (
        "",
        "",
        (("Grade", "0"), ("Reached", "false")),
    ), "a grade of 0 is a grade"
