"""Test the reference pages of artifacts: generated parts, descriptions and examples."""

import re
from itertools import chain
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from moot.commands.reference import PARTS, SOMETIMES, variables, with_part
from moot.commands.registered import describe_registered
from moot.core.artifacts import write_frame
from moot.core.schemas import ARTIFACTS, SCHEMAS
from moot.training.evaluation import LEADERBOARD_COLUMNS, PREDICTION_COLUMNS
from results_on_disk import case, prediction, utterance, write_results

PROJECT = Path(__file__).resolve().parents[2]
DOCS = PROJECT / "docs"


@pytest.mark.parametrize("name", PARTS)
def test_a_generated_part_equals_the_output_of_make_docs(name: str) -> None:
    page, write = PARTS[name]
    text = (DOCS / page).read_text()
    assert with_part(text, name, write()) == text, "run `make docs`"


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        ("baselines", LEADERBOARD_COLUMNS),
        ("baseline_predictions", PREDICTION_COLUMNS),
    ],
)
def test_every_column_of_a_frame_is_described(kind: str, columns: tuple[str, ...]) -> None:
    assert SCHEMAS[kind].names == list(columns)


def test_every_column_is_described_in_the_file_too(tmp_path: Path) -> None:
    for artifact in ARTIFACTS.values():
        assert all(text for _, text in artifact.columns.values())
    frame = pd.DataFrame({"case_id": ["a"], "split": ["test"], "label": ["yes"], "age": [30]})
    write_frame(tmp_path / "features.parquet", "features", frame, {})
    schema = pq.read_schema(tmp_path / "features.parquet")
    assert schema.names == list(frame.columns)
    assert schema.field("case_id").metadata[b"description"].decode() == "the case, as in `cases/`"


def test_the_pandas_example_selects_debates_whose_judge_moved_to_a_wrong_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = {"stayed wrong": "nn", "moved wrong": "yn", "moved right": "ny", "gave none": "yn"}
    labels = {"y": "yes", "n": "no"}
    rows, predictions = [], []
    for name, words in answers.items():
        for turn, word in enumerate(words):
            rows.append(
                utterance(f"{name}#0", turn, "judge", prediction=labels[word], kind="belief")
            )
        predictions.append(prediction(name, "yes", labels[words[-1]]))
    predictions[-1] |= {"prediction": None, "status": "invalid"}
    cases = [case(name, "yes") for name in answers]
    write_results(
        tmp_path / "results", cases, {"m": predictions}, {"m": rows}, experiment="courtroom-nlsy97"
    )
    example = re.search(r"```python\n(.*?)```", (DOCS / "artifacts.md").read_text(), re.DOTALL)
    assert example
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, pd.DataFrame] = {}
    exec(example[1], {"pd": pd}, namespace)
    assert namespace["answer"][["case_id", "prediction", "target"]].values.tolist() == [
        ["moved wrong", "no", "yes"]
    ]


def test_exactly_the_variables_of_some_templates_are_described() -> None:
    assert set(chain.from_iterable(variables().values())) == set(SOMETIMES)


def test_registered_entries_are_listed_with_their_parameters() -> None:
    page = describe_registered()
    assert "| `strategy` | `call` | how advocates plan: in a separate call" in page
    assert "| `courtroom/deferral` |" in page
