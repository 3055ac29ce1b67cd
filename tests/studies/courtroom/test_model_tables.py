"""The tables `rankings` and `trained_and_language`, with values worked out by hand."""

from collections.abc import Mapping, Sequence
from math import sqrt
from pathlib import Path

import pandas as pd
import pytest

from moot.report import TABLES
from moot.report.published import COLUMNS, read_published
from moot.report.study_results import StudyResults
from moot.scores import concat_scores, no_scores, score_experiment
from moot.scores.results import ExperimentResults
from results_on_disk import case, experiment_view, make_paper_matches, prediction, write_results

PUBLISHED = Path(__file__).resolve().parents[3] / "data" / "published" / "published_results.csv"
PROMPTS, DEBATES = "table4_prompting", "table5_courtroom"
LEADERBOARD = "table2_tabular_leaderboard"
TARGETS = ("yes", "yes", "no", "no")
ANSWERS = {
    "zero_shot": {
        "ash": "yes yes no no",  # accuracy 1, F1 1
        "beech": "yes yes yes no",  # 3/4, 4/5
        "cedar": "no no no no",  # 1/2, 0
        "elm": "yes no no yes",  # 1/2, 1/2
    },
    "courtroom": {
        "ash": "no no no no",  # accuracy 1/2, F1 0
        "beech": "yes no no no",  # 3/4, 2/3
        "cedar": "yes yes yes yes",  # 1/2, 2/3
        "elm": "yes yes no no",  # 1, 1
    },
}
PAPER_EXPERIMENTS = {"zero_shot": "paper-zero-shot", "courtroom": "paper-courtroom"}
Scores = Mapping[str, tuple[float, float]]


def published_scores(table: str, prefix: str, scores: Scores, experiment: str = "") -> list[dict]:
    """Return made-up published rows with the accuracy and the F1 of each model."""
    rows = []
    for model, (accuracy, f1) in scores.items():
        for metric, value in (("accuracy", accuracy), ("f1", f1)):
            rows.append(
                {
                    "study": "courtroom",
                    "table": table,
                    "row": model,
                    "metric": prefix + metric,
                    "value": value,
                    "n": 100.0,
                    "cases": 100.0,
                    "error": "share",
                    "repeated_by": experiment,
                    "model": model,
                    "note": "",
                }
            )
    return rows


def make_study(
    published: Sequence[Mapping] | pd.DataFrame,
    experiments: Sequence[ExperimentResults] = (),
    baselines: Mapping[str, pd.DataFrame] | None = None,
) -> StudyResults:
    matches = {}
    for results in experiments:
        for model in results.config.models:
            matches[results.experiment, model] = PAPER_EXPERIMENTS[results.config.protocol]
    scores = [score_experiment(results) for results in experiments]
    return StudyResults(
        study="courtroom",
        experiments={results.experiment: results for results in experiments},
        scores=concat_scores(scores) if scores else no_scores(),
        baselines=dict(baselines or {}),
        published=pd.DataFrame(published, columns=list(COLUMNS)),
        paper_matches=make_paper_matches(matches, nlsy97="nlsy97"),
    )


@pytest.fixture(scope="module")
def experiments(tmp_path_factory) -> list[ExperimentResults]:
    """Zero-shot prompts and debates of four models on four cases."""
    folder = tmp_path_factory.mktemp("results")
    cases = [case(name, target) for name, target in zip("abcd", TARGETS, strict=True)]
    experiments = []
    for protocol, answers in ANSWERS.items():
        predictions = {}
        transcripts = {}
        for model, text in answers.items():
            triples = zip("abcd", TARGETS, text.split(), strict=True)
            predictions[model] = [prediction(*triple) for triple in triples]
            transcripts[model] = []
        config = experiment_view(protocol, "nlsy97", tuple(answers))
        experiments.append(
            write_results(
                folder,
                cases,
                predictions,
                transcripts,
                experiment=f"{protocol}-x",
                config=config,
            )
        )
    return experiments


