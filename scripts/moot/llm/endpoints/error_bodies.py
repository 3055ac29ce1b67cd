"""The content of an error's body, in any form: JSON, a web page, or text."""

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus

from moot.core.types import Json, JsonObject
from moot.llm.endpoints.requested_waits import read_wait_in_body
from moot.llm.parsing.plain_text import shorten
from moot.llm.redaction import redacted

_MESSAGE_FIELDS = (
    "message",
    "msg",
    "error_message",
    "detail",
    "error",
    "errors",
    "title",
    "reason",
)
"""Fields that hold a message, or an object or a list with one; the first that does counts."""
_CODE_FIELDS = ("code", "type", "status", "reason")
_FIELD_NAMES = ("param", "loc")
_MAX_DEPTH = 8
_MAX_WORDS_CHARS = 200
_ACCOUNT_CODES = {
    "insufficient_quota",
    "billing_hard_limit_reached",
    "invalid_api_key",
    "api_key_invalid",
    "authentication_error",
    "account_deactivated",
    "insufficient_balance",
    "billing_not_active",
    "arrearage",
    "no_db_connection",  # of LiteLLM without a database, for a key that it does not know
    "402",
}
_MODEL_CODES = {"model_not_found", "deploymentnotfound", "model_not_supported"}
_CREDIT = re.compile(
    r"credit balance is too low"
    r"|(insufficient|not enough|no|out of|run out of|negative) (funds|credits?|balance)\b"
    r"|(requires more|add|purchase) credits\b|payment required|account .{0,40}deactivated",
    re.IGNORECASE,
)
_NO_CREDIT_LEFT = re.compile(
    r"(funds|credits?|balance)\b.{0,20}\b(insufficient|exhausted|used up|depleted|negative)\b"
    r"|account is not active|余额不足|欠费|额度已用完",
    re.IGNORECASE,
)
"""Further words for an empty account; a server with a fault of its own may use them as well."""
_KEY = re.compile(
    r"(invalid|incorrect|wrong|missing|bad|expired|malformed|no|unknown) (api|access|auth\w*)"
    r"[ _-]?(key|token)\b"
    r"|\b(api|access)[ _-]?(key|token) .{0,40}?(not valid|invalid|incorrect|not found|expired|"
    r"missing"
    r"|required|revoked|disabled)|no auth credentials|authentication (failed|fails|error)",
    re.IGNORECASE,
)
_MODEL = re.compile(
    r"(unknown|no such|invalid|unsupported|unrecognized) model\b"
    r"|\bmodel\b[^.]{0,120}? (not found|not exist|does not exist|is not available|not loaded"
    r"|could not be found|is unknown|is not a valid model|is not supported)\b"
    r"|is not a valid model( id)?\b|no (endpoints|deployments?|provider\w*) (were )?found",
    re.IGNORECASE,
)
_MODEL_WITHDRAWN = re.compile(
    r"\bmodel\b[^.]{0,120}? (deprecated|decommissioned|retired|no longer (supported|available))\b"
    r"|模型不存在",
    re.IGNORECASE,
)
_PATH = re.compile(
    r"(no|unknown|unexpected|invalid|unsupported) (route|endpoint|path|url|post|handler|method)\b"
    r"|(cannot|has no) (post|get)\b|not found|method not allowed",
    re.IGNORECASE,
)
_CONTEXT = re.compile(
    r"context[ _-]?(length|window|size)|context overflow|exceeds?( the)? context\b",
    re.IGNORECASE,
)
_PROMPT = (
    r"(prompt|inputs?|messages?|content|conversation|request|sequence|total tokens"
    r"|tokens in request|string|token count)\b"
)
_PROMPT_TOO_LONG = re.compile(
    rf"{_PROMPT}.{{0,80}}?(?<!took )(?<!taking )\b(too (long|large)|longer than"
    r"|(exceeds?|more than|>) .{0,40}?"
    r"(length|len|limit|tokens?|size|\w*_len)\b)"
    rf"|{_PROMPT}.{{0,40}}?\b(must (be|have) (<=?|less than|at most)|length should be) .{{0,40}}\d"
    r"|too many (input )?tokens|exceeds? (the )?token limit|reduce the length|(above|maximum)_?[ ]?"
    r"(max|model|prompt|input)_length|maximum model length|\bprompt is \d+ tokens"
    r"|string with maximum length|(string_above_max_length)"
    r"|上下文长度|(输入|提示|内容).{0,12}(过长|超长|超出|超过)",
    re.IGNORECASE,
)
"""Words of servers for a prompt that does not fit, whatever they call their context."""
_RATE = re.compile(
    r"rate[ _-]?limit|per[ _-]?(second|minute|hour|day)\b|\b[RT]P[MD]\b|please wait|thrott",
    re.IGNORECASE,
)
"""Words about the number of requests or tokens in a time, which no shorter prompt changes."""
_REFUSALS = (400, 404, 413, 422)
"""Statuses of a server that refuses the request; other statuses also describe passing faults."""
_LENGTH = re.compile(rf"{_CONTEXT.pattern}|too many tokens|too long|input tokens", re.IGNORECASE)
_TAG = re.compile(r"<(script|style)\b.*?</\1>|<!--.*?-->|<[^>]*>", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """The content of an error's body.

    Attributes:
        message: in the server's own words, "" if there are none.
        codes: names and numbers of the error.
        field_names: the request fields that the server names as the cause.
        failed_generation: a reply that the server did not accept as JSON.
        wait: the seconds that the server asks to wait; None if the body names none.
    """

    message: str
    codes: tuple[str, ...] = ()
    field_names: tuple[str, ...] = ()
    failed_generation: str = ""
    wait: float | None = None

    def text_for(self, status: int) -> str:
        """Return the first code and the message, without text that the status already expresses."""
        codes = [code for code in self.codes if code != str(status)]
        code = codes[0] if codes and codes[0] not in self.message else ""
        text = f"{code} {self.message}".strip().removesuffix(".")
        if text or status not in set(HTTPStatus):
            return text
        return HTTPStatus(status).phrase

    def names_account(self, status: int) -> bool:
        """Return whether the key or the account is the cause of an error with this status."""
        if any(code.casefold() in _ACCOUNT_CODES for code in self.codes):
            return True
        if _CREDIT.search(self.message) or _KEY.search(self.message):
            return True
        is_passing = status not in (*_REFUSALS, 402, 429) or self.wait is not None
        return not is_passing and bool(_NO_CREDIT_LEFT.search(self.message))

    def names_unknown_model(self, status: int) -> bool:
        """Return whether the server does not know the model, or no longer has it."""
        is_coded = any(code.casefold() in _MODEL_CODES for code in self.codes)
        if is_coded or _MODEL.search(self.message):
            return True
        return status in _REFUSALS and bool(_MODEL_WITHDRAWN.search(self.message))

    def names_length(self, status: int) -> bool:
        """Return whether the prompt is longer than the server's context."""
        return bool(_LENGTH.search(self._text_with_codes)) or self._names_long_prompt(status)

    def names_context(self, status: int) -> bool:
        """Return whether the context is certainly the cause.

        "took too long" may also describe the server.
        """
        return bool(_CONTEXT.search(self._text_with_codes)) or self._names_long_prompt(status)

    def _names_long_prompt(self, status: int) -> bool:
        """Return whether the server refuses the prompt because of its length, not of a rate."""
        text = self._text_with_codes
        is_refusal = status in _REFUSALS and not _RATE.search(text)
        return is_refusal and bool(_PROMPT_TOO_LONG.search(text))

    @property
    def _text_with_codes(self) -> str:
        return f"{self.message} {' '.join(self.codes)}"

    def names_unknown_path(self) -> bool:
        """Return whether the server does not know the address below `base_url`."""
        return bool(_PATH.search(self.message))

    def status(self) -> int:
        """Return the HTTP status that the error states itself, 0 if it states none."""
        numbers = [int(code) for code in self.codes if re.fullmatch(r"[3-5]\d\d", code)]
        if numbers:
            return numbers[0]
        names = [code.casefold() for code in self.codes]
        return next((_STATUS_OF_NAME[name] for name in names if name in _STATUS_OF_NAME), 0)


_STATUS_OF_NAME = {
    "rate_limit_exceeded": 429,
    "rate_limit_error": 429,
    "resource_exhausted": 429,
    "overloaded_error": 529,
    "unavailable": 503,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "invalid_request_error": 400,
    "invalid_argument": 400,
    "internal": 500,
    "api_error": 500,
    "server_error": 500,
}
"""Names of errors in a body with status 200, as the status that they are sent with elsewhere."""


def read_error_body(content: bytes) -> ErrorBody:
    """Read the body of an error response."""
    text = content.decode("utf-8", "replace")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return ErrorBody(_plain_text(text), wait=read_wait_in_body((), _plain_text(text)))
    objects = list(_objects_in(body))
    message = _message_in(body) or ("" if body in (None, {}, [], "") else text)
    upstream = _upstream_message(objects)
    if upstream and upstream not in message:
        message = f"{message}: {upstream}" if message else upstream
    generations = [part.get("failed_generation") for part in objects]
    return ErrorBody(
        message,
        tuple(_codes_in(objects)),
        tuple(_field_names_in(objects)),
        next((part for part in generations if part and isinstance(part, str)), ""),
        read_wait_in_body(objects, message),
    )


def describe_body(content: bytes) -> str:
    """Return the beginning of a response's words, for a message; "(empty)" without any."""
    words = _plain_text(content.decode("utf-8", "replace"))
    return redacted(shorten(words, _MAX_WORDS_CHARS)) or "(empty)"


def error_in_success(body: Json) -> bool:
    """Return whether a decoded response with status 200 has an error and no reply."""
    if isinstance(body, list):
        return len(body) == 1 and error_in_success(body[0])
    if not isinstance(body, dict):
        return False
    has_reply = any(body.get(field) for field in ("choices", "content", "message"))
    if body.get("error"):
        return not has_reply or isinstance(body.get("message"), str)
    says_something = isinstance(body.get("message"), str) or bool(body.get("detail"))
    return says_something and not body.get("choices") and "content" not in body


def _plain_text(text: str) -> str:
    """Return a text, or the words of a web page: its title, then its body."""
    if not re.search(r"<(!doctype|html|head|body|title|h1)\b", text, re.IGNORECASE):
        return text.strip()
    spaced = re.sub(r"</(title|h\d|p|div|li|tr)>", ". ", text, flags=re.IGNORECASE)
    words = html.unescape(_TAG.sub(" ", spaced))
    return re.sub(r"\s*\.(\s*\.)*", ".", " ".join(words.split())).strip(". ")


def _objects_in(body: Json, depth: int = 0) -> Iterator[JsonObject]:
    """Yield the objects in a body, the outer before the inner ones."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(body, dict):
        yield body
        parts = [*body.values()]
    else:
        parts = body if isinstance(body, list) else []
    for part in parts:
        yield from _objects_in(part, depth + 1)


def _message_in(body: Json, depth: int = 0) -> str:
    """Return the messages in a body, joined; "" if there is none."""
    if depth > _MAX_DEPTH:
        return ""
    if isinstance(body, str):
        return _message_in_text(body, depth)
    if isinstance(body, list):
        messages = [_message_in(part, depth + 1) for part in body]
        return "; ".join(dict.fromkeys(filter(None, messages)))
    if not isinstance(body, dict):
        return ""
    for field in ("error", *_MESSAGE_FIELDS) if depth == 0 else _MESSAGE_FIELDS:
        if message := _message_in(body.get(field), depth + 1):
            location = body.get("loc") if field == "msg" else None
            names = [str(part) for part in location] if isinstance(location, list) else []
            return f"{'.'.join(names)}: {message}" if names else message
    return ""


def _message_in_text(text: str, depth: int) -> str:
    """Return a text, or the message in it if it is JSON of a server behind this one (Ollama)."""
    if not text.lstrip().startswith("{"):
        return text.strip()
    try:
        return _message_in(json.loads(text).get("error"), depth + 1) or text.strip()
    except (ValueError, RecursionError):
        return text.strip()


def _upstream_message(objects: list[JsonObject]) -> str:
    """Return the message of the server behind a gateway, which sends it as `raw`."""
    for part in objects:
        raw = part.get("raw")
        if isinstance(raw, str) and raw.strip():
            return read_error_body(raw.encode("utf-8", "replace")).message
        if isinstance(raw, dict):
            return _message_in(raw)
    return ""


def _codes_in(objects: list[JsonObject]) -> Iterator[str]:
    """Yield the codes of an error; the codes of the innermost object come last."""
    for part in objects:
        for field in _CODE_FIELDS:
            code = part.get(field)
            if isinstance(code, (str, int)) and code and len(str(code)) < 60:
                yield str(code)


def _field_names_in(objects: list[JsonObject]) -> Iterator[str]:
    """Yield the request fields that an error names in separate fields."""
    for part in objects:
        for field in _FIELD_NAMES:
            value = part.get(field)
            names = value if isinstance(value, list) else [value]
            for name in names:
                if isinstance(name, str):
                    yield from re.split(r"[.\[\]]+", name)
