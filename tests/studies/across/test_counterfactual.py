"""Counterfactual people: an exchange changes one feature and its words alone; planted effects of it
are recovered.
"""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from courtroom_runs import PROJECT, configuration
from moot.core.artifacts import read_cases
from moot.core.cases import Case
from moot.core.errors import UserError
from moot.datasets import LOADERS, LoadContext, Loaded
from moot.jobs.baselines import train_baselines
from moot.jobs.debates import Job, write_transcripts
from moot.jobs.job_results import load_study_results, write_scores
from moot.jobs.load import load_dataset
from moot.jobs.predictions import write_predictions
from moot.plan.plan import Plan
from moot.report import TABLES
from moot.scores.group_rates import MIN_CASES

Context = Callable[..., LoadContext]
SWAPPED = {"man": "woman", "he": "she", "his": "her", "him": "her", "himself": "herself"}


def people(loader: str, context: Context, **options: Any) -> Loaded:
    entry = LOADERS[loader]
    given = {"source": "synthetic", "rows": 300} if loader == "nlsy97" else {"source": "sample"}
    return entry.load(entry.options.model_validate({**given, **options}), context(loader))


def cases(loaded: Loaded, split: str = "test") -> dict[str, Case]:
    return {case.case_id: case for case in loaded.cases if case.split == split}


def as_a_man(text: str) -> list[str]:
    """The words of a narrative, those that follow from sex made the same."""
    words = text.replace(".", "").replace(",", "").lower().split()
    neutral = {
        form: name
        for name, forms in {
            "PERSON": ("man", "woman"),
            "SUBJECT": ("he", "she"),
            "OTHER": ("his", "him", "her"),
            "SELF": ("himself", "herself"),
            "ARTICLE": ("a", "an"),
        }.items()
        for form in forms
    }
    return [neutral.get(word, word) for word in words]


@pytest.mark.parametrize("loader", ["nlsy97", "compas"])
@pytest.mark.parametrize("narrative", ["prose", "list"])
def test_exchanging_sex_changes_the_words_of_sex_and_no_other(
    loader: str, narrative: str, load_context: Context
) -> None:
    before = people(loader, load_context, narrative=narrative)
    after = people(loader, load_context, narrative=narrative, exchange="sex")
    originals, exchanged = cases(before), cases(after)
    assert originals.keys() == exchanged.keys()
    for case_id, case in originals.items():
        other = exchanged[case_id]
        assert {case.attributes["sex"], other.attributes["sex"]} == {"male", "female"}
        assert (case.target, case.split, case.source_row) == (
            other.target,
            other.split,
            other.source_row,
        )
        if narrative == "prose":
            sexed = {"male": set(SWAPPED), "female": set(SWAPPED.values())}
            words = set(other.text.lower().replace(".", "").replace(",", "").split())
            assert not words & (sexed[case.attributes["sex"]] - {"his", "her"}), other.text
            assert as_a_man(case.text) == as_a_man(other.text)
        else:
            told = dict(zip(case.text.split("; "), other.text.split("; "), strict=True))
            assert [one for one, two in told.items() if one.strip(".") != two.strip(".")] == [
                f"sex is {case.attributes['sex']}"
            ]
    for split in ("train", "validation"):
        assert cases(before, split) == cases(after, split), "what is learnt and shown stays"
    assert before.features is not None and after.features is not None
    kept = before.features.columns.drop("sex")
    pd.testing.assert_frame_equal(before.features[kept], after.features[kept])
    changed = before.features["sex"].astype(str) != after.features["sex"].astype(str)
    assert (changed == (before.features["split"] == "test")).all()
    assert (
        "counterfactual: in the test cases sex is exchanged between male and female"
        in after.task.notes[-1]
    )
    assert ("height and weight" in after.task.notes[-1]) == (loader == "nlsy97")


def test_exchanging_race_leaves_people_of_other_races_as_they_are(load_context: Context) -> None:
    before, after = people("nlsy97", load_context), people("nlsy97", load_context, exchange="race")
    swapped = {"white": "black", "black": "white"}
    for case_id, case in cases(before).items():
        race = case.attributes["race"]
        assert cases(after)[case_id].attributes["race"] == swapped.get(race, race)
        assert (cases(after)[case_id].text == case.text) == (race not in swapped)
    left = sum(case.attributes["race"] not in swapped for case in cases(before).values())
    assert after.cleaning["test cases of another race, left as they are"] == left > 0
    other = people("nlsy97", load_context, exchange="race", exchange_values=["hispanic", "white"])
    assert other.cleaning["test cases with race exchanged (hispanic, white)"] > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"exchange": "sex", "withhold": ["sex"]},
            "datasets.nlsy97.exchange: models do not read sex",
        ),
        (
            {"exchange": "race", "exchange_values": ["white", "blue"]},
            "found white and blue; expected two different values",
        ),
        (
            {"exchange": "race", "exchange_values": ["white", "white"]},
            "expected two different values of race",
        ),
        ({"exchange_values": ["white", "black"]}, "'exchange_values' needs `exchange`"),
    ],
)
def test_an_exchange_that_changes_nothing_is_refused(
    options: dict[str, Any], message: str, load_context: Context
) -> None:
    with pytest.raises((UserError, ValueError), match=message):
        people("nlsy97", load_context, **options)


