"""Anthropic's messages API, as strict as it is: what it refuses, how it says so, and the form of
its replies.
"""

from typing import Any

from aiohttp import web

from invented_replies import Reply

KNOWN = {
    "model",
    "max_tokens",
    "messages",
    "system",
    "temperature",
    "top_p",
    "top_k",
    "thinking",
    "output_config",
}
UNKNOWN_TO_SCHEMAS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")
REFUSALS = {
    "rate_limited": (429, "rate_limit_error"),
    "rate_limited_retry_after": (429, "rate_limit_error"),
    "server_error": (500, "api_error"),
    "bad_gateway": (502, "api_error"),
    "unavailable": (529, "overloaded_error"),
    "insufficient_quota": (400, "invalid_request_error"),
    "invalid_key": (401, "authentication_error"),
    "model_not_found": (404, "not_found_error"),
}
MESSAGES = {
    "insufficient_quota": (
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing."
    ),
}
STOPPED = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}


def refused(
    status: int, kind: str, message: str, headers: dict[str, str] | None = None
) -> web.Response:
    error = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_0"}
    return web.json_response(error, status=status, headers=headers)


def refusal(kind: str, status: int, message: str, headers: dict[str, str]) -> web.Response:
    """A fault in Anthropic's words."""
    status, error = REFUSALS.get(kind, (status, "invalid_request_error"))
    return refused(status, error, MESSAGES.get(kind, message), headers)


def problem_of(request: web.BaseRequest, body: dict[str, Any]) -> web.Response | None:
    """What is wrong with a request; None for nothing."""
    if not request.headers.get("x-api-key") or "Authorization" in request.headers:
        return refused(401, "authentication_error", "x-api-key header is required")
    roles = {message["role"] for message in body["messages"]}
    problems = [
        "anthropic-version: header is required"
        * (request.headers.get("anthropic-version") != "2023-06-01"),
        *(f"{name}: Extra inputs are not permitted" for name in sorted(set(body) - KNOWN)),
        "max_tokens: Field required" * ("max_tokens" not in body),
        "messages: Unexpected role" * (not roles or not roles <= {"user", "assistant"}),
        schema_problem(body.get("output_config", {}).get("format", {}).get("schema", {})),
    ]
    return next(
        (refused(400, "invalid_request_error", problem) for problem in problems if problem), None
    )


def schema_problem(schema: Any) -> str:
    if isinstance(schema, list):
        return next(filter(None, map(schema_problem, schema)), "")
    if not isinstance(schema, dict):
        return ""
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        return "'additionalProperties' must be explicitly set to false"
    named = next(
        (f"property '{name}' is not supported" for name in UNKNOWN_TO_SCHEMAS if name in schema), ""
    )
    return named or schema_problem(list(schema.values()))


def message(reply: Reply, body: dict[str, Any], digest: str) -> dict[str, Any]:
    """A reply: thinking first where it was asked for, and a third of the prompt from the cache."""
    thought = (
        [{"type": "thinking", "thinking": "Thinking.", "signature": ""}]
        if "thinking" in body
        else []
    )
    cached = reply.prompt_tokens // 3
    usage = {
        "input_tokens": reply.prompt_tokens - 2 * cached,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": cached,
        "output_tokens": reply.completion_tokens,
        "service_tier": "standard",
    }
    said = [{"type": "text", "text": reply.content}] if reply.content or not thought else []
    name = {
        "id": f"msg_{digest[:12]}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
    }
    return {
        **name,
        "content": [*thought, *said],
        "stop_reason": STOPPED[reply.finish],
        "usage": usage,
    }
