"""Evidence of a case: passages are read, numbered in the text, and sent by every protocol."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from moot.core.cases import Case, Task
from moot.core.errors import UserError
from moot.core.evidence import HEADINGS, Passage, count_passages, read_passages, with_evidence
from moot.datasets import LOADERS, LoadContext, Loaded
from moot.llm.request import Request
from moot.llm.stand_in import fill_schema
from moot.studies.appellate.data_opinions import TASK as APPEAL
from scripted_model import ARTICLES, WINNER, hold

MakeContext = Callable[..., LoadContext]
PASSAGES = (
    {"text": "The receipt limits liability.", "source": "receipt, p. 1"},
    {"text": "The trunk was sealed.", "source": "a clerk's letter"},
)
CASES: list[dict[str, Any]] = [
    {"id": "a", "facts": "A trunk was lost.", "outcome": "won", "passages": list(PASSAGES)},
    {"id": "b", "facts": "Rent was not paid.", "outcome": "lost", "passages": list(PASSAGES[:1])},
    {"id": "c", "facts": "A fence fell down.", "outcome": "won", "passages": []},
]
MINIMAL = {"text": "facts", "target": "outcome", "id": "id", "evidence": "passages"}


def load_table(path: Path, **options: Any) -> Loaded:
    entry = LOADERS["table"]
    validated = entry.options.model_validate({"path": path, **MINIMAL, **options})
    return entry.load(validated, LoadContext("mine", Path("data/raw"), Path(), 7))


def as_cells(cases: list[dict[str, Any]]) -> pd.DataFrame:
    cells = [{**case, "passages": json.dumps(case["passages"])} for case in cases]
    return pd.DataFrame(cells)


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "json", "jsonl", "parquet"])
def test_a_column_of_any_file_may_contain_passages(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"cases.{ending}"
    write: dict[str, Callable[[], Any]] = {
        "csv": lambda: as_cells(CASES).to_csv(path, index=False),
        "tsv": lambda: as_cells(CASES).to_csv(path, index=False, sep="\t"),
        "xlsx": lambda: as_cells(CASES).to_excel(path, index=False),
        "json": lambda: path.write_text(json.dumps(CASES)),
        "jsonl": lambda: path.write_text("".join(json.dumps(case) + "\n" for case in CASES)),
        "parquet": lambda: as_cells(CASES).to_parquet(path),
    }
    write[ending]()
    cases = load_table(path).cases
    assert [case.case_id for case in cases] == ["a", "b", "c"]
    assert [count_passages(case.text) for case in cases] == [2, 1, 0]
    assert cases[0].text.startswith("A trunk was lost.\n\n" + HEADINGS["en"])
    assert "[2] The trunk was sealed. (source: a clerk's letter)" in cases[0].text
    assert cases[2].text == "A fence fell down."
    plain_cases = load_table(path, evidence="").cases
    assert [case.text for case in plain_cases] == [case["facts"] for case in CASES]
    assert [case.case_id for case in plain_cases] == [case.case_id for case in cases]


@pytest.mark.parametrize("ending", ["json", "jsonl"])
@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize("is_indented", [False, True])
def test_a_file_of_a_single_case_is_one_case(
    ending: str, number: int, is_indented: bool, tmp_path: Path
) -> None:
    case = CASES[number]
    path = tmp_path / f"cases.{ending}"
    path.write_text(json.dumps(case, indent=2 if is_indented else None) + "\n")
    (loaded,) = load_table(path, labels=["lost", "won"]).cases
    assert (loaded.case_id, count_passages(loaded.text)) == (case["id"], len(case["passages"]))


def test_a_blank_cell_is_a_case_without_evidence(tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    as_cells(CASES).assign(passages=["", " ", "[]"]).to_csv(path, index=False)
    assert [count_passages(case.text) for case in load_table(path).cases] == [0, 0, 0]


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("the receipt", "not JSON"),
        ('{"text": "x", "source": "y"}', "found dict, not a list"),
        ('"x"', "found str, not a list"),
        ("3", "found int, not a list"),
        ('["x"]', "passage 1 has no 'text'"),
        ('[{"text": "x"}]', "passage 1 has no 'source'"),
        ('[{"text": "x", "source": "y"}, {"text": " ", "source": "y"}]', "passage 2 has no 'text'"),
        ('[{"text": 3, "source": "y"}]', "passage 1 has no 'text'"),
        ('[{"text": "x", "source": null}]', "passage 1 has no 'source'"),
        ("[null]", "passage 1 has no 'text'"),
    ],
)
def test_a_faulty_cell_is_named(cell: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=reason):
        read_passages(cell)
    path = tmp_path / "cases.csv"
    frame = as_cells(CASES)
    frame.loc[1, "passages"] = cell
    frame.to_csv(path, index=False)
    with pytest.raises(UserError) as raised:
        load_table(path)
    message = str(raised.value)
    assert "row 2" in message and "column 'passages'" in message and reason in message
    assert "expected a JSON list of passages" in message and "Correct it" in message


@pytest.mark.parametrize("option", ["evidence", "text"])
def test_the_target_cannot_be_evidence_and_a_missing_column_is_named(
    option: str, tmp_path: Path
) -> None:
    path = tmp_path / "cases.csv"
    as_cells(CASES).to_csv(path, index=False)
    with pytest.raises(ValueError, match="the answer"):
        load_table(path, **{option: "outcome"})
    with pytest.raises(UserError, match="nowhere"):
        load_table(path, **{option: "nowhere"})


def test_near_duplicates_are_found_only_by_the_facts(tmp_path: Path) -> None:
    rows = [
        {
            "id": f"r{n}",
            "facts": f"Tenant {n * 17} kept {n * 5} cats and {n * 29} birds in flat {n * 7}.",
            "outcome": ("won", "lost")[n % 2],
            "passages": list(PASSAGES) * 30,
        }
        for n in range(20)
    ]
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with_passages = load_table(path, split="hash", faulty=0)
    plain = load_table(path, split="hash", evidence="")
    assert [case.split for case in with_passages.cases] == [case.split for case in plain.cases]
    assert with_passages.cleaning == plain.cleaning


# The text


@pytest.mark.parametrize("language", ["en", "zh", "fr"])
@pytest.mark.parametrize("count", [0, 1, 2, 12])
def test_passages_are_counted_as_they_were_numbered(language: str, count: int) -> None:
    passages = [Passage(f"Point {n} [{n + 9}].", f"source {n}") for n in range(count)]
    text = with_evidence("Facts.\n[7] of the contract.", passages, language)
    assert count_passages(text) == count
    assert text.startswith("Facts.\n[7] of the contract.")


@pytest.mark.parametrize(
    "facts",
    [
        "",
        f"{HEADINGS['en']}\n[1] A forged passage. (source: nobody)",
        f"x\n{HEADINGS['zh']}\n[3] y",
        "[1] one\n[2] two",
    ],
)
def test_facts_that_look_like_evidence_add_no_passage(facts: str) -> None:
    passages = [Passage("Real.", "letter"), Passage("Also real.", "letter")]
    assert count_passages(with_evidence(facts, passages)) == 2


def test_a_passage_of_several_lines_becomes_one(tmp_path: Path) -> None:
    cell = json.dumps([{"text": "First.\n[2] Second.\n\nThird.", "source": "a\nletter"}])
    text = with_evidence("Facts.", read_passages(cell))
    assert count_passages(text) == 1 and text.count("\n") == 3


# The studies' protocols and loaders


def reply(request: Request) -> Any:
    if request.choices:
        return {choice: -1.0 - number for number, choice in enumerate(request.choices)}
    return fill_schema(request.schema) if request.schema else "As [1] shows, so be it."


@pytest.mark.parametrize(
    ("protocol", "task", "params"),
    [
        ("zero_shot", WINNER, {}),
        ("few_shot", WINNER, {"shots": 0}),
        ("cot", WINNER, {}),
        ("self_consistency", WINNER, {"k": 2}),
        ("courtroom", WINNER, {}),
        ("feedback", WINNER, {"debaters": 2, "rounds": 1}),
        ("feedback", ARTICLES, {"debaters": 2, "rounds": 1}),
        ("four_step_cot", WINNER, {}),
        ("reflexion", WINNER, {"reflections": 1}),
        ("panel", APPEAL, {}),
        ("synthetic_panel", APPEAL, {}),
        ("stance", WINNER, {}),
        ("conference", WINNER, {}),
    ],
)
async def test_every_protocol_shows_the_passages(
    protocol: str, task: Task, params: dict[str, Any]
) -> None:
    passages = [Passage("The receipt limits liability.", "receipt"), Passage("Sealed.", "letter")]
    text = with_evidence("A trunk was lost.", passages, task.language)
    case = Case("c1", "toy", "test", text, task.labels[0], task.labels)
    _, _, model = await hold(protocol, case, task, reply, **params)
    matches = [prompt for prompt in model.prompts if "[1] The receipt limits liability." in prompt]
    assert matches and all("[2] Sealed." in prompt for prompt in matches)
    assert len(matches) >= len(model.prompts) / 2


@pytest.mark.parametrize("name", ["caselaw", "cail18"])
def test_legal_texts_bring_evidence_in_a_field(
    name: str, tmp_path: Path, load_context: MakeContext
) -> None:
    passages = [{"text": "Doe v. Roe limits it.", "source": "receipt"}]
    records: dict[str, list[dict[str, Any]]] = {
        "caselaw": [
            {"case_background": f"Farmer {n * 7} sold {n * 31} sacks.", "labels": label}
            for n, label in enumerate(["Plaintiff wins", "Defendant wins"])
        ],
        "cail18": [
            {"fact": f"某人{n * 7}拿走手机{n * 31}部。", "meta": {"relevant_articles": [264]}}
            for n in range(2)
        ],
    }
    path = tmp_path / name / "mine"
    path.parent.mkdir()
    lines = [
        json.dumps({**record, "proof": passages}, ensure_ascii=False) for record in records[name]
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    context = load_context(name, data_root=tmp_path)
    loader = LOADERS[name]
    options: dict[str, Any] = {"source": "local", "files": {"test": f"{name}/mine"}}
    options |= {"similarity": 1.0, "evidence": "proof"}
    loaded = loader.load(loader.options(**options), context)
    assert loaded.cases and {count_passages(case.text) for case in loaded.cases} == {1}
    assert all("Doe v. Roe limits it." in case.text for case in loaded.cases)
    cut = loader.load(loader.options(**options, max_characters=200, mask=("title",)), context)
    assert {count_passages(case.text) for case in cut.cases} == {1}
    assert not any("Doe v. Roe" in case.text for case in cut.cases)
    text = path.read_text(encoding="utf-8").replace("receipt", "")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match="row 1, field 'proof': passage 1 has no 'source'"):
        loader.load(loader.options(**options), context)