# From planted voices to the table, by moot's own stages


class Inputs(list[Path]):
    scores: list[Path]
    baselines: list[Path]
    published: Path
    claims: Path


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pd.DataFrame]:
    """Voices with and without a liking for YES where a text says "man", asked about 120 people
    twice, and a trained model.
    """
    from moot.analyses.group_rates.tables import group_rates_table
    from moot.studies.across.tables_counterfactual import counterfactual

    folder = tmp_path_factory.mktemp("people")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        voice = {"competence": 0.7, "noise_sd": 0.2, "overconfidence": 1}
        raw = configuration("http://nowhere.invalid", folder, rehearsal=True)
        raw["models"] = {
            "even": {**raw["models"]["test"], "model": "even", "simulated": voice},
            "partial": {
                **raw["models"]["test"],
                "model": "partial",
                "simulated": {**voice, "word_bias": {"man": 0.8}},
            },
        }
        base = {"loader": "nlsy97", "source": "synthetic", "rows": 600, "baselines": ["nb"]}
        raw["datasets"] = {
            "told": base,
            "exchanged": {**base, "exchange": "sex"},
            "other": {**base, "narrative": "list", "baselines": []},
        }
        entry = {"protocol": "zero_shot", "models": ["even", "partial"], "cases": 120, "repeats": 2}
        raw["experiments"] = {
            "other": {**entry, "dataset": "other", "cases": 10},
            "asked": {**entry, "dataset": "told"},
            "asked-exchanged": {**entry, "dataset": "exchanged"},
        }
        plan, inputs = Plan.from_yaml(raw, PROJECT), Inputs()
        inputs.scores, inputs.baselines = [], []
        results = Path("results")
        for name in raw["datasets"]:
            files = [
                results / kind / f"{name}.{ending}"
                for kind, ending in (
                    ("cases", "parquet"),
                    ("features", "parquet"),
                    ("cases", "csv"),
                )
            ]
            load_dataset(plan.dataset_options(name), plan.load_context(name), *files)
            inputs.append(files[0])
            if not plan.datasets[name].baselines:
                continue
            board = results / "baselines" / f"{name}.parquet"
            predicted = board.with_name(f"{name}_predictions.parquet")
            train_baselines(
                plan, name, (files[0], files[1]), (board, predicted, results / "models" / name), 1
            )
            inputs += [board, predicted]
            inputs.baselines.append(board)
        for name, experiment in plan.experiments.items():
            found = results / "cases" / f"{experiment.config.dataset}.parquet"
            for model in experiment.config.models:
                shard = results / "transcripts" / name / model / "0.parquet"
                write_transcripts(
                    plan, Job(name, model, *read_cases(found), shard=0), [found], shard
                )
                outputs = [
                    results / kind / name / f"{model}.parquet" for kind in ("predictions", "calls")
                ]
                write_predictions(plan, name, found, [shard], *outputs)
                inputs += [shard, *outputs]
            scores = results / "scores" / f"{name}.parquet"
            write_scores(scores, plan, name, list(inputs))
            inputs.scores.append(scores)
            inputs.append(scores)
        published = PROJECT / "data/published"
        inputs.published, inputs.findings = (
            published / "published_results.csv",
            published / "findings.csv",
        )
        job: Any = SimpleNamespace(input=inputs)
        study = load_study_results(plan, job, "courtroom")
        assert set(study.experiments) == {
            "other",
            "asked",
        }, "counterfactual people enter no other table"
        rates = study.experiments["asked"].predictions.merge(
            pd.DataFrame(
                [
                    (case.case_id, case.attributes["sex"])
                    for case in read_cases(results / "cases" / "told.parquet")[0]
                ],
                columns=["case_id", "sex"],
            )
        )
        return {
            "counterfactual": counterfactual(study).frame,
            "group_rates": group_rates_table(study).frame,
            "predictions": rates,
        }


def row(frame: pd.DataFrame, **values: str) -> "pd.Series[Any]":
    mask = np.logical_and.reduce(
        [frame[name.replace("_", " ")] == value for name, value in values.items()]
    )
    [(_, found)] = frame[mask].iterrows()
    return found


