"""Tables without rows and figures without data leave no files until they have rows or data.

The slow test runs one study, since only Snakemake can show that it builds removed files again.
"""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from moot.workflow.empty_outputs import (
    LIST,
    name_of_output,
    remove_empty_outputs,
    removed_names,
    without_removed,
)
from project_copy import Workflow, unedited_copy

HEADER = "method,accuracy\n"
ENDINGS = ("csv", "tex", "html")
EMPTY_SVG = "<svg><dc:description>nothing to draw"
ANSWERS = ("NO", "YES")
GROUPS = "recorded/groups"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("results/tables/courtroom/deferral.csv", "tables/courtroom/deferral"),
        ("results/tables/courtroom/deferral.tex", "tables/courtroom/deferral"),
        ("results/captions/tables/courtroom/deferral.rst", "tables/courtroom/deferral"),
        ("results/figures/feedback/rounds.png", "figures/feedback/rounds"),
        ("results/papers/courtroom/table4.csv", ""),
        ("results/tables/summary.csv", ""),
        ("results/scores/trial.parquet", ""),
        ("results/index.html", ""),
    ],
)
def test_names_of_outputs(path: str, name: str) -> None:
    assert name_of_output(path) == name


def write_table(name: str, text: str) -> list[str]:
    paths = [Path(f"results/tables/{name}.{ending}") for ending in ENDINGS]
    paths.append(Path(f"results/captions/tables/{name}.rst"))
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return [str(path) for path in paths]


@pytest.mark.parametrize(
    ("text", "is_empty"),
    [
        (HEADER, True),
        ("\ufeff" + HEADER, True),
        ('"a\nheader of two lines",b\n', True),
        ("", True),
        (HEADER + "debate,0.5\n", False),
        (HEADER.replace("\n", "\r\n") + "debate,0.5\r\n", False),
    ],
    ids=["header", "byte order mark", "line break", "no text", "row", "row of another system"],
)
def test_files_of_tables_without_rows_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, is_empty: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    outputs = [*write_table("a/one", text), *write_table("a/two", HEADER + "x,1\n")]
    assert remove_empty_outputs(outputs) == (["tables/a/one"] if is_empty else [])
    existing = [path for path in outputs if Path(path).exists()]
    first_kept = len(outputs) // 2 if is_empty else 0
    assert existing == without_removed(outputs) == outputs[first_kept:]
    assert LIST.exists() == is_empty


def test_kept_tables_stay_without_rows_and_are_no_longer_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outputs = write_table("a/one", HEADER)
    assert remove_empty_outputs(outputs) == ["tables/a/one"]
    outputs = [*write_table("a/one", HEADER), *write_table("a/two", HEADER)]
    assert remove_empty_outputs(outputs, ["tables/a/one"]) == ["tables/a/two"]
    assert removed_names() == {"tables/a/two"}
    assert [Path(path) for path in outputs if Path(path).exists()] == [
        Path(path) for path in outputs if "one" in path
    ]


def test_one_file_of_a_table_is_enough_to_remove_its_caption_but_no_other_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_table("a/one", HEADER)
    other_files = [*write_table("a/one_more", HEADER), *write_table("b/one", HEADER)]
    assert remove_empty_outputs(["results/tables/a/one.html"]) == ["tables/a/one"]
    existing = {str(path) for path in Path("results").rglob("*.*") if path != LIST}
    assert existing == set(other_files)


def test_a_figure_that_draws_nothing_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("results/figures/a")
    folder.mkdir(parents=True)
    for name, text in (("empty", EMPTY_SVG), ("drawn", "<svg>")):
        (folder / f"{name}.svg").write_text(text)
        (folder / f"{name}.png").write_text("png")
    assert remove_empty_outputs(map(str, sorted(folder.iterdir()))) == ["figures/a/empty"]
    assert sorted(path.name for path in folder.iterdir()) == ["drawn.png", "drawn.svg"]


def test_a_removed_table_is_forgotten_when_it_has_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outputs = [*write_table("a/one", HEADER), *write_table("a/two", HEADER)]
    assert remove_empty_outputs(outputs) == ["tables/a/one", "tables/a/two"]
    assert remove_empty_outputs(outputs) == [], "nothing is left to remove"
    assert removed_names() == {"tables/a/one", "tables/a/two"}
    remove_empty_outputs(write_table("a/one", HEADER + "x,1\n"))
    assert removed_names() == {"tables/a/two"}


@pytest.mark.parametrize("text", ["", "{", "{}", "3", "null"])
def test_a_damaged_list_counts_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    LIST.parent.mkdir()
    LIST.write_text(text)
    assert removed_names() == frozenset()


def answer_rows(*, has_sex: bool) -> str:
    """Return the text of a table of 48 answers, half of them right, of as many women as men."""
    lines = ["id,arm,who,said,gold,sex"]
    for case in range(48):
        truth, answer = ANSWERS[case // 2 % 2], ANSWERS[case // 4 % 2]
        sex = ("female", "male")[case % 2] if has_sex else ""
        lines.append(f"c{case},debate,gpt-x,{answer},{truth},{sex}")
    return "\n".join(lines) + "\n"


def configuration(**columns: Any) -> dict[str, Any]:
    columns |= {"debate": "", "case": "id", "method": "arm", "model": "who"}
    columns |= {"answer": "said", "truth": "gold"}
    return {
        "run": ["mine"],
        "models/my-model": {"endpoint": "recorded", "model": "gpt-x"},
        "datasets/answers": {
            "loader": "transcripts",
            "path": "answers.csv",
            "columns": columns,
            "labels": {"NO": "no", "YES": "yes"},
            "positive": "yes",
        },
        "experiments/mine": {
            "source": "recorded",
            "dataset": "answers",
            "models": "my-model",
            "params": {"method": "debate"},
        },
    }


def tables_without_rows(work: Path) -> list[str]:
    names = []
    for path in (work / "results/tables").rglob("*.csv"):
        with path.open(encoding="utf-8-sig", newline="") as file:
            if len(list(csv.reader(file))) < 2:
                names.append(path.name)
    return names


@pytest.mark.slow
def test_a_run_leaves_no_table_without_a_row(tmp_path: Path) -> None:
    workflow = Workflow(tmp_path, "http://localhost:9", project=unedited_copy())
    workflow.configure(configuration())
    answers, results = workflow.work / "answers.csv", workflow.work / "results"
    answers.write_text(answer_rows(has_sex=False))
    process = workflow.run("recorded")
    assert process.returncode == 0, process.stdout[-4000:]
    assert process.stdout.count("so their files are not kept: ") == 1
    removed = json.loads((workflow.work / LIST).read_text())
    assert f"tables/{GROUPS}" in removed and tables_without_rows(workflow.work) == []
    assert not list(results.rglob("groups.*")), "neither a table nor its caption"
    page = (results / "recorded.html").read_text()
    assert "Tables without rows in this run: " in page and "recorded/groups" not in page
    assert workflow.jobs("recorded") == workflow.jobs("tables") == set()
    assert workflow.run("recorded", "--report", "report.html").returncode == 0
    target = f"results/tables/{GROUPS}.csv"
    process = workflow.run(target)
    assert process.returncode == 1
    assert process.stdout.count(f"moot: {target}: no rows or points in this run") == 1
    assert not (workflow.work / target).exists()
    answers.write_text(answer_rows(has_sex=True))
    workflow.configure(configuration(attributes=["sex"]))
    process = workflow.run("recorded")
    assert process.returncode == 0, process.stdout[-4000:]
    assert (workflow.work / target).exists()
    assert f"tables/{GROUPS}.html" in (results / "recorded.html").read_text()
