"""The items of stance and polarity: own and trained models, and true and predicted labels."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from moot.papers.parts import OwnRow, Part, Series
from moot.scores import score_experiment
from moot.scores.results import ExperimentResults
from moot.studies.stance.papers import POLARITY
from paper_items import PUBLISHED, fill
from results_on_disk import (
    REARREST,
    case,
    experiment_view,
    prediction,
    study_of,
    utterance,
    write_results,
)

STANCES = ("con", "neutral", "pro")


def results_of(folder: Path, labels: tuple[str, ...], name: str, *notes: str) -> ExperimentResults:
    """Return answers to two cases, of which the first is right."""
    task = replace(REARREST, labels=labels, positive="", meaning={}, notes=notes)
    first, *_, last = labels
    cases = [case("a", first, labels), case("b", last, labels)]
    training = replace(case("c", last, labels), split="train")
    answers = {"tiny": [prediction("a", first, first), prediction("b", last, first)]}
    talk = {"tiny": [utterance("a#0", 1, "judge")]}
    view = experiment_view("polarity" if labels == POLARITY else "stance", name)
    return write_results(
        folder, [*cases, training], answers, talk, task=task, experiment=name, config=view
    )


def counts_of(part: Part) -> dict[float | str, float]:
    assert isinstance(part, Series)
    return {point.x: point.y.value for point in part.points}


@pytest.mark.parametrize(("note", "series_count"), [("", 1), ("SAMPLE: cases of moot.", 0)])
def test_the_labels_of_a_sample_are_not_counted_as_those_of_the_file(
    note: str, series_count: int, tmp_path: Path
) -> None:
    claims = results_of(tmp_path, POLARITY, "claims", *filter(None, [note]))
    results = study_of(claims, results_of(tmp_path, STANCES, "posts"), study="stance")
    true_labels = fill("decision_conference/figure2", results)
    assert (
        list(map(counts_of, true_labels))
        == [{"positive": 1, "negative": 0, "neutral": 1}] * series_count
    )
    (predicted,) = fill("decision_conference/figure3", results)
    assert counts_of(predicted) == {"positive": 2, "negative": 0, "neutral": 0}
    assert isinstance(predicted, Series) and predicted.name == "tiny"


def test_a_table_has_the_rows_of_its_task(tmp_path: Path) -> None:
    runs = [results_of(tmp_path, POLARITY, "claims"), results_of(tmp_path, STANCES, "posts")]
    scores = pd.concat(map(score_experiment, runs), ignore_index=True)
    study = study_of(*runs, study="stance", scores=scores, published=PUBLISHED)
    (row,) = fill("decision_conference/table4", study)
    assert isinstance(row, OwnRow)
    assert (row.heads, row.source, row.cells["", "accuracy"].value) == (("tiny",), "claims", 0.5)


def test_the_published_labels_of_figure_2_are_those_of_the_file(shared_data: Path) -> None:
    rows = PUBLISHED[PUBLISHED["table"] == "figure2_polarity_labels"]
    claims = pd.read_csv(shared_data / "claim_stance/claim_stance_dataset_v1.csv")
    counts = claims.loc[claims["split"] == "test", "claims.claimSentiment"].fillna(0).value_counts()
    names = {1: "positive", -1: "negative", 0: "neutral"}
    expected = {names[int(sentiment)]: count for sentiment, count in counts.items()}
    assert dict(zip(rows["metric"], rows["value"], strict=True)) == expected
