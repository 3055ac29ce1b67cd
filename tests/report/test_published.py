"""Published values next to the runs that repeat them, and the errors of both."""

from math import nan
from pathlib import Path

import pandas as pd
import pytest

from messages import refusal
from moot.report.published import (
    COLUMNS,
    Published,
    published_values,
    published_values_of,
    read_published,
    repeated_baseline_values,
    repeated_values,
    replication_range,
    share_valid,
    trained_rows,
    trained_score,
)
from moot.report.study_results import Measurement, PaperMatch, PaperMatches, Run
from moot.stats.intervals import wilson_interval
from results_on_disk import case, prediction, study_of, write_results

OURS = Measurement(0.5, 0.4, 0.6, n=200, n_invalid=50, n_cases=100)
LINES = [
    "courtroom,t1,r1,accuracy,0.75,100,50,share,paper-a,m1,",
    "courtroom,t1,r2,f1,0.5,,,as ours,paper-a,,",
    "courtroom,t1,r3,f1,0.25,,,as ours,paper-b,,",
    "courtroom,t2,r1,f1,0.125,,,as ours,baselines/toy,rf,",
]


def write_values(folder: Path, *lines: str) -> Path:
    path = folder / "published.csv"
    path.write_text("\n".join([",".join(COLUMNS), *lines]) + "\n")
    return path


def test_a_value_stands_next_to_the_runs_that_repeat_it(tmp_path: Path) -> None:
    rows = {model: [prediction("c", "yes", "yes")] for model in ("m1", "m2")}
    results = write_results(tmp_path, [case("c", "yes")], rows, experiment="mine")
    matches = PaperMatches(
        {("mine", model): PaperMatch(("paper-a",), our_wording=True) for model in rows},
        {"toy": PaperMatch(("baselines/toy",))},
    )
    published = read_published(write_values(tmp_path, *LINES))
    study = study_of(results, published=published, paper_matches=matches)
    first, second = study.runs([results], Run)
    assert repeated_values(first, "t1") == {("r1", "accuracy"): 0.75, ("r2", "f1"): 0.5}
    assert repeated_values(second, "t1") == {("r2", "f1"): 0.5}, "the value of another model"
    value = repeated_values(first, "t1")["r1", "accuracy"]
    assert (value.n, value.cases, value.share, value.our_wording) == (100, 50, True, True)
    share = value.as_share_of(3)
    assert (share, share.n, share.cases, share.share, share.our_wording) == (
        0.25,
        *vars(value).values(),
    )
    assert repeated_values(first, "t3") == {}
    assert repeated_baseline_values(study, "t2", "toy", "rf") == {("r1", "f1"): 0.125}
    assert repeated_baseline_values(study, "t2", "other", "rf") == {}
    assert len(published_values(study, "t1")) == 3
    plain = published_values_of(published)["t1", "r2", "f1"]
    assert (plain, plain.share, plain.our_wording) == (0.5, False, False)


def test_a_file_of_published_values_is_checked(tmp_path: Path) -> None:
    path = write_values(tmp_path, LINES[1], LINES[0].replace("100", "many"))
    with refusal():
        read_published(path)
    path.write_text(path.read_text().replace(",cases,", ",people,"))
    with refusal():
        read_published(path)


def test_a_published_value_has_its_own_error() -> None:
    wilson, unclustered = wilson_interval(0.75, 100), wilson_interval(0.5, 200)
    assert Published.of(0.75, 100, 100, share=True).interval(OURS) == wilson
    design_effect = 0.2 / (unclustered.high - unclustered.low)
    clustered = Published.of(0.75, 100, 50, share=True).interval(OURS)
    assert clustered == wilson_interval(0.75, 100 / design_effect**2)
    narrow = Measurement(0.5, 0.49, 0.51, 200, 0, 100)
    assert Published.of(0.75, 100, 50, share=True).interval(narrow) == wilson
    assert Published.of(0.75, 400, 400).interval(OURS) == pytest.approx((0.75, 0.7, 0.8))
    assert Published.of(0.75, 800, 50).interval(OURS) == pytest.approx((0.75, 0.7, 0.8))
    for value, ours in ((Published.of(0.75), OURS), (Published.of(0.75, 9), Measurement(0.5))):
        assert value.interval(ours) == pytest.approx((0.75, nan, nan), nan_ok=True)


@pytest.mark.parametrize(
    ("value", "ours", "expected"),
    [
        (0.75, OURS, (0.75 - 0.02**0.5, 0.75 + 0.02**0.5)),
        (0.95, OURS, (0.95 - 0.02**0.5, 1)),
        (0.05, OURS, (0, 0.05 + 0.02**0.5)),
        (3.0, Measurement(2, 1.9, 2.1, 200, 0, 100), (3 - 0.02**0.5, 3 + 0.02**0.5)),
        (0.95, Measurement(2, 1.9, 2.1, 200, 0, 100), (0.95 - 0.02**0.5, 0.95 + 0.02**0.5)),
        (0.75, Measurement(0.5), (nan, nan)),
    ],
)
def test_a_share_is_replicated_within_its_bounds(
    value: float, ours: Measurement, expected: tuple[float, float]
) -> None:
    bounds = replication_range(Published.of(value, 100, 100), ours)
    assert bounds == pytest.approx(expected, nan_ok=True)


def test_trained_models_and_shares_of_valid_answers() -> None:
    board = pd.DataFrame(
        [
            {"model": "rf", "evaluation": "test", "accuracy": 0.5, "accuracy_low": 0.4, "n": 8},
            {"model": "svm", "evaluation": "test", "accuracy": nan, "n": 8},
            {"model": "rf", "evaluation": "train", "accuracy": 1.0, "n": 80},
        ]
    )
    (row,) = trained_rows(board)
    assert row["model"] == "rf" and trained_rows(pd.DataFrame()) == []
    (of_training,) = trained_rows(board, "train")
    assert of_training["n"] == 80
    score = trained_score(row, "accuracy")
    assert (score.value, score.low, score.counts) == (
        0.5,
        0.4,
        {"cases": 8, "n": 8, "n invalid": 0},
    )
    assert pd.isna([score.high, trained_score(row, "f1").value]).all()
    share = share_valid(OURS)
    assert (share.value, share.n, share.n_invalid) == (0.8, 250, 50)
    assert pd.isna(share_valid(Measurement(n=0, n_invalid=0)).value)
