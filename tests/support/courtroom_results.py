"""Results of the courtroom study on ten synthetic cases, next to the published values."""

import json
from pathlib import Path

import pandas as pd

from moot.report import TABLES
from moot.report.published import read_published
from moot.report.study_results import StudyResults
from moot.scores import concat_scores, no_scores, score_experiment
from moot.scores.results import ExperimentResults
from results_on_disk import (
    make_paper_matches,
    utterance,
)

PUBLISHED = Path(__file__).resolve().parents[2] / "data" / "published" / "published_results.csv"


PROTOCOLS = ("zero_shot", "cot", "courtroom")


HOSTILE = "<script>alert(1)</script> \\input{/etc/passwd} =cmd|' /C calc'!A0 $x_1$ 100% & ~^#"


AS_PUBLISHED = make_paper_matches(
    {
        ("zero_shot-x", "dolphin-3"): "paper-zero-shot",
        ("cot-x", "dolphin-3"): "paper-cot",
        ("courtroom-x", "dolphin-3"): "paper-courtroom",
    },
    nlsy97="nlsy97",
)


def study_of(
    experiments: list[ExperimentResults], baselines: dict[str, pd.DataFrame] | None = None
) -> StudyResults:
    published = read_published(PUBLISHED)
    return StudyResults(
        study="courtroom",
        experiments={results.experiment: results for results in experiments},
        scores=(
            concat_scores(score_experiment(results) for results in experiments)
            if experiments
            else no_scores()
        ),
        baselines=baselines or {},
        published=published[published["study"] == "courtroom"],
        paper_matches=AS_PUBLISHED,
    )


def debate_rows(case_id: str, target: str) -> list[dict]:
    """Return the rows of a small courtroom debate: openings, a belief, a verdict."""
    identity = f"{case_id}#0"
    verdict = {"prediction": "no", "confidence": 60, "reasons": ["young", HOSTILE]}
    return [
        utterance(
            identity, 1, "prosecutor", "Sound dangerous.", visibility="prosecutor", kind="strategy"
        ),
        utterance(identity, 2, "prosecutor", f"# He did it.\n{HOSTILE}", kind="opening"),
        utterance(identity, 3, "defense", "He was young.", kind="opening"),
        utterance(
            identity,
            4,
            "judge",
            "{}",
            visibility="judge",
            kind="belief",
            prediction="no",
            confidence=60,
            parsed='{"prediction": "no", "confidence": 60, "reasons": ["young", "steady"]}',
            parse_status="strict",
        ),
        utterance(
            identity,
            5,
            "defense",
            "",
            kind="rebuttal",
            parse_status="failed",
            parsed='{"error": "timeout"}',
        ),
        utterance(
            identity,
            6,
            "judge",
            "{}",
            kind="verdict",
            prediction=target,
            confidence=70,
            round=0,
            parsed=json.dumps(verdict),
            parse_status="strict",
        ),
        utterance(
            identity,
            7,
            "moot",
            "",
            kind="conclusion",
            prediction=target,
            confidence=70,
            source="computed",
        ),
    ]


def rows_of(study, name):
    return TABLES[f"courtroom/{name}"].build(study).frame