def build_rankings(study: StudyResults) -> pd.DataFrame:
    frame = TABLES["courtroom/rankings"].build(study).frame
    return frame.set_index(["methods", "metric"])


def build_comparison(study: StudyResults) -> pd.DataFrame:
    frame = TABLES["courtroom/trained_and_language"].build(study).frame
    return frame.set_index(["kind", "model"])


ZERO_SHOT_AND_DEBATE = "zero-shot and courtroom debate"


def test_published_rankings_with_ties() -> None:
    prompts = {
        "ash": (0.6, 0.5),  # rank of accuracy 1
        "beech": (0.7, 0.5),  # 2.5
        "cedar": (0.7, 0.5),  # 2.5
        "elm": (0.8, 0.5),  # 4
        "fir": (0.1, 0.9),  # in no debate: does not count
    }
    debates = {
        "ash": (0.5, 0.1),  # rank of accuracy 1
        "beech": (0.8, 0.2),  # 3
        "cedar": (0.6, 0.3),  # 2
        "elm": (0.9, 0.4),  # 4
    }
    published = [
        *published_scores(PROMPTS, "zero_shot_", prompts),
        *published_scores(DEBATES, "", debates),
    ]
    frame = build_rankings(make_study(published))
    accuracy = frame.loc[ZERO_SHOT_AND_DEBATE, "accuracy"]
    # Deviations from the mean rank: (-1.5, 0, 0, 1.5) and (-1.5, 0.5, -0.5, 1.5).
    # The formula without ties would give 0.95.
    assert accuracy["published"] == pytest.approx(4.5 / sqrt(4.5 * 5), abs=1e-9)
    assert accuracy["models (published)"] == 4
    assert pd.isna(accuracy["ours"]) and accuracy["models (ours)"] == 0
    constant = frame.loc[ZERO_SHOT_AND_DEBATE, "F1"]
    assert pd.isna(constant["published"]) and constant["models (published)"] == 4


def test_our_rankings_with_ties(experiments) -> None:
    published = [
        *published_scores(PROMPTS, "zero_shot_", {"ash": (0.6, 0.5)}, "paper-zero-shot"),
        *published_scores(DEBATES, "", {"ash": (0.6, 0.5)}, "paper-courtroom"),
    ]
    frame = build_rankings(make_study(published, experiments)).loc[ZERO_SHOT_AND_DEBATE]
    assert list(frame["models (ours)"]) == [4, 4]
    # Ranks of accuracy: (4, 3, 1.5, 1.5) and (1.5, 3, 1.5, 4).
    assert frame.loc["accuracy", "ours"] == pytest.approx(-1.75 / 4.5)
    # Ranks of F1: (4, 3, 1, 2) and (1, 2.5, 2.5, 4).
    assert frame.loc["F1", "ours"] == pytest.approx(-3 / sqrt(5 * 4.5))
    assert frame["published"].isna().all() and list(frame["models (published)"]) == [1, 1]


def test_a_single_method_has_no_rank_correlation(experiments) -> None:
    scores = {"ash": (0.6, 0.1), "beech": (0.7, 0.2), "cedar": (0.8, 0.3)}
    published = published_scores(DEBATES, "", scores, "paper-courtroom")
    frame = build_rankings(make_study(published, experiments[1:]))
    assert len(frame) == 12  # six pairs of methods, two metrics
    assert frame[["published", "ours"]].isna().all(axis=None)
    assert (frame[["models (published)", "models (ours)"]] == 0).all(axis=None)


def test_the_papers_rank_correlations() -> None:
    published = read_published(PUBLISHED)
    frame = build_rankings(make_study(published[published["study"] == "courtroom"]))
    rows = frame.loc[ZERO_SHOT_AND_DEBATE]
    assert list(rows["published"].round(2)) == [0.90, 0.03]
    assert list(rows["models (published)"]) == [6, 6]


