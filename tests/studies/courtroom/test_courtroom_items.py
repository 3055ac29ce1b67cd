"""The paper's tables and figures, from four answers of each run and two trained models."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from drawn_diagrams import draw
from moot.core.artifacts import describe, write_rows
from moot.core.schemas import SCHEMAS
from moot.papers.grid import build_grid, values_frame
from moot.papers.parts import Fact, OwnRow, Series
from moot.report.study_results import PaperMatch, PaperMatches, StudyResults
from moot.scores import concat_scores, score_experiment
from moot.scores.results import ExperimentResults
from moot.studies.courtroom.papers import tokens_of_statement
from paper_items import ITEMS, PUBLISHED, fill, own_values
from results_on_disk import case, experiment_view, prediction, study_of, utterance, write_results

PAIRS = [("yes", "yes"), ("yes", "no"), ("no", "no"), ("no", ""), ("no", "no")]
ANSWERS = dict(zip("abcde", PAIRS, strict=True))
"""A case to its true label and the answer: accuracy 3 / 4, and F1 of YES 2 / 3."""
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "program": ("courtroom", {"silent_judge": True}),
    "paper-cot-commercial": ("cot", {}),
    "paper-cot": ("cot", {}),
    "trial": ("courtroom", {}),
    "prompt": ("zero_shot", {}),
    "copy": ("zero_shot", {}),
}
"""An experiment to its protocol and parameters."""
PROGRAM = "tiny (authors' program)"
TRAINED = {
    "baseline": ["nb", "nb", "tabpfn"],
    "evaluation": ["cross_validation", "test", "test"],
    "accuracy": [0.6, 0.7, 0.8],
}


def hold(folder: Path, name: str) -> ExperimentResults:
    protocol, params = RUNS[name]
    cases = [case(case_id, target) for case_id, (target, _) in ANSWERS.items()]
    answers = [prediction(case_id, *pair) for case_id, pair in ANSWERS.items()]
    talk = [utterance(f"{case_id}#0", 1, "defense", "No.") for case_id in ANSWERS]
    unused = dict.fromkeys(SCHEMAS["calls"].names)
    usage = {"prompt_tokens": 90, "completion_tokens": 20}
    calls = [{**unused, **usage, "call_id": row["call_id"]} for row in talk]
    write_rows(folder / f"calls/{name}/tiny.parquet", "calls", calls, describe(name))
    view = experiment_view(protocol, "nlsy97", params=params)
    return write_results(
        folder, cases, {"tiny": answers}, {"tiny": talk}, experiment=name, config=view
    )


@pytest.fixture
def study(tmp_path: Path) -> StudyResults:
    runs = [hold(tmp_path, name) for name in RUNS]
    scores = concat_scores(map(score_experiment, runs))
    boards = {"nlsy97": pd.DataFrame(TRAINED).assign(n=4, status="ok", title="its own")}
    match = PaperMatch(("paper-zero-shot-commercial",))
    matches = PaperMatches({("copy", "tiny"): match})
    fields = {"scores": scores, "baselines": boards, "published": PUBLISHED}
    return study_of(*runs, **fields, paper_matches=matches)


@pytest.mark.parametrize(
    ("items", "sources"),
    [
        (["table2"], ["nb"]),
        (["table3"], ["tabpfn"]),
        (["table4"], ["prompt, paper-cot"]),
        (["table6", "table7"], ["prompt", "copy", "paper-cot-commercial"]),
        (["figure2", "figure4"], ["prompt", "paper-cot"]),
        (["table5", "figure3", "figure5"], ["program", "trial"]),
    ],
)
def test_an_item_shows_the_runs_of_its_ensemble(
    items: list[str], sources: list[str], study: StudyResults
) -> None:
    for item in items:
        parts = fill(f"courtroom/{item}", study)
        assert [part.source for part in parts if isinstance(part, OwnRow | Series)] == sources


def test_the_prompts_of_a_model_share_a_row(study: StudyResults) -> None:
    (row,) = fill("courtroom/table4", study)
    scores = {"zero_shot/accuracy": 3 / 4, "zero_shot/f1/binary": 2 / 3}
    assert own_values(row) == scores | {"cot/accuracy": 3 / 4, "cot/f1/binary": 2 / 3}
    (trained,) = fill("courtroom/table2", study)
    assert own_values(trained)["accuracy"] == 0.6, "by cross-validation"


def test_the_counts_of_table_7_have_no_as_positive_class_and_zeros(study: StudyResults) -> None:
    item = ITEMS["courtroom/table7"]
    grid = build_grid(item, {}, fill(item.name, study))
    row = values_frame(grid).set_index("source").loc["prompt"]
    # By the note: TN holds cases of rearrest predicted as NO, FP those predicted as YES.
    assert row[["TP", "TN", "FP", "FN"]].tolist() == ["2", "1", "1", "0"]
    assert (row["Accuracy"], row["Precision"]) == ("0.75", "0.67")


def test_a_point_has_the_label_and_the_scores_of_its_run(study: StudyResults) -> None:
    shown = {}
    for number in (2, 3, 4, 5):
        part = fill(f"courtroom/figure{number}", study)[0]
        assert isinstance(part, Series)
        (point,) = part.points
        shown[number] = (part.name, part.group, point.x, point.y.value, point.second.value)
    f1, accuracy, nothing = 2 / 3, 3 / 4, pytest.approx(np.nan, nan_ok=True)
    assert shown == {
        2: ("tiny, zero-shot", "zero-shot", 2.0, f1, nothing),
        3: (PROGRAM, "", 110.0, f1, nothing),
        4: ("tiny", "zero-shot", "tiny", f1, accuracy),
        5: (PROGRAM, "", PROGRAM, f1, accuracy),
    }


def test_models_and_tokens_are_stated(study: StudyResults) -> None:
    facts = fill("courtroom/table1", study, aya="no row", mistral="Mistral 7B")
    assert facts == [Fact("mistral", "Mistral 7B")]
    runs = (f"program, {PROGRAM}", "trial, tiny")
    name = "courtroom/total_tokens_per_case"
    assert fill("courtroom/text", study) == [Fact(name, f"100 ({run})") for run in runs]


def test_a_trial_is_drawn_with_its_seats() -> None:
    diagram = draw("courtroom/figure1", "courtroom", {"strategy": "none"})
    assert diagram.seats == ("prosecutor", "judge", "defense")


def test_the_median_over_places_of_median_tokens() -> None:
    """Worked by hand: the places have 110, 220 and 330 tokens; the judge has none."""
    prompts = {"a": [100, 200, 300], "b": [90, 200, 300], "c": [900, 200, 300]}
    replies = {"a": [10, 20, 30], "b": [10, 90, 30], "c": [10, 0, 30]}
    speakers = ["prosecutor", "defense", "prosecutor", "judge"]
    parts = []
    for name, counts in prompts.items():
        columns = {
            "debate_id": name,
            "speaker": speakers,
            "call_id": [f"{name}{place}" for place in range(4)],
            "prompt_tokens": [*counts, 9999],
            "completion_tokens": [*replies[name], 9999],
        }
        parts.append(pd.DataFrame(columns))
    rows = pd.concat(parts)
    statements = rows[["debate_id", "speaker", "call_id"]]
    calls = rows[["call_id", "prompt_tokens", "completion_tokens"]]
    results = SimpleNamespace(
        public_statements=lambda columns, model: [statements],
        calls_of=lambda model: [calls[:5], calls[5:]],
    )
    run: Any = SimpleNamespace(results=results, model="m")
    assert tokens_of_statement(run) == 220
