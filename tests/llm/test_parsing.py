"""The parsing ladder: the values of several hundred nasty replies, and values that no reply may
have.
"""

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from moot.llm.parsing.ladder import parse_label, parse_reply
from moot.llm.parsing.schema import PLACEHOLDER, describe_schema, json_schema
from reply_forms import FORMS, NASTY, OTHER_FORMS, Belief, Review, Verdict, read_reply
from table_rows import check_each


class Likelihood(BaseModel):
    model_config = ConfigDict(extra="forbid")
    probability: float = Field(ge=0, le=1)
    certain: bool


@pytest.mark.parametrize("schema", sorted({row["schema"] for row in NASTY}))
def test_nasty_replies_give_what_their_rows_expect(schema: str) -> None:
    check_each([row for row in NASTY if row["schema"] == schema], check_nasty_reply)


def check_nasty_reply(row: dict[str, Any]) -> None:
    parsed = read_reply(row["schema"], row["reply"])
    assert (parsed.status, row["why"]) == (row["status"], row["why"]), parsed
    if row["status"] == "invalid":
        assert parsed.value is None
        assert parsed.problem
        assert "\n" not in parsed.problem
    else:
        assert parsed.value is not None
        assert {key: parsed.value[key] for key in row["value"]} == row["value"]
        assert list(parsed.missing) == row.get("missing", [])
        assert all(path in parsed.problem for path in parsed.missing)
        assert (parsed.problem == "") == (row["status"] == "strict"), parsed


@pytest.mark.parametrize("schema", ["verdict", "belief"])
def test_optional_fields_neither_lose_nor_invent_an_answer(schema: str) -> None:
    check_each([row for row in NASTY if row["schema"] == schema], check_optional_fields)


def check_optional_fields(row: dict[str, Any]) -> None:
    parsed = read_reply("courtroom", row["reply"])
    expected = row["value"]["prediction"] if row["value"] else row.get("answer")
    assert (parsed.value or {}).get("prediction") == expected, parsed
    if expected and not row["value"]:
        assert parsed.missing


def test_table_covers_every_rung() -> None:
    statuses = [row["status"] for row in NASTY]
    assert len(NASTY) > 300
    assert all(
        statuses.count(status) >= 30 for status in ("strict", "repaired", "extracted", "invalid")
    )


# What a text may state: pieces that real replies are made of, in any order.
PIECES = st.sampled_from(
    [
        *"{}[]\":,\n'`*()/|<>.",
        "YES",
        "NO",
        "yes",
        "no",
        "not ",
        "UNKNOWN",
        " or ",
        "prediction",
        '"prediction"',
        "Prediction: ",
        '"confidence"',
        "Confidence: ",
        ": ",
        ", ",
        "80",
        "0.7",
        "70%",
        "seventy",
        "- ",
        "```json\n",
        "```",
        "<think>",
        "</think>",
        "The answer is ",
        "reasoning",
        '"reasoning"',
        '"x"',
        "because ",
        '{"prediction": "YES", "confidence": 80}',
        "不",
        "答案：",
        "�",
    ]
)
REPLIES = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=25).map("".join))


@given(REPLIES, st.sampled_from(list(OTHER_FORMS.values())))
@settings(max_examples=600)
def test_any_text_gives_a_result_and_no_label_that_it_does_not_state(
    reply: str, schema: type[BaseModel]
) -> None:
    parsed = parse_reply(reply, schema)
    assert parsed.status in ("strict", "repaired", "extracted", "invalid")
    assert (parsed.value is None) == (parsed.status == "invalid")
    if parsed.value is not None:
        assert parsed.value["prediction"].casefold() in reply.casefold()
        json.dumps(parsed.value).encode()
        assert schema.model_validate(parsed.value).model_dump(mode="json") == parsed.value