def make_board(accuracy: float, low: float, high: float) -> pd.DataFrame:
    """Return a leaderboard with one model, scored on 4 test cases and by cross-validation."""
    row = {"baseline": "xgboost", "title": "XGBoost", "status": "ok", "n": 4}
    test = {"accuracy": accuracy, "accuracy_low": low, "accuracy_high": high}
    return pd.DataFrame(
        [
            {**row, "evaluation": "cross_validation", "accuracy": 0.99},
            {**row, "evaluation": "test", **test},
        ]
    )


def test_trained_and_language_models_with_their_differences(experiments) -> None:
    published = [
        *published_scores(LEADERBOARD, "", {"xgboost": (0.9, 0.8)}, "baselines/nlsy97"),
        *published_scores(LEADERBOARD, "", {"forest": (0.85, 0.8)}, "baselines/nlsy97"),
        *published_scores(PROMPTS, "zero_shot_", {"beech": (0.6, 0.5)}, "paper-zero-shot"),
        *published_scores(DEBATES, "", {"beech": (0.7, 0.5)}, "paper-courtroom"),
        *published_scores(DEBATES, "", {"fir": (0.65, 0.5)}, "paper-courtroom"),
    ]
    board = make_board(0.8, 0.7, 0.9)
    frame = build_comparison(make_study(published, experiments, {"nlsy97": board}))
    assert frame.index.is_unique and len(frame) == 11  # two trained, four and five language models
    expected = {  # published, ours, ours less published
        ("trained", "xgboost"): (0.9, 0.8, -0.1),
        ("trained", "forest"): (0.85, None, None),
        ("zero-shot", "beech"): (0.6, 0.75, 0.15),
        ("zero-shot", "ash"): (None, 1.0, None),
        ("courtroom debate", "beech"): (0.7, 0.75, 0.05),
        ("courtroom debate", "elm"): (None, 1.0, None),
        ("courtroom debate", "fir"): (0.65, None, None),
    }
    for keys, values in expected.items():
        row = frame.loc[keys, ["published", "ours", "difference"]].astype(float)
        numbers = [float("nan") if value is None else value for value in values]
        assert list(row) == pytest.approx(numbers, nan_ok=True), keys
    xgboost = frame.loc["trained", "xgboost"]
    assert (xgboost["95 % low"], xgboost["95 % high"], xgboost["n"]) == (0.7, 0.9, 4)


def test_trained_models_and_a_single_method_with_constant_scores(experiments) -> None:
    board = make_board(1.0, 1.0, 1.0)
    (debates,) = [results for results in experiments if results.config.protocol == "courtroom"]
    published = published_scores(DEBATES, "", {"elm": (1.0, 1.0)}, "paper-courtroom")
    frame = build_comparison(make_study(published, [debates], {"nlsy97": board}))
    assert set(frame.index.get_level_values("kind")) == {"courtroom debate", "trained"}
    trained = frame.loc["trained", "xgboost"]
    assert (trained["ours"], trained["95 % low"], trained["95 % high"]) == (1.0, 1.0, 1.0)
    assert pd.isna(trained["published"]) and pd.isna(trained["difference"])
    language = frame.loc["courtroom debate", "elm"]
    assert (language["published"], language["ours"], language["difference"]) == (1.0, 1.0, 0.0)
    assert language["95 % low"] < language["95 % high"] == 1.0


def test_the_papers_best_language_model_is_above_its_xgboost() -> None:
    published = read_published(PUBLISHED)
    frame = build_comparison(make_study(published[published["study"] == "courtroom"]))
    trained = frame.loc["trained", "published"]
    language = frame.drop(index="trained", level="kind")["published"]
    assert language.idxmax() == ("zero-shot", "dolphin-3")
    assert trained["xgboost"] - language.max() == pytest.approx(0.7368 - 0.77)
