"""Anthropic's messages API: the requests that it rejects, its errors, and its replies."""

from typing import Any

from aiohttp import web

from invented_replies import Reply

REQUEST_FIELDS = {
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
STOP_REASONS = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}


def error_response(
    status: int, kind: str, message: str, headers: dict[str, str] | None = None
) -> web.Response:
    error = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_0"}
    return web.json_response(error, status=status, headers=headers)


def refusal(kind: str, status: int, message: str, headers: dict[str, str]) -> web.Response:
    """Return a fault as Anthropic's error."""
    status, error = REFUSALS.get(kind, (status, "invalid_request_error"))
    return error_response(status, error, MESSAGES.get(kind, message), headers)


def problem_of(request: web.BaseRequest, body: dict[str, Any]) -> web.Response | None:
    """Return the error for an invalid request, or None."""
    if not request.headers.get("x-api-key") or "Authorization" in request.headers:
        return error_response(401, "authentication_error", "x-api-key header is required")
    problem = request_problem(request, body)
    return error_response(400, "invalid_request_error", problem) if problem else None


def request_problem(request: web.BaseRequest, body: dict[str, Any]) -> str:
    """Return what Anthropic says about an invalid request, or an empty text."""
    if request.headers.get("anthropic-version") != "2023-06-01":
        return "anthropic-version: header is required"
    if extra_fields := sorted(set(body) - REQUEST_FIELDS):
        return f"{extra_fields[0]}: Extra inputs are not permitted"
    if "max_tokens" not in body:
        return "max_tokens: Field required"
    roles = {message["role"] for message in body["messages"]}
    if not roles or not roles <= {"user", "assistant"}:
        return "messages: Unexpected role"
    return schema_problem(body.get("output_config", {}).get("format", {}).get("schema", {}))


def schema_problem(schema: Any) -> str:
    """Return what Anthropic says about an invalid JSON schema, or an empty text."""
    if isinstance(schema, list):
        return next(filter(None, map(schema_problem, schema)), "")
    if not isinstance(schema, dict):
        return ""
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        return "'additionalProperties' must be explicitly set to false"
    for name in UNKNOWN_TO_SCHEMAS:
        if name in schema:
            return f"property '{name}' is not supported"
    return schema_problem(list(schema.values()))


def message(reply: Reply, body: dict[str, Any], digest: str) -> dict[str, Any]:
    """Return a reply, with thinking if the request wants it; the cache holds part of the prompt."""
    thoughts, texts = [], []
    if "thinking" in body:
        thoughts = [{"type": "thinking", "thinking": "Thinking.", "signature": ""}]
    if reply.content or not thoughts:
        texts = [{"type": "text", "text": reply.content}]
    cached = reply.prompt_tokens // 3
    usage = {
        "input_tokens": reply.prompt_tokens - 2 * cached,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": cached,
        "output_tokens": reply.completion_tokens,
        "service_tier": "standard",
    }

    name = {
        "id": f"msg_{digest[:12]}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
    }
    return {
        **name,
        "content": [*thoughts, *texts],
        "stop_reason": STOP_REASONS[reply.finish],
        "usage": usage,
    }
