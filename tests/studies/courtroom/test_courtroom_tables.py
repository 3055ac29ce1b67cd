"""Tables and figures of the courtroom: correct numbers next to the published ones, stable bytes."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from courtroom_results import rows_of, study_of
from moot.core.errors import UserError
from moot.report import FIGURES, TABLES
from moot.report.figures import draw
from moot.report.notes import data_label
from moot.report.published import read_published
from moot.report.tables import as_csv, as_html, as_latex
from moot.scores.results import ExperimentResults
from moot.stats.score_intervals import wilson_interval
from of_study import of_study
from results_on_disk import (
    case,
    experiment_view,
    make_paper_matches,
    prediction,
    write_results,
)


def test_published_ours_and_difference_are_in_one_row(study):
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


def test_a_run_that_is_not_as_published_has_no_published_value(study, tmp_path):
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
                ("other-people", "caselaw", {}),
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


def test_a_leaderboard_is_compared_with_the_published_one(study):
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


def test_synthetic_data_is_called_so_everywhere(study):
    assert data_label(study.experiments["cot-x"]) == "nlsy97 (synthetic)"
    entry = TABLES["courtroom/table4_prompting"]
    content = entry.build(study)
    assert "Synthetic records, not people." in as_html(entry, content, study)
    assert "Synthetic records, not people." in as_latex(entry, content, study)
    assert "nlsy97 (synthetic)" in as_csv(content)


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
