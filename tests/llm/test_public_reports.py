"""Replies and streams of public bug reports about tools that read what models write."""

import json
from typing import Any

import pytest
from aiohttp import web

from answer_labels import grade_of
from chat_servers import ask_once, serving
from moot.core.cases import Task
from moot.core.errors import CallFailedError
from moot.llm.parsing.ladder import parse_label, parse_reply
from moot.protocols.reply_schemas import prediction_schema

FORM = prediction_schema(Task("case", "Did he pay?", ("no", "yes")), reasoning=True)
VALUE = {"reasoning": "if (user) {", "prediction": "YES", "confidence": 70}
OBJECT = json.dumps(VALUE)

LETTERS = [
    ("UKGovernmentBEIS/inspect_ai#5145", "ANSWER: $B$", "B"),
    ("UKGovernmentBEIS/inspect_ai#5055", "ANSWER: **B**", "B"),
    ("UKGovernmentBEIS/inspect_ai#5170", "ANSWER: **B. robbery**", "B"),
    ("UKGovernmentBEIS/inspect_ai#3910", "ANSWER: b", "B"),
    ("UKGovernmentBEIS/inspect_ai#3910", "Answer: this asks for one.\n...\nANSWER: B", "B"),
    ("UKGovernmentBEIS/inspect_ai#4835", "ANSWER: A, B, and C", None),
    ("UKGovernmentBEIS/inspect_ai#721", "ANSWER: $LETTER", None),
    ("openai/simple-evals#33", "Antwort:\n\nAntwort: C", None),
    ("open-compass/opencompass#1933", "Answer: Let's think step by step. The answer is B.", "B"),
    ("EleutherAI/lm-evaluation-harness#2503", "Correct answer is (B)", "B"),
    ("EleutherAI/lm-evaluation-harness#2279", "(B)\n", "B"),
    ("IBM/AssetOpsBench#477", "The data point to bearing wear...\n\nC", "C"),
    ("vllm-project/tpu-inference#3518", "<think>The answer is A.</think>\nThe answer is B.", "B"),
    ("chigkim/Ollama-MMLU-Pro#6", "answer: (D)", "D"),
]


@pytest.mark.parametrize(("report", "reply", "label"), LETTERS)
def test_letters_of_public_reports(report: str, reply: str, label: str | None) -> None:
    labels = ("A", "B", "C", "D", "L")
    assert (parse_label(reply, labels).value or {}).get("prediction") == label, report


OBJECTS = [
    ("stanfordnlp/dspy#7819", f"``` json\n{OBJECT}\n```[[ ## completed ## ]]"),
    ("stanfordnlp/dspy#8759", f"'{OBJECT}'"),
    ("stanfordnlp/dspy#8539", f'{{"json_input": {OBJECT}}}'),
    ("stanfordnlp/dspy#8539", json.dumps({"json": f"{OBJECT}\n</invoke>"})),
    ("dspy-community/dspy-template-adapter#2", f"Let me see...\n\n```json\n{OBJECT}\n```"),
    ("a call of a tool", json.dumps({"name": "reply", "arguments": OBJECT})),
    ("a call of a tool", f'<tool_call>\n{{"name": "reply", "arguments": {OBJECT}}}\n</tool_call>'),
    ("braces in words", f"Here it is:\n\n{OBJECT}\n\nLet me know if {{more}} is needed!"),
    ("twice the same", OBJECT * 2),
]


@pytest.mark.parametrize(("report", "reply"), OBJECTS)
def test_objects_of_public_reports(report: str, reply: str) -> None:
    assert parse_reply(reply, FORM).value == VALUE, report


@pytest.mark.parametrize("reply", [
    json.dumps({"json": '{"prediction": "YES", "confidence": 70, "reasoning": "x'}),
    json.dumps({"a": OBJECT, "b": OBJECT.replace("YES", "NO")}),
    json.dumps({**VALUE, "prediction": ["YES", "NO"]}),
    json.dumps({**VALUE, "prediction": ["YES"]}),
])  # fmt: skip
def test_objects_that_state_no_answer(reply: str) -> None:
    assert parse_reply(reply, FORM).value is None


@pytest.mark.parametrize("reply", [
    "Score: 7.", "7.00/10", "The final score is: $7$", "#### 7", "Grade: **7** out of **10**",
])  # fmt: skip
def test_numbers_of_public_reports(reply: str) -> None:
    """EleutherAI/lm-evaluation-harness#3214 and its like: marks around a number."""
    assert grade_of(reply) == 7


def _chunk(**choice: Any) -> str:
    return json.dumps({"id": "c", "model": "test", "choices": [{"index": 0, **choice}]})


STREAMS = {
    "NousResearch/hermes-agent#80822": ["null"],
    "pydantic/pydantic-ai#5165": ['{"id": "c", "choices": null}'],
    "BerriAI/litellm#27968": ['{"id": "c", "choices": []}'],
    "BerriAI/litellm#859": [_chunk(delta={"content": None})],
    "agentuniverse-ai/agentUniverse#772": [_chunk(delta=None), '{"id": "c"}'],
    "a comment as a sign of life": [""],
}


@pytest.mark.parametrize("report", STREAMS)
async def test_streams_of_public_reports(report: str) -> None:
    parts = [_chunk(delta={"content": "It "}), *STREAMS[report], _chunk(delta={"content": "will."}),
             *STREAMS[report], _chunk(delta={}, finish_reason="stop"), "[DONE]"]  # fmt: skip

    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        events = [f"data: {part}\n\n" if part else ": ping\n\n" for part in parts]
        return web.Response(text="".join(events), content_type="text/event-stream")

    async with serving(answer) as server:
        assert (await ask_once(server, "openai", stream=True)).text == "It will."


@pytest.mark.parametrize("choices", [[], None, [{"message": None, "finish_reason": "stop"}]])
async def test_a_response_without_a_message_is_tried_again(choices: Any) -> None:
    """jingyaogong/minimind#769: no choice, or one without a message, with status 200."""

    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        return web.json_response({"id": "c", "model": "test", "choices": choices})

    async with serving(answer) as server:
        with pytest.raises(CallFailedError, match="gave up after 2 attempts"):
            await ask_once(server, "openai", attempts=2)
    assert len(server.bodies) == 2


@pytest.mark.parametrize("message", [None, {"role": "assistant", "content": None}])
async def test_a_filtered_reply_without_a_message_is_kept(message: Any) -> None:
    """jingyaogong/minimind#769: a provider's filter leaves `message: null`."""

    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        choice = {"index": 0, "message": message, "finish_reason": "content_filter"}
        return web.json_response({"id": "c", "model": "test", "choices": [choice]})

    async with serving(answer) as server:
        reply = await ask_once(server, "openai")
    assert (reply.text, reply.finish_reason) == ("", "content_filter")
    assert len(server.bodies) == 1
