"""Results of panels of judges whose statements, labels and votes are known."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from moot.core.artifacts import describe, write_frame
from moot.core.cases import Case
from moot.core.rubric import RUBRICS
from moot.report.study_results import StudyResults
from moot.scores import labels, no_scores
from moot.scores.results import ExperimentResults
from moot.studies.appellate.data_opinions import TASK
from moot.studies.appellate.papers import STUDY
from moot.studies.appellate.scores_panel import panel_label_scores, panel_scores
from paper_items import PUBLISHED
from results_on_disk import experiment_view, prediction, write_labels, write_results

PROJECT = Path(__file__).resolve().parents[2]


LABEL_OF = {"a": "AFFIRM", "r": "REVERSE", "n": "NONE"}


PARAMS = {"judges": 3, "rounds": 3, "votes": "none"}


CASES = [
    Case(
        "c1",
        "toy",
        "test",
        "Facts of c1. See Lee v. Hall, 12 F.3d 34.",
        "affirm",
        TASK.labels,
        {"number": "1"},
    ),
    Case("c2", "toy", "test", "Facts of c2.", "not affirm", TASK.labels, {"number": "2"}),
]


TARGETS = {case.case_id: case.target for case in CASES}


def panel(
    folder: Path,
    courses: dict[str, str],
    protocol: str = "panel",
    name: str = "panels",
    extra: list[dict[str, Any]] | None = None,
) -> ExperimentResults:
    """Results of debates, each written as rounds of positions such as "aar arr rrr".

    Here a is affirm, r reverse, and n none.
    """
    statements = []
    labels: dict[tuple[str, int], str] = {}
    for debate, course in courses.items():
        turn = 0
        for number, positions in enumerate(course.split(), start=1):
            for seat, position in enumerate(positions, start=1):
                turn += 1
                human = protocol == "human_panel" and seat == 3
                statements.append(
                    statement(
                        debate, turn, "human" if human else f"judge_{seat}", number, position, human
                    )
                )
                labels[debate, turn] = LABEL_OF[position]
    for row in extra or []:
        statements.append(row)
        labels[row["debate_id"], row["turn"]] = "AFFIRM"
    results = write_results(
        folder,
        CASES,
        {
            "tiny": [
                prediction(debate.split("#")[0], TARGETS[debate.split("#")[0]], "affirm")
                for debate in courses
            ]
        },
        {"tiny": statements},
        task=TASK,
        experiment=name,
        config=replace(
            experiment_view(protocol, "toy", ("tiny",), "test", PARAMS), rubric=RUBRICS["appellate"]
        ),
    )
    rows = write_labels(results, "tiny", labels)
    everything = pd.DataFrame(rows)[
        ["experiment", "model", "debate_id", "turn", "label", "code", "labeler", "evidence"]
    ]
    everything = everything.assign(
        case_id=[row["debate_id"].split("#")[0] for row in rows], round=1, speaker="x"
    )
    write_frame(
        folder / "annotations" / name / "tiny.parquet", "annotations", everything, describe(name)
    )
    return results


def statement(
    debate: str,
    turn: int,
    speaker: str,
    number: int,
    position: str,
    human: bool = False,
    kind: str = "statement",
) -> dict[str, Any]:
    parsed = (
        json.dumps({"condition": "affirm" if position == "a" else "not affirm"}) if human else None
    )
    return {
        "debate_id": debate, "case_id": debate.split("#", maxsplit=1)[0],
            "repeat": 0, "turn": turn, "round": number, "speaker": speaker,
        "visibility": "public", "kind": kind, "text":
            f"{speaker} in round {number} says {position}.", "parsed": parsed,
        "parse_status": "", "source": "human" if human else "model",
    }  # fmt: skip


def label_scores(results: ExperimentResults) -> pd.DataFrame:
    """Return the scores of labels that every study has, and the study's own."""
    return pd.concat([labels.label_scores(results), panel_label_scores(results)], ignore_index=True)


def value(
    scores: pd.DataFrame, metric: str, group: str = "overall", column: str = "value"
) -> float:
    rows = scores[(scores["metric"] == metric) & (scores["group"] == group)]
    assert len(rows) == 1, (metric, group)
    return float(rows.iloc[0][column])


def study(results: list[ExperimentResults]) -> StudyResults:
    frames = [*map(panel_scores, results), *map(label_scores, results)]
    scores = pd.concat(frames, ignore_index=True) if results else no_scores()
    experiments = {experiment.experiment: experiment for experiment in results}
    return StudyResults(STUDY, experiments, scores, {}, PUBLISHED[PUBLISHED["study"] == STUDY])