@given(st.binary(max_size=300))
def test_any_bytes_give_a_result(reply: bytes) -> None:
    for text in (
        reply.decode("utf-8", "replace"),
        reply.decode("utf-8", "surrogateescape"),
        reply.decode("latin-1"),
    ):
        assert parse_reply(text, Belief).status in ("strict", "repaired", "extracted", "invalid")
        assert parse_label(text, ("pro", "con")).status in (
            "strict",
            "repaired",
            "extracted",
            "invalid",
        )


@given(REPLIES)
@settings(max_examples=300)
def test_a_text_is_not_read_as_a_label_that_it_does_not_state(reply: str) -> None:
    parsed = parse_label(reply, ("yes", "no"))
    if parsed.value is not None:
        assert parsed.value["prediction"] in reply.casefold()


EXPLANATIONS = st.text(max_size=80).filter(lambda text: text.strip() != PLACEHOLDER)
BELIEFS = st.builds(
    Verdict,
    prediction=st.sampled_from(["YES", "NO"]),
    confidence=st.integers(0, 100),
    reasoning=EXPLANATIONS,
)


@given(BELIEFS)
def test_what_a_schema_writes_is_read_back_strictly(belief: Verdict) -> None:
    parsed = parse_reply(belief.model_dump_json(), Verdict)
    assert (parsed.value, parsed.status) == (belief.model_dump(), "strict")


FRAMES = st.sampled_from(
    [
        "```json\n%s\n```",
        "Here it is:\n%s",
        "<think>NO, YES</think>\n```\n%s\n```",
        "[%s]",
        '{"answer": %s}',
    ]
)


@given(BELIEFS, FRAMES)
def test_a_frame_changes_the_rung_and_not_the_value(belief: Verdict, frame: str) -> None:
    parsed = parse_reply(frame.replace("%s", belief.model_dump_json()), Verdict)
    assert (parsed.value, parsed.status) == (belief.model_dump(), "repaired")


@given(BELIEFS, st.data())
@settings(max_examples=300)
def test_a_reply_cut_off_anywhere_gives_its_own_decision_or_none(
    belief: Verdict, data: st.DataObject
) -> None:
    reply = belief.model_dump_json()
    cut = reply[: data.draw(st.integers(0, len(reply) - 1))]
    for text in (cut, f"```json\n{cut}", f"My answer: {cut}"):
        value = parse_reply(text, Verdict).value
        assert value is None or (value["prediction"], value["confidence"]) == (
            belief.prediction,
            belief.confidence,
        )


@given(BELIEFS, BELIEFS, st.sampled_from(["", "\n", " and then ", "\n```\n```json\n"]))
def test_two_objects_give_a_value_only_if_they_agree(
    first: Verdict, second: Verdict, separator: str
) -> None:
    parsed = parse_reply(first.model_dump_json() + separator + second.model_dump_json(), Verdict)
    agree = (first.prediction, first.confidence) == (second.prediction, second.confidence)
    assert (parsed.status == "invalid") == (not agree)


@pytest.mark.parametrize("schema", [*FORMS.values(), Likelihood])
def test_a_repeated_description_is_not_an_answer_but_a_later_answer_is(
    schema: type[BaseModel],
) -> None:
    description = describe_schema(schema)
    assert parse_reply(description, schema).status == "invalid"
    form = next(line for line in description.splitlines() if line.startswith("{"))
    assert parse_reply(form, schema).status == "invalid"
    for name in schema.model_fields:
        assert f"- {name} is " in description


def test_an_answer_after_a_repeated_form_counts() -> None:
    reply = (
        f'{describe_schema(Verdict)}\n\n{{"prediction": "NO", "confidence": 20, "reasoning": "A'
        ' job."}'
    )
    assert parse_reply(reply, Verdict).value == {
        "prediction": "NO",
        "confidence": 20,
        "reasoning": "A job.",
    }


def test_description_names_bounds_labels_and_purpose() -> None:
    description = describe_schema(Review)
    assert '- prediction is one of "YES", "NO".' in description
    assert "- confidence is a whole number from 0 to 100." in description
    assert "- risk_factors[].weight is a whole number from 0 to 10." in description
    assert "how sure you are" in describe_schema(Verdict)


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        schema = list(schema.values())
    if isinstance(schema, list):
        for item in schema:
            yield from nodes(item)


