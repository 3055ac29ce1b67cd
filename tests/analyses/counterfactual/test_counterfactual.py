"""Test counterfactual people: the effect of an exchanged feature is recovered."""

import pandas as pd
import pytest

from moot.analyses.counterfactual.tables import counterfactual_table
from results_about_people import (
    LIKED,
    predictions_by_sex,
    probability_of_yes,
    results_about_people,
    row,
)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pd.DataFrame]:
    """Return the table, and the predictions about people as recorded."""
    folder = tmp_path_factory.mktemp("people")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        study = results_about_people(folder, {"exchange": "sex"})
        experiments = set(study.experiments)
        assert experiments == {"other", "asked"}, "other tables exclude counterfactual people"
        frame = counterfactual_table(study).frame
        return {"counterfactual": frame, "predictions": predictions_by_sex(study)}


def test_a_planted_effect_of_sex_and_its_absence_are_recovered(
    tables: dict[str, pd.DataFrame],
) -> None:
    frame = tables["counterfactual"]
    assert set(frame["data"]) == {"told (synthetic)"}
    assert (frame["told"] == "female").all() and (frame["rather than"] == "male").all()
    for quantity in ("names the positive label", "belief in the positive label"):
        partial = row(frame, model="partial", people="all", what_changes=quantity)
        assert partial["difference high"] < 0 and partial["p (Holm)"] < 0.01, (
            "women are named less often"
        )
        even = row(frame, model="even", people="all", what_changes=quantity)
        assert even["difference low"] <= 0 <= even["difference high"]
        assert even["changed low"] <= 0 <= even["changed high"], "random changes are not an effect"
        assert partial["changed low"] > 0
        assert (partial["cases"], partial["tests in family"]) == (
            80,
            9,
        ), "two models and a trained one, three groups each"
        for group in ("recorded male", "recorded female"):
            row_of_group = row(frame, model="partial", people=group, what_changes=quantity)
            assert row_of_group["difference"] < 0, (
                "the direction does not depend on the recorded sex"
            )
    yes = tables["predictions"].drop_duplicates("case_id")["target"].eq("yes").mean()

    def positive_rate(liked: float) -> float:
        return yes * probability_of_yes("yes", liked) + (1 - yes) * probability_of_yes("no", liked)

    row_of_group = row(
        frame, model="partial", people="all", what_changes="names the positive label"
    )
    assert (
        row_of_group["difference low"]
        <= positive_rate(0.0) - positive_rate(LIKED)
        <= row_of_group["difference high"]
    )


def test_a_trained_model_predicts_both_versions_of_each_person(
    tables: dict[str, pd.DataFrame],
) -> None:
    frame = tables["counterfactual"]
    trained = frame[frame["method"] == "trained: nb"]
    assert set(trained["what changes"]) == {
        "names the positive label",
        "belief in the positive label",
    }
    belief = row(trained, people="all", what_changes="belief in the positive label")
    assert belief["difference"] < 0, "the synthetic outcome depends on sex"
    assert belief["cases"] == 80
