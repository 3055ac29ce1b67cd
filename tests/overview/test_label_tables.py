"""Tables of labels: shares by round and speaker, what follows a label, and agreement."""

from dataclasses import replace
from pathlib import Path

import pytest

from moot.core.artifacts import describe, write_rows
from moot.core.rubric import Rubric
from moot.overview.tables_labels import (
    agreement_of_labels,
    label_changes,
    label_shares,
)
from moot.report.study_results import StudyResults
from moot.scores import score_experiment
from results_on_disk import (
    case,
    experiment_view,
    prediction,
    study_of,
    utterance,
    write_labels,
    write_results,
)

RUBRIC = Rubric(
    labels={"law": "a", "age": "b", "money": "c", "none": "d"},
    neutral="none",
    groups={"need": ("age", "money")},
    utterance_kinds=("statement",),
)
LABELS = ("law", "age", "money", "none")


def labelled_study(folder: Path, labels: dict[str, list[str]]) -> StudyResults:
    """Return a debate of two speakers and two rounds, labelled by some labelers.

    The first labeler's labels count.
    """
    talk = [
        utterance("c0#0", turn, "pro" if turn % 2 else "con", "Words.", round=1 + turn // 3)
        for turn in (1, 2, 3, 4)
    ]
    answers, view = [prediction("c0", "yes", "yes")], replace(experiment_view(), rubric=RUBRIC)
    run = write_results(folder, [case("c0", "yes")], {"tiny": answers}, {"tiny": talk}, config=view)
    first_labels, rows = next(iter(labels.values())), []
    label_by_turn = {("c0#0", turn): label for turn, label in enumerate(first_labels, start=1)}
    for row in write_labels(run, "tiny", label_by_turn):
        rows += [
            {**row, "case_id": "c0", "labeler": labeler, "label": own_labels[row["turn"] - 1]}
            for labeler, own_labels in labels.items()
        ]
    path = folder / "annotations/toy-courtroom/tiny.parquet"
    write_rows(path, "annotations", rows, describe("toy-courtroom"))
    return study_of(run, scores=score_experiment(run))


def test_labels_and_their_groups_are_counted_by_round_and_speaker(tmp_path: Path) -> None:
    study = labelled_study(tmp_path, {"rules": ["law", "age", "money", "none"]})
    frame = label_shares(study).frame
    assert frame.columns.tolist()[:6] == [
        "experiment", "model", "statements", "of", "label", "share",
    ]  # fmt: skip
    overall = frame[frame["statements"] == "all"]
    assert overall[["of", "label", "share"]].to_numpy().tolist() == [
        *(["label", label, 0.25] for label in LABELS),
        *(["group", group, share] for group, share in (("law", 0.25), ("need", 0.5))),
        ["group", "none", 0.25],
    ]
    need = frame[frame["label"] == "need"]
    assert need[["statements", "share", "n"]].to_numpy().tolist() == [
        ["all", 0.5, 4],
        ["round 1", 0.5, 2],
        ["round 2", 0.5, 2],
        ["speaker con", 0.5, 2],
        ["speaker pro", 0.5, 2],
    ]


def test_what_follows_a_group_of_labels_is_a_row(tmp_path: Path) -> None:
    study = labelled_study(tmp_path, {"rules": ["law", "age", "age", "money"]})
    frame = label_changes(study).frame
    overall = frame.loc[frame["statements"] == "all", ["from", "to", "share", "n"]]
    assert overall.to_numpy().tolist() == [
        ["any position", "another", 0.5, 2],
        ["law", "law", 0, 1],
        ["law", "need", 1, 1],
        ["law", "none", 0, 1],
        ["need", "law", 0, 1],
        ["need", "need", 1, 1],
        ["need", "none", 0, 1],
    ]


def test_labelers_agree_on_labels_and_on_groups(tmp_path: Path) -> None:
    study = labelled_study(
        tmp_path,
        {
            "rules": ["law", "age", "money", "none"],
            "human:ann": ["law", "money", "law", "none"],
            "adjudicated:cyd": ["law", "law", "law", "law"],
        },
    )
    frame = agreement_of_labels(study).frame
    assert frame[["of", "measure", "labelers", "value", "n"]].to_numpy().tolist() == [
        ["label", "Cohen's kappa", "human:ann / rules", pytest.approx(1 / 3), 4],
        ["label", "equal labels", "human:ann / rules", 0.5, 4],
        ["label", "Krippendorff's alpha", "human:ann, rules", pytest.approx(9 / 23), 4],
        ["group", "Cohen's kappa", "human:ann / rules", pytest.approx(7 / 11), 4],
        ["group", "equal labels", "human:ann / rules", 0.75, 4],
        ["group", "Krippendorff's alpha", "human:ann, rules", pytest.approx(2 / 3), 4],
    ]
    single = agreement_of_labels(labelled_study(tmp_path / "single", {"rules": [*LABELS]}))
    assert single.frame.empty and "add `judge` to `labelers`" in single.notes[-1]
