"""Test the desk's messages about empty answers, and its lists of sheets."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from multidict import MultiDict

from at_the_desk import SHEET, desk_client, write_sheet
from messages import refusal
from moot.core.errors import UserError
from moot.desk.form_inputs import Input, answer_text, inputs_of
from moot.labels.sheet_names import name_sheet

FIELDS: dict[str, Any] = {
    "statement": {"type": "string"},
    "prediction": {"enum": ["NO", "YES"]},
    "confidence": {"type": "integer", "minimum": 0, "maximum": 100},
    "factors": {"type": "array", "items": {"type": "string"}},
}
BLANKS = ("", " ", "\r\n \r\n", "\t")


def test_each_field_of_a_form_has_an_input_with_what_was_sent() -> None:
    rows = {"type": "object", "properties": {"name": {"type": "string"}}}
    properties = {
        "statement": {"type": "string", "examples": ["I affirm."]},
        "is_sure": {"type": "boolean"},
        "confidence": {**FIELDS["confidence"], "description": "how sure you are"},
        "weight": {**FIELDS["confidence"], "description": "from 0 to 100"},
        "factors": FIELDS["factors"],
        "people": {"type": "array", "maxItems": 2, "items": rows},
    }
    sent = {"position": "Yes.", "statement": "Thin.", "confidence": "5", "people-1-name": " Ann "}
    form = {"properties": properties, "required": ["statement", "confidence"]}
    assert inputs_of(form, sent) == [
        Input(
            "position", "line", "Your position, in a sentence",
            required=True, value="Yes.", options=("I affirm.",),
        ),
        Input("statement", "text", "Your reasons", value="Thin."),
        Input("is_sure", "choice", "Is sure", options=("yes", "no")),
        Input(
            "confidence", "number", "Confidence", "How sure you are; 0 to 100", True, "5",
            low=0, high=100,
        ),
        Input("weight", "number", "Weight", "From 0 to 100", low=0, high=100),
        Input("factors", "lines", "Factors", "One in each line"),
        Input(
            "people", "table", "People",
            rows=({"name": ""}, {"name": "Ann"}), columns=(Input("name", "text", "Name"),),
        ),
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "blank"), list(product(FIELDS, BLANKS)))
def test_an_empty_answer_gets_a_message(name: str, blank: str) -> None:
    for required in ([name], []):
        form = {"properties": {name: FIELDS[name]}, "required": required}
        sent = MultiDict({name: blank})
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