def test_a_planted_effect_of_sex_is_recovered_and_its_absence_too(
    tables: dict[str, pd.DataFrame],
) -> None:
    frame = tables["counterfactual"]
    assert set(frame["data"]) == {"told (synthetic)"}
    assert (frame["told"] == "female").all() and (frame["rather than"] == "male").all()
    for what in ("names the positive label", "belief in the positive label"):
        partial = row(frame, model="partial", people="all", what_changes=what)
        assert partial["difference high"] < 0 and partial["p (Holm)"] < 0.01, (
            "women are named less often"
        )
        even = row(frame, model="even", people="all", what_changes=what)
        assert even["difference low"] <= 0 <= even["difference high"]
        assert even["changed low"] <= 0 <= even["changed high"], "what flips by itself is no effect"
        assert partial["changed low"] > 0
        assert (partial["cases"], partial["tests in family"]) == (
            120,
            9,
        ), "two models and a trained one, three groups each"
        for group in ("recorded male", "recorded female"):
            found = row(frame, model="partial", people=group, what_changes=what)
            assert found["difference"] < 0, (
                "the direction is that of the telling, whatever the record says"
            )
    # The planted 0.8 is in units of log-odds; those of people alone are normal around +-mean, as
    # their outcome is.
    deviation = float(np.hypot(1.0, 0.6))
    mean = norm.ppf(0.7) * deviation
    yes = tables["predictions"].drop_duplicates("case_id")["target"].eq("yes").mean()

    def named(liked: float) -> float:
        return float(
            yes * norm.cdf((mean + liked) / deviation)
            + (1 - yes) * norm.cdf((liked - mean) / deviation)
        )

    found = row(frame, model="partial", people="all", what_changes="names the positive label")
    assert found["difference low"] <= named(0.0) - named(0.8) <= found["difference high"]


def test_a_trained_model_is_asked_about_the_same_people_told_in_two_ways(
    tables: dict[str, pd.DataFrame],
) -> None:
    frame = tables["counterfactual"]
    trained = frame[frame["method"] == "trained: nb"]
    assert set(trained["what changes"]) == {
        "names the positive label",
        "belief in the positive label",
    }
    belief = row(trained, people="all", what_changes="belief in the positive label")
    assert belief["difference"] < 0, (
        "the synthetic outcome depends on sex, and so does what is learnt"
    )
    assert belief["cases"] == 120


def test_rates_by_group_are_those_of_fairlearn(tables: dict[str, pd.DataFrame]) -> None:
    metrics = pytest.importorskip(
        "fairlearn.metrics", reason="fairlearn is in the extra `test` (make env EXTRAS=test)"
    )
    frame = tables["group_rates"]
    predictions = tables["predictions"][
        lambda rows: (rows["model"] == "partial") & (rows["status"] == "valid")
    ]
    named = {
        "true positive rate": metrics.true_positive_rate,
        "false positive rate": metrics.false_positive_rate,
        "predicted positive": metrics.selection_rate,
    }
    oracle = metrics.MetricFrame(
        metrics=named,
        y_true=(predictions["target"] == "yes").astype(int),
        y_pred=(predictions["prediction"] == "yes").astype(int),
        sensitive_features=predictions["sex"],
    )
    compared = 0
    for rate in named:
        for sex in ("male", "female"):
            found = row(
                frame, experiment="asked", model="partial", attribute="sex", rate=rate, group=sex
            )
            if found["cases"] < MIN_CASES:
                assert np.isnan(found["ours"]), "its denominator decides whether a rate is shown"
                continue
            assert found["ours"] == pytest.approx(oracle.by_group.loc[sex, rate])
            assert found["95 % low"] <= found["ours"] <= found["95 % high"]
        female = row(
            frame, experiment="asked", model="partial", attribute="sex", rate=rate, group="female"
        )
        if not isinstance(female["compared with"], str):
            continue
        compared += 1
        assert female["compared with"] == "male"
        assert abs(female["difference"]) == pytest.approx(oracle.difference()[rate])
        assert female["difference low"] <= female["difference"] <= female["difference high"]
    assert compared


def test_any_study_that_argues_about_people_compares_their_groups(tmp_path: Path) -> None:
    raw = configuration("http://nowhere.invalid", tmp_path)
    raw["datasets"] = {
        "people": {"loader": "nlsy97", "source": "synthetic"},
        "mine": {
            "loader": "table",
            "path": "x.csv",
            "text": "a",
            "target": "y",
            "attributes": ["ward"],
        },
        "caselaw": {"source": "sample"},
    }
    for dataset, grouped in (("people", True), ("mine", True), ("caselaw", False)):
        raw["experiments"] = {
            "mine": {"protocol": "feedback", "dataset": dataset, "models": ["test"], "cases": 20}
        }
        plan = Plan.from_yaml(raw, PROJECT)
        assert plan.can_fill(TABLES["feedback/group_rates"]) == grouped
        assert not plan.can_fill(TABLES["courtroom/group_rates"])
