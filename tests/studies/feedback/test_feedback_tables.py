"""Tables and figures of Debate-Feedback and of the comparison, from results with known scores."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from moot.core.cases import Case
from moot.report import FIGURES, TABLES
from moot.report.content import TableContent
from moot.report.published import read_published
from moot.report.study_results import StudyResults
from moot.scores import concat_scores, score_experiment
from moot.scores.results import ExperimentResults, ExperimentView
from moot.studies.feedback.runs import ASSISTED, SINGLE, list_runs, sweeps
from moot.training.baselines import select
from moot.training.evaluation import evaluate
from moot.training.examples import examples
from results_on_disk import make_paper_matches, prediction, utterance, write_results
from scripted_model import WINNER

PUBLISHED = Path(__file__).parents[3] / "data" / "published" / "published_results.csv"
DEBATE = {
    "weight": 0.5, "smoothing": True, "debaters": 2, "rounds": 1,
        "sides": "opposed", "assistant": "",
    "assistant_features": "tfidf", "threshold": 0.5, "threshold_rule": "mean",
}  # fmt: skip


def outlook_row(case_id: str, turn: int, share: float, latest: float) -> dict[str, Any]:
    shares = {"defendant": 1 - share, "plaintiff": share}
    parsed = {
        "smoothed": shares,
        "latest": {"defendant": 1 - latest, "plaintiff": latest},
        "answer": "plaintiff" if latest > 0.5 else "defendant",
        "threshold_met": True,
        "probability": "token probabilities",
    }
    return utterance(case_id, turn, "judge", kind="smoothed", parsed=json.dumps(parsed))


def write_experiment(
    folder: Path, name: str, count: int = 6, correct: int = 4, failed: int = 0, **params: Any
) -> ExperimentResults:
    """Write debates over `count` cases that plaintiffs win; O_0 is always wrong.

    The first `correct` predictions are correct. The first `failed` cases are debated a second time
    without a valid answer.
    """
    cases = [
        Case(f"c{n}", "caselaw", "test", f"Facts {n}", "plaintiff", WINNER.labels) for n in range(6)
    ]
    cases += [
        Case(f"t{n}", "caselaw", "train", f"Told {n}", WINNER.labels[n % 2], WINNER.labels)
        for n in range(8)
    ]
    answers, rows = [], []
    for n in range(count):
        share = 0.9 if n < correct else 0.3
        answers.append(
            prediction(f"c{n}", "plaintiff", "plaintiff" if n < correct else "defendant", calls=7)
        )
        rows += [
            outlook_row(f"c{n}", 1, 0.2, 0.2),
            outlook_row(f"c{n}", 2, 0.5 * 0.2 + 0.5 * share, share),
        ]
        if params.get("assistant"):
            reliability = json.dumps({"debater": "debater 1", "reliability": 0.9 if n % 2 else 0.4})
            rows.append(
                utterance(
                    f"c{n}",
                    3,
                    "assistant",
                    kind="reliability",
                    parsed=reliability,
                    prediction="plaintiff",
                )
            )
        rows.append(
            utterance(
                f"c{n}",
                4,
                "moot",
                kind="conclusion",
                parsed=json.dumps({"status": "valid", "score": 0.5}),
            )
        )
    answers += [
        prediction(f"c{n}", "plaintiff", "", status="invalid", repeat=1) for n in range(failed)
    ]
    config = ExperimentView("feedback", "caselaw", ("tiny",), "test", {**DEBATE, **params})
    return write_results(folder, cases, {"tiny": answers}, {"tiny": rows}, WINNER, name, config)


def make_study(
    *experiments: ExperimentResults, name: str = "feedback", baselines: bool = False
) -> StudyResults:
    published = read_published(PUBLISHED)
    boards = {}
    if baselines:
        data = examples(list(experiments[0]._cases_and_task[0]), WINNER)
        boards = {
            "caselaw": evaluate(data, select(["majority-class"]), seed=1, folds=2).leaderboard
        }
    scores = concat_scores(score_experiment(item) for item in experiments)
    by_name = {item.experiment: item for item in experiments}
    runs = {
        ("single", "tiny"): "paper-feedback-single-caselaw",
        ("assisted", "tiny"): "paper-feedback-assistant-caselaw",
    }
    published["model"] = published["model"].replace(
        {"gpt-4o": "tiny"}
    )  # Table 2's model, and not Table 3's
    return StudyResults(
        name,
        by_name,
        scores,
        boards,
        published[published["study"] == name],
        make_paper_matches(runs),
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    folder = tmp_path_factory.mktemp("results")
    single = write_experiment(folder, "single", correct=4)
    assisted = write_experiment(folder, "assisted", correct=5, assistant="training")
    swept = [
        write_experiment(folder, f"rounds={n}", count=2, correct=1, rounds=n) for n in (1, 2, 3)
    ]
    return make_study(single, assisted, *swept, baselines=True)


def build_table(results: StudyResults, name: str) -> TableContent:
    return TABLES[name].build(results)


def test_an_experiment_that_equals_a_point_of_a_sweep_stays_in_the_tables(tmp_path: Path) -> None:
    """At the paper's scale one point of the sweep has the same number of rounds."""
    single = write_experiment(tmp_path, "single", rounds=2)
    study = make_study(
        single, *(write_experiment(tmp_path, f"rounds={n}", rounds=n) for n in (1, 2, 3))
    )
    assert [run.results.experiment for run in list_runs(study)] == ["single"]


