"""Test the desk's messages about empty answers, and its lists of sheets."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from multidict import MultiDict

from at_the_desk import SHEET, desk_client, write_sheet
from messages import refusal
from moot.core.errors import UserError
from moot.desk.form_inputs import answer_text
from moot.labels.sheet_names import name_sheet

FIELDS: dict[str, Any] = {
    "statement": {"type": "string"},
    "prediction": {"enum": ["NO", "YES"]},
    "confidence": {"type": "integer", "minimum": 0, "maximum": 100},
    "factors": {"type": "array", "items": {"type": "string"}},
    "reasons": {"type": "array", "items": {"enum": ["a", "b"]}},
}
BLANKS = ("", " ", "\r\n \r\n", "\t")


@pytest.mark.parametrize(("name", "blank"), list(product(FIELDS, BLANKS)))
def test_an_empty_answer_gets_a_message(name: str, blank: str) -> None:
    for required in ([name], []):
        form = {"properties": {name: FIELDS[name]}, "required": required}
        sent = MultiDict({} if name == "reasons" else {name: blank})
        with pytest.raises(UserError, match=r"^Your answer is empty\. Fill in "):
            answer_text(sent, form)


@pytest.mark.parametrize("missing", ["statement", "prediction", "confidence", "factors"])
def test_the_message_on_an_incomplete_answer_lists_missing_fields(missing: str) -> None:
    contents = {"statement": "Thin.", "prediction": "NO", "confidence": "5", "factors": "priors"}
    form = {"properties": {name: FIELDS[name] for name in contents}, "required": [*contents]}
    assert "Thin." in answer_text(MultiDict(contents), form)
    with pytest.raises(UserError, match=r"^Your answer lacks ") as error:
        answer_text(MultiDict(contents | {missing: " "}), form)
    assert missing in str(error.value).lower()


def test_several_missing_fields_are_named_together() -> None:
    form = {"properties": FIELDS, "required": ["statement", "prediction", "confidence"]}
    with refusal():
        answer_text(MultiDict({}), form)


async def test_the_desks_page_names_sheets_without_their_experiments(tmp_path: Path) -> None:
    write_sheet(tmp_path, 2)
    name = name_sheet(tmp_path / "data" / "annotation_sheets", "<b>study", "panel", "one")
    shown_name = name.replace("<", "&lt;").replace(">", "&gt;")
    async with desk_client(tmp_path) as client:
        page = await (await client.get("/t/")).text()
        sheet_page = await (await client.get(f"/t/label/{SHEET}/ann")).text()
    assert f'<option value="{SHEET}">{shown_name}: 2 statements</option>' in page
    assert "panel" not in page and "panel" not in sheet_page
    assert f"ann · {shown_name} · 0 of 2 labelled" in sheet_page
