"""Test tables of people: impossible numbers, duplicates, and sex that is visible from build."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError
from sklearn.metrics import roc_auc_score

from moot.core.errors import UserError
from moot.datasets import LOADERS, LoadContext, Loaded
from moot.datasets.people import feature_ranking
from moot.datasets.people.feature_ranking import rank_features
from moot.datasets.people.narrative import prose
from moot.jobs.load import check_cases
from moot.studies.courtroom.data_nlsy97 import FILE as NLSY97_FILE
from moot.studies.courtroom.data_nlsy97 import Nlsy97Options
from moot.studies.courtroom.data_nlsy97 import load as load_nlsy97
from moot.studies.courtroom.nlsy97_narrative import PHRASES
from moot.studies.courtroom.nlsy97_synthetic import generate_nlsy97
from moot.studies.courtroom.nlsy97_variables import FEATURES
from moot.training.baselines import BASELINES
from moot.training.examples import plain_features

MakeContext = Callable[..., LoadContext]
TWINS = "rows whose features equal an earlier row's (same split)"
IN_TRAINING = "test texts that stand in training too"


def load(name: str, context: LoadContext, **options: Any) -> Loaded:
    loader = LOADERS[name]
    loaded = loader.load(loader.options.model_validate({"source": "local", **options}), context)
    check_cases(name, loaded)
    return loaded


def write_table(folder: Path, change: Callable[[pd.DataFrame], object]) -> None:
    table = generate_nlsy97(1, 60)
    change(table)
    path = folder / NLSY97_FILE
    path.parent.mkdir(exist_ok=True)
    table.to_csv(path, index=False)


@pytest.mark.parametrize("narrative", ["list", "prose"])
@pytest.mark.parametrize(
    ("column", "value", "allowed_range"),
    [
        ("age", -20, "16 to 24 years"),
        ("numberofarrestsby2002", -3, "0 to 200 arrests"),
        ("numberofarrestsby2002", 9999, "0 to 200 arrests"),
        ("num_weight", 9999, "80 to 700 pounds"),
    ],
)
def test_an_impossible_number_is_made_missing_and_counted(
    column: str,
    value: int,
    allowed_range: str,
    narrative: str,
    tmp_path: Path,
    load_context: MakeContext,
) -> None:
    write_table(
        tmp_path, lambda table: table.__setitem__(column, [*table[column][:-1], str(value)])
    )
    loaded = load("nlsy97", load_context("nlsy97"), narrative=narrative)
    [case] = [case for case in loaded.cases if case.source_row == 60]
    assert loaded.cleaning[f"{column} outside {allowed_range}, made missing"] >= 1
    assert str(value) not in case.text.replace(",", "")
    assert loaded.features is not None and bool(loaded.features[column].isna().any())
    assert "not known" in case.text and "<NA>" not in case.text


def test_a_person_under_two_ids_is_detected(tmp_path: Path, load_context: MakeContext) -> None:
    """Equal answers under another id are counted and stay in the same split."""

    def repeat(table: pd.DataFrame) -> None:
        for name in table.columns.drop(["id", "y_arrestedafter2002"]):
            table[name] = [*table[name][:40], *table[name][:20]]

    write_table(tmp_path, repeat)
    for seed in range(3):
        loaded = load("nlsy97", load_context("nlsy97", seed=seed))
        assert loaded.cleaning[TWINS] == 20 and loaded.cleaning[IN_TRAINING] == 0
        splits = {case.source_row: case.split for case in loaded.cases}
        for row in range(1, 21):
            assert splits[row] == splits[row + 40]


def test_sex_can_be_predicted_from_build_in_a_blind_narrative(
    shared_data: Path, load_context: MakeContext
) -> None:
    """Check the figures of docs/people.md on logistic regression in the test split.

    It predicts sex from the features in the narrative.
    """
    context = load_context("nlsy97", data_root=shared_data, seed=20261121)
    areas = []
    for withheld in (["sex", "race", "age"], ["sex", "race", "age", "build"]):
        loaded = load("nlsy97", context, withhold=withheld)
        assert loaded.features is not None
        assert any(" tall" in case.text or "pounds" in case.text for case in loaded.cases) is (
            "build" not in withheld
        )
        male = np.array([case.attributes["sex"] == "male" for case in loaded.cases])
        splits = np.array([case.split for case in loaded.cases])
        train, test = splits == "train", splits == "test"
        inputs = plain_features(loaded.features.drop(columns=["case_id", "split", "label"]))
        fitted = BASELINES["lr"].build(1, 1).fit(inputs[train], male[train])
        areas.append(roc_auc_score(male[test], fitted.predict_proba(inputs[test])[:, 1]))
    assert areas == pytest.approx([0.911, 0.643], abs=0.005)
    with pytest.raises(ValidationError, match="withhold"):
        load("nlsy97", context, withhold=["height"])


@pytest.mark.parametrize("ranking", ["mutual_information", "permutation", "leave_one_out"])
def test_a_ranking_finds_important_features_from_the_training_split_only(
    ranking: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feature_ranking, "_FOLDS", 2)
    monkeypatch.setattr(feature_ranking, "_REPEATS", 1)
    noise = np.random.default_rng(0)
    label = noise.random(300) < 0.4
    frame = pd.DataFrame(
        {
            "case_id": map(str, range(300)),
            "split": ["train"] * 240 + ["validation"] * 30 + ["test"] * 30,
            "label": np.where(label, "yes", "no"),
            "chance": noise.integers(0, 9, 300),
            "telling": pd.Categorical(
                np.where(label ^ (noise.random(300) < 0.1), "often", "seldom")
            ),
            "measure": pd.array(noise.integers(60, 75, 300), dtype="Int64"),
            "flag": noise.random(300) < 0.5,
        }
    )
    ranked = rank_features(frame, ranking, seed=1)
    assert ranked.index[0] == "telling"
    assert set(ranked.index) == {"telling", "chance", "measure", "flag"}
    outside = frame["split"] != "train"
    disturbed = frame.copy()
    disturbed.loc[outside, "label"] = "yes"
    disturbed.loc[outside, "chance"] = 99
    pd.testing.assert_series_equal(rank_features(disturbed, ranking, seed=1), ranked)


def test_shap_ranks_or_names_the_missing_package(load_context: MakeContext) -> None:
    made_up = load_nlsy97(Nlsy97Options(), load_context())
    assert made_up.features is not None
    try:
        import shap  # noqa: F401
    except ImportError:
        with pytest.raises(UserError, match=r"needs the package shap.*make env EXTRAS=tabular"):
            rank_features(made_up.features, "shap", 1)
    else:
        ranked = rank_features(made_up.features, "shap", 1)
        assert set(ranked.index[:2]) == {"college02", "numberofarrestsby2002"}


def test_only_the_top_n_features_are_in_the_narrative(load_context: MakeContext) -> None:
    loaded = load_nlsy97(Nlsy97Options(features=3, narrative="list", rows=300), load_context())
    assert {case.text.count(" is ") for case in loaded.cases} == {3}
    assert loaded.features is not None
    features = rank_features(loaded.features, "mutual_information", 42).index[:3]
    assert all(PHRASES[name] in loaded.cases[0].text for name in features)
    assert set(FEATURES) <= set(loaded.features.columns)  # baselines keep every feature
    with pytest.raises(UserError, match="found 40, but only 22 features"):
        load_nlsy97(Nlsy97Options(features=40, rows=300), load_context())


@pytest.mark.parametrize("narrative", ["list", "prose"])
def test_the_most_important_features_form_a_first_paragraph(
    load_context: MakeContext, narrative: str
) -> None:
    options: dict[str, Any] = {"narrative": narrative, "rows": 300}
    ranking = "mutual_information"
    plain = load_nlsy97(Nlsy97Options(**options), load_context())
    summarised = Nlsy97Options(summary_features=2, ranking=ranking, **options)
    loaded = load_nlsy97(summarised, load_context())
    assert loaded.features is not None
    ranked = rank_features(loaded.features, ranking, 42)
    for case, plain_case in zip(loaded.cases, plain.cases, strict=True):
        summary, everything = case.text.split("\n\n")
        assert everything == plain_case.text
        if narrative == "list":
            assert summary.count(" is ") == 2
            assert all(PHRASES[name] in summary for name in ranked.index[:2])
    with pytest.raises(UserError, match="summary_features: found 40, but only 22 features"):
        load_nlsy97(Nlsy97Options(summary_features=40, rows=300), load_context())


@pytest.mark.parametrize(
    ("sex", "expected"),
    [
        (
            "male",
            "The defendant is tall and lives alone. He often asks for his due. His home is his.",
        ),
        (
            "female",
            "The defendant is tall and lives alone. She often asks for her due. Her home is her.",
        ),
        (
            "",
            (
                "The defendant is tall and lives alone. They often ask for their due. Their home is"
                " their."
            ),
        ),
    ],
)
def test_pronouns_and_verbs_agree(sex: str, expected: str) -> None:
    sentences = [
        "{They are} tall and {live} alone.",
        "{They often ask} for {their} due.",
        "{Their} home is {their}.",
    ]
    assert prose(sentences, sex, "the defendant") == expected
    assert prose(["{Their} home is far."], sex, "the defendant") == "The defendant's home is far."