def test_a_sweep_is_in_no_other_table(results: StudyResults) -> None:
    (sweep,) = sweeps(results, "rounds")
    assert [item.experiment for item in sweep] == ["rounds=1", "rounds=2", "rounds=3"]
    assert sweeps(results, "debaters") == []
    assert [run.method for run in list_runs(results)] == [SINGLE, ASSISTED]


def test_table2_compares_the_run_with_the_published_value(results: StudyResults) -> None:
    frame = build_table(results, "feedback/table2_models").frame
    row = frame[
        (frame["method"] == SINGLE) & (frame["metric"] == "accuracy") & (frame["data"] == "caselaw")
    ].iloc[0]
    assert (row["published"], row["ours"], row["n"]) == (0.66, pytest.approx(4 / 6), 6)
    assert row["difference"] == pytest.approx(4 / 6 - 0.66)
    trained = frame[
        (frame["method"] == "majority-class") & frame["setting"].str.startswith("trained")
    ].iloc[0]
    assert trained["n"] == 6 and pd.isna(trained["published"])
    published_rows = frame[(frame["method"] == "lawformer") & (frame["data"] == "cail18")]
    assert list(published_rows["published"]) == [0.38, 0.12] and published_rows["ours"].isna().all()
    assert not frame.duplicated(["method", "model", "setting", "data", "metric"]).any()


def test_table3_names_the_papers_methods(results: StudyResults) -> None:
    frame = build_table(results, "feedback/table3_reasoning").frame
    values = frame[(frame["data"] == "caselaw") & (frame["metric"] == "accuracy")].set_index(
        "method"
    )["published"]
    assert values["chain of thought, 4 steps"] == 0.637 and values["Reflexion"] == 0.645


def test_table3_compares_only_the_debates_of_its_own_model(results: StudyResults) -> None:
    """Debate-Feedback by Table 2's model stands in Table 3 without a published value beside it."""
    frame = build_table(results, "feedback/table3_reasoning").frame
    debates = frame[frame["method"].isin([SINGLE, ASSISTED]) & (frame["metric"] == "accuracy")]
    ours, theirs = debates[debates["model"] == "tiny"], debates[debates["setting"] == "published"]
    assert len(ours) == 2 and ours["difference"].isna().all()
    assert list(theirs[theirs["data"] == "caselaw"]["published"]) == [0.662, 0.671]


def test_references_are_shown_for_the_same_cases_as_the_methods(results: StudyResults) -> None:
    for name in ("table2_models", "table3_reasoning"):
        frame = build_table(results, f"feedback/{name}").frame
        majority = frame[
            (frame["method"] == "majority-class") & frame["setting"].str.startswith("reference")
        ]
        assert list(majority[majority["metric"] == "accuracy"]["ours"]) == [1.0], (
            "all six cases are won by plaintiffs"
        )


