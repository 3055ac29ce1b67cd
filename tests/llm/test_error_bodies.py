"""The words of a server reach the user, whatever the form of its error."""

import json
from typing import Any

import pytest
from aiohttp import web

from chat_servers import ask_once, completion, serving
from moot.core.errors import CallFailedError, MootError, RunStoppedError
from moot.llm.endpoints.error_bodies import error_in_success, read_error_body
from moot.llm.endpoints.failures import failure_of_status

WORDS = "the flux capacitor is empty"
FORMS: dict[str, Any] = {
    "error": {"error": WORDS},
    "error.message": {"error": {"message": WORDS, "type": "server_error", "param": None}},
    "list": [{"error": {"code": 500, "message": WORDS, "status": "INTERNAL"}}],
    "detail": {"detail": WORDS},
    "details": {"detail": [{"loc": ["body", "x"], "msg": WORDS, "type": "value_error"}]},
    "message": {"message": WORDS, "object": "error"},
    "errors": {"errors": [{"message": WORDS, "code": 7}], "success": False},
    "raw": {"error": {"message": "Provider returned error", "code": 500,
                      "metadata": {"raw": json.dumps({"error": {"message": WORDS}})}}},
    "raw text": {"error": {"message": "Provider returned error", "metadata": {"raw": WORDS}}},
    "nested": {"error": {"error": {"error": {"message": WORDS}}}},
    "text": WORDS,
    "page": f"<!DOCTYPE html><html><head><title>Oh no</title><style>b {{}}</style></head>"
            f"<body><h1>Sorry</h1><p>{WORDS}</p></body></html>",
    "json text": json.dumps(WORDS),
    "unknown fields": {"fault": {"cause": WORDS}},
}  # fmt: skip


def _encode(form: Any) -> bytes:
    return form.encode() if isinstance(form, str) else json.dumps(form).encode()


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("status", [400, 418, 429, 500, 503])
def test_the_message_is_not_repeated_and_omits_the_status(name: str, status: int) -> None:
    message = str(failure_of_status(status, {}, _encode(FORMS[name]), "m"))
    assert message.count(WORDS) == 1
    assert message.startswith(f"HTTP {status} ")
    assert message.count(str(status)) == 1 or name == "list"
    assert "<" not in message


@pytest.mark.parametrize("content", [b"", b"null", b"{}", b"[]", b"   "])
def test_an_empty_body_leaves_the_name_of_the_status(content: bytes) -> None:
    assert str(failure_of_status(500, {}, content, "m")) == "HTTP 500 Internal Server Error"


@pytest.mark.parametrize("content", [b"[" * 100_000, b"\xff\xfe", b'{"error": [[[[1]]]]}', b"1"])
def test_no_body_stops_the_reader(content: bytes) -> None:
    assert len(str(failure_of_status(500, {}, content, "m"))) < 400


ENDS = {
    "Check the key and the account": [
        {"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}},
        {"error": {"message": "This request requires more credits, or fewer max_tokens"}},
        {"error": {"message": "Insufficient Balance", "type": "unknown_error"}},
        {"error": {"message": "Your credit balance is too low to access the API"}},
        {"error": {"message": "Incorrect API key provided: sk-***"}},
        {"detail": "Invalid API key"},
        [{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key."}}],
        {"error": {"message": "No auth credentials found", "code": 401}},
        {
            "type": "error",
            "error": {"type": "authentication_error", "message": "invalid x-api-key"},
        },
    ],
    "Check `model`": [
        {"error": {"code": "model_not_found", "message": "no access"}},
        {"error": {"message": "The model `gpt-9` does not exist or you do not have access to it."}},
        {"error": "model 'gpt-9' not found"},
        {"error": {"message": "gpt-9 is not a valid model ID", "code": 400}},
        {"detail": "Unknown model: gpt-9"},
        {"error": {"message": "Model gpt-9 is not supported", "type": "invalid_request_error"}},
    ],
}


REMEDIES_AND_BODIES: list[tuple[str, Any]] = []
for each_remedy, bodies in ENDS.items():
    REMEDIES_AND_BODIES += [(each_remedy, each_body) for each_body in bodies]


@pytest.mark.parametrize("status", [400, 422, 500])
@pytest.mark.parametrize(("remedy", "body"), REMEDIES_AND_BODIES, ids=str)
def test_key_credit_and_model_end_the_run_whatever_the_status(
    status: int, remedy: str, body: Any
) -> None:
    failure = failure_of_status(
        status, {}, _encode(body), "m", sent_fields=["max_tokens", "model", "messages"]
    )
    assert isinstance(failure, RunStoppedError)
    assert remedy in str(failure)


@pytest.mark.parametrize(
    "message",
    [
        "The model is overloaded",
        "You exceeded your current quota, please check your plan",
        "model is loading",
        "Internal error while the model was running",
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_does_not_end_the_run(message: str, status: int) -> None:
    failure = failure_of_status(status, {}, _encode({"error": {"message": message}}), "m")
    assert not isinstance(failure, RunStoppedError)


SUCCESS: list[tuple[Any, str, type[MootError], int]] = [
    ({"error": {"code": 402, "message": WORDS}}, WORDS, RunStoppedError, 1),
    ({"error": {"code": 429, "message": WORDS}}, "waits.max_total", CallFailedError, 2),
    ({"error": {"code": 502, "message": WORDS}, "choices": None}, "gave up", CallFailedError, 2),
    ({"error": {"code": "x", "message": WORDS}, "choices": []}, "gave up", CallFailedError, 2),
    ({"error": {"type": "overloaded_error", "message": WORDS}}, "max_total", CallFailedError, 2),
    ({"error": {"code": 400, "message": WORDS}}, "HTTP 400", CallFailedError, 1),
    ([{"error": {"code": 400, "message": WORDS}}], "HTTP 400", CallFailedError, 1),
    ({"error": "no POST /chat/completions"}, "does it end in /v1", RunStoppedError, 1),
    ({"error": "Unexpected endpoint or method. (POST /c)"}, "end in /v1", RunStoppedError, 1),
    ({"detail": "Not Found"}, "does it end in /v1", RunStoppedError, 1),
    ({"error": {"message": "model 'x' not found"}}, "Check `model`", RunStoppedError, 1),
]


@pytest.mark.parametrize(("body", "message", "kind", "requests"), SUCCESS, ids=str)
async def test_an_error_with_status_200_is_an_error(
    body: Any, message: str, kind: type[MootError], requests: int
) -> None:
    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        return web.json_response(body)

    waits = {"max_total": 0.7, "max_backoff": 0.45}
    async with serving(answer) as server:
        with pytest.raises(kind, match=message) as failure:
            await ask_once(server, "openai", attempts=2, waits=waits)
    assert len(server.bodies) == requests
    assert read_error_body(json.dumps(body).encode()).message in str(failure.value)


@pytest.mark.parametrize("endpoint", ["openai", "anthropic", "ollama"])
def test_a_reply_is_not_an_error(endpoint: str) -> None:
    assert not error_in_success(completion(endpoint, "It will."))
    assert not error_in_success(completion(endpoint, "It will.") | {"error": None})


@pytest.mark.parametrize("text", ['{"prediction": "WON"} Let me know!', "plain words"])
async def test_a_generation_that_the_server_refused_is_a_reply(text: str) -> None:
    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        error = {"message": "Failed to generate JSON", "failed_generation": text}
        return web.json_response({"error": error | {"code": "json_validate_failed"}}, status=400)

    async with serving(answer) as server:
        assert (await ask_once(server, "openai")).text == text
    assert len(server.bodies) == 1
