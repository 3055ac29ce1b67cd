"""Tables of labels: shares by round and speaker, what follows a label, and agreement."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from moot.core.artifacts import describe, write_rows
from moot.core.rubric import Rubric
from moot.overview.tables_labels import (
    agreement_of_labels,
    annotator_agreement,
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
    equal = frame[frame["measure"] == "equal labels"]
    assert equal[["of", "labelers", "value", "n"]].to_numpy().tolist() == [
        ["label", "human:ann / rules", 0.5, 4],
        ["group", "human:ann / rules", 0.75, 4],
    ]
    single = agreement_of_labels(labelled_study(tmp_path / "single", {"rules": [*LABELS]}))
    assert single.frame.empty and "add `judge` to `labelers`" in single.notes[-1]


def make_labels(**labelers: list[str]) -> pd.DataFrame:
    """Return the labels of each labeler for statements in their order; an empty one is missing."""
    frames = []
    for labeler, labels in labelers.items():
        frame = pd.DataFrame({"label": labels, "labeler": labeler, "turn": 1})
        numbers = range(len(labels))
        frame["debate_id"] = [f"d{number}" for number in numbers]
        frame["case_id"] = [f"c{number % 5}" for number in numbers]
        frames.append(frame.assign(experiment="e", model="m"))
    frame = pd.concat(frames, ignore_index=True)
    return frame[frame["label"] != ""]


def test_agreement_has_intervals_and_ignores_statements_with_one_label() -> None:
    draw = np.random.default_rng(1)
    truth = [str(label) for label in draw.choice(LABELS, 60)]
    noisy = [label if draw.random() < 0.8 else "none" for label in truth]
    labels = make_labels(rules=truth, ann=[*noisy[:50], *[""] * 10])
    agreement = annotator_agreement(labels).set_index("measure")
    assert set(agreement["n"]) == {50}
    equal, kappa = agreement.loc["equal labels"], agreement.loc["Cohen's kappa"]
    assert 0.6 < kappa["value"] < equal["value"] < 0.95
    assert kappa["ci_low"] <= kappa["value"] <= kappa["ci_high"]
    assert annotator_agreement(make_labels(rules=truth)).empty