def test_table5_compares_shares(results: StudyResults) -> None:
    frame = build_table(results, "feedback/table5_smoothing").frame
    frame = frame[frame["method"] == SINGLE].set_index(["smoothing", "metric"])
    row = frame.loc[("with smoothing", "corrections, share of cases")]
    assert row["published"] == pytest.approx(93 / 3000) and row["ours"] == pytest.approx(4 / 6)


def test_components_start_from_the_judge_alone(results: StudyResults) -> None:
    frame = build_table(results, "feedback/components").frame.set_index("variant")
    assert list(frame["accuracy"]) == pytest.approx([0, 4 / 6, 4 / 6, 5 / 6, 5 / 6])
    assert frame["p"].iloc[1] == pytest.approx(2 * 0.5**4)  # four cases differ, all one way
    assert (frame["p (Holm)"].iloc[1:] >= frame["p"].iloc[1:]).all()


def test_a_repeat_without_an_answer_and_a_weight_between_tenths_have_their_values(
    tmp_path: Path,
) -> None:
    results = make_study(write_experiment(tmp_path, "single", correct=4, failed=2, weight=0.55))
    frame = build_table(results, "feedback/components").frame.set_index("variant")
    assert frame.loc["debate, no smoothing (T = 1)", "accuracy"] == pytest.approx((2 * 0.5 + 2) / 6)
    frame = build_table(results, "feedback/table5_smoothing").frame
    ours = frame[(frame["smoothing"] == "with smoothing") & (frame["metric"] == "accuracy")][
        "ours"
    ].dropna()
    assert ours.tolist() == [pytest.approx(4 / 6)]


def test_the_assistants_quality_is_that_of_its_opinions(results: StudyResults) -> None:
    quality = build_table(results, "feedback/assistant").frame.set_index("metric")["ours"]
    assert quality["Brier score"] == pytest.approx((0.01 + 0.36) / 2)


def test_the_comparison_has_a_row_for_each_method_and_a_column_for_each_data_set(
    results: StudyResults,
) -> None:
    results = make_study(*results.experiments.values(), name="comparison", baselines=True)
    frame = build_table(results, "comparison/methods_by_data").frame
    cells = frame.set_index("method")["caselaw"]
    assert (
        cells["debate-feedback"].startswith("0.667 [")
        and "n = 6; 7.0 calls, 90 + 10 tokens" in cells["debate-feedback"]
    )
    assert cells["majority class"].startswith("1.000") and "trained: Majority class" in cells
    long_frame = build_table(results, "comparison/methods_long").frame
    assert not long_frame.duplicated(["data", "method", "model"]).any()


def test_the_experiment_with_more_cases_represents_its_method(tmp_path: Path) -> None:
    small_experiment = write_experiment(tmp_path / "few", "few", count=2)
    often = [prediction(f"c{n % 2}", "plaintiff", "plaintiff", repeat=n // 2) for n in range(10)]
    repeated = write_results(
        tmp_path / "few",
        list(small_experiment.case_by_id.values()),
        {"tiny": often},
        None,
        WINNER,
        "few",
        small_experiment.config,
    )
    study = make_study(repeated, write_experiment(tmp_path / "all", "all"), name="comparison")
    row = (
        build_table(study, "comparison/methods_long")
        .frame.set_index("method")
        .loc["debate-feedback"]
    )
    assert (row["experiment"], row["cases"], row["n"]) == ("all", 6, 6)


@pytest.mark.parametrize("name", [name for name in FIGURES if name.startswith("feedback/")])
@pytest.mark.parametrize("empty", [False, True])
def test_every_figure_is_drawn_with_and_without_experiments(
    name: str, empty: bool, results: StudyResults
) -> None:
    drawing = FIGURES[name].build(make_study() if empty else results)
    assert drawing.axes
    if not empty and name == "feedback/figure3_rounds":
        line = drawing.axes[0].lines[0]
        assert list(line.get_ydata()) == [0.5, 0.5, 0.5]


@pytest.mark.parametrize(
    "name", [name for name in TABLES if name.startswith(("feedback/", "comparison/"))]
)
def test_every_table_is_built_without_experiments(name: str) -> None:
    content = TABLES[name].build(make_study(name=name.split("/", maxsplit=1)[0]))
    assert list(content.frame.columns)