@pytest.mark.parametrize("schema", [*FORMS.values(), Likelihood])
def test_json_schema_is_plain_closed_and_requires_everything(schema: type[BaseModel]) -> None:
    document = json_schema(schema)
    assert "$ref" not in json.dumps(document)
    assert "$defs" not in json.dumps(document)
    objects = [node for node in nodes(document) if node.get("type") == "object"]
    assert objects
    for node in objects:
        assert node["required"] == list(node["properties"])
        assert node["additionalProperties"] is False
    assert document["properties"].keys() == schema.model_fields.keys()


def test_json_schema_keeps_labels_and_bounds() -> None:
    properties = json_schema(Review)["properties"]
    assert properties["prediction"]["enum"] == ["YES", "NO"]
    assert (properties["confidence"]["minimum"], properties["confidence"]["maximum"]) == (0, 100)
    assert properties["risk_factors"]["items"]["properties"]["direction"]["enum"] == [
        "raises",
        "lowers",
        "unknown",
    ]


def test_a_schema_that_contains_itself_is_refused() -> None:
    class Node(BaseModel):
        children: list["Node"] = Field(default_factory=list)

    with pytest.raises(ValueError, match="contains itself"):
        json_schema(Node)


def test_shares_of_one_and_flags() -> None:
    assert parse_reply('{"probability": "70%", "certain": "no"}', Likelihood).value == {
        "probability": 0.7,
        "certain": False,
    }
    assert parse_reply('{"probability": 0.7, "certain": true}', Likelihood).status == "strict"
    assert (
        parse_reply('{"probability": 0.7, "certain": true, "other": 1}', Likelihood).status
        == "repaired"
    )
    assert parse_reply('{"probability": 70, "certain": true}', Likelihood).status == "invalid"
    assert parse_reply('{"probability": 0.7, "certain": "maybe"}', Likelihood).status == "invalid"


def test_strings_that_no_file_takes_are_cleaned() -> None:
    parsed = parse_reply(
        '{"prediction": "NO", "confidence": 20, "reasoning": "half a pair \\ud800"}', Verdict
    )
    assert parsed.value is not None
    parsed.value["reasoning"].encode()
    assert re.search("half a pair", parsed.value["reasoning"])


ATTACKS = [
    "{" * 25_000,
    "[" * 50_000,
    '{"a":' * 10_000,
    '{"prediction": "' + "\\" * 25_001,
    '"' * 25_001,
    "*" * 25_000,
]
ATTACKS += [
    "<think>" * 5_000,
    "prediction: " * 4_000,
    "prediction: maybe, " * 3_000,
    "The answer is " * 2_000,
    " " * 50_000 + "x",
    ". " * 25_000,
]
ATTACKS += [
    "{'prediction': " * 2_500,
    "`" * 25_000,
    "{}" * 25_000,
    "\\boxed{" * 5_000,
    "- " * 25_000 + "prediction",
    "✅ " * 25_000,
    "Prediction: " + " " * 25_000 + "x",
    "YES," * 15_000,
    "1. " * 15_000,
    "1." * 20_000,
]


def seconds_of_reading(reply: str) -> float:
    """Read a reply without an answer in both ways; return the seconds of the processor."""
    start = time.process_time()
    assert parse_reply(reply, Verdict).status == "invalid"
    parse_label(reply, ("YES", "NO"))
    return time.process_time() - start


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: f"{attack[:16]!r} x {len(attack)}")
def test_the_time_of_reading_grows_no_faster_than_the_length(attack: str) -> None:
    """A reading that takes the square of the length takes 16 times as long as of a quarter."""
    quarter = seconds_of_reading(attack[: len(attack) // 4])
    assert seconds_of_reading(attack) < 8 * quarter + 1
