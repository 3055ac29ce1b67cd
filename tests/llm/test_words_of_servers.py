"""Words of many servers for one cause: a long prompt, a refused field, the account, a wait."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from moot.core.errors import CallFailedError, RateLimitedError, RunStoppedError, TransientError
from moot.llm.endpoints.failures import failure_of_status
from moot.llm.endpoints.requested_waits import read_retry_after

FIELDS = (
    "seed",
    "temperature",
    "max_tokens",
    "response_format",
    "top_logprobs",
    "logprobs",
    "top_p",
)
LONG_PROMPTS = [
    "This model's maximum context length is 4097 tokens. However, your messages resulted in 4301.",
    "Prompt tokens (9000) exceeds context size (4096)", "Input is too long for requested model.",
    "prompt is too long: 209353 tokens > 199999 maximum", "The prompt is too long",
    "Prompt is 11543 tokens but the model context window is 4096 tokens.",
    "Input tokens exceed the configured limit of 272000 tokens.", "too many input tokens",
    "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
    "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
    "The total length of all messages is too long.", "Prompt exceeds max length",
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease it",
    "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens",
    "Input validation error: `inputs` must have less than 4095 tokens. Given: 5000",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "Please reduce the length of the messages or completion.", "exceeds token limit",
    "Range of input length should be [1, 30720]", "您的输入超出模型上下文长度限制", "输入内容过长",
    "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
    "prompt length 9000 exceeds max_seq_len 4096", "string_above_max_length",
    "'max_tokens' is too large: 1000. This model's maximum context length is 2048 tokens",
]  # fmt: skip
REFUSED_FIELDS = [
    ("seed", "Unrecognized request argument supplied: seed"),
    ("seed", 'Unknown name "seed": Cannot find field.'), ("seed", "参数seed不支持"),
    ("seed", "x does not support parameters: ['seed'], for model=y."),
    ("seed", "Le paramètre seed n'est pas pris en charge"),
    ("seed", "Parameter 'seed' wird nicht unterstützt"),
    ("temperature", "`temperature` and `top_p` cannot both be specified for this model."),
    ("temperature", "temperature: Input should be less than or equal to 1"),
    ("response_format", "'response_format.type' must be 'text' or 'json_object'"),
    ("top_logprobs", "Requested sample logprobs of 20, which is greater than max allowed: 5"),
    ("top_logprobs", "Invalid value for 'top_logprobs': must be less than or equal to 5."),
    ("max_tokens", "max_tokens is too large: 9000. It supports at most 4096 completion tokens"),
    ("max_tokens", "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
]  # fmt: skip
CAUSES: list[tuple[int, str, str, type[Exception], str]] = [
    (429, "Your account balance is insufficient", "", RunStoppedError, "account"),
    (429, "余额不足或无可用资源包,请充值。", "1113", RunStoppedError, "account"),
    (429, "Account is not active", "billing_not_active", RunStoppedError, "account"),
    (429, "Free credits exhausted. Please add a payment method", "", RunStoppedError, "account"),
    (429, "The model is overloaded", "", RateLimitedError, ""),
    (405, "Method Not Allowed", "", RunStoppedError, "base_url"),
    (410, "Gone", "", RunStoppedError, "base_url"),
    (400, "The model `x` has been decommissioned and is no longer supported.", "",
     RunStoppedError, "Check `model`"),
    (400, "模型不存在", "1211", RunStoppedError, "Check `model`"),
    (400, "The model `x` has been deprecated", "", RunStoppedError, "Check `model`"),
    (425, "Too Early", "", TransientError, ""), (498, "no capacity", "", TransientError, ""),
    (499, "closed", "", TransientError, ""), (520, "unknown", "", TransientError, ""),
    (500, "the request took too long", "", TransientError, ""),
    (400, "Your prompt mentions a temperature and was flagged", "", CallFailedError, ""),
    (503, "The model `x` does not exist", "", RunStoppedError, "Check `model`"),
    (500, "the request exceeds the available context size", "", CallFailedError, "raise it"),
]  # fmt: skip
PASSING_FAULTS = [
    "The request exceeds the rate limit", "Too many tokens, please wait before trying again.",
    "Request failed: more than 3 retries exceeded the time limit", "request header too large",
    "The model replica was retired during a rolling restart; retry",
    "payment method service timeout", "credits service: connection pool exhausted",
    "The model server is deprecated and was drained", "request queue length exceeds its limit",
    "message too large for the queue", "Free credits exhausted", "输入队列超出",
    "content filter backend took more than the time limit",
]  # fmt: skip
RATES = [
    "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 9000,"
    " please reduce your message size and try again.",
    "Too many tokens, please wait before trying again.", "The request exceeds the rate limit",
    "Input tokens per-minute limit: the request has more than 6000 tokens",
    "Request throttled: too many tokens",
]  # fmt: skip


def _body(message: str, **fields: Any) -> bytes:
    return json.dumps({"error": {"message": message, **fields}}).encode()


@pytest.mark.parametrize("message", LONG_PROMPTS)
@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_prompt_that_does_not_fit_fails_the_call(message: str, status: int) -> None:
    error = failure_of_status(status, {}, _body(message), "m", sent_fields=FIELDS)
    assert type(error) is CallFailedError
    assert "shorten the cases" in str(error)


@pytest.mark.parametrize(("field", "message"), REFUSED_FIELDS)
@pytest.mark.parametrize("status", [400, 422])
def test_a_refused_field_ends_the_run(field: str, message: str, status: int) -> None:
    error = failure_of_status(status, {}, _body(message), "m", sent_fields=FIELDS)
    assert isinstance(error, RunStoppedError)
    assert f"refuses the field `{field}`" in str(error)


@pytest.mark.parametrize(("status", "message", "code", "kind", "words"), CAUSES)
def test_each_cause_has_its_action(
    status: int, message: str, code: str, kind: type[Exception], words: str
) -> None:
    fields = {"code": code} if code else {}
    error = failure_of_status(status, {}, _body(message, **fields), "m", sent_fields=FIELDS)
    assert type(error) is kind
    assert words in str(error)


@pytest.mark.parametrize("message", PASSING_FAULTS)
@pytest.mark.parametrize("status", [500, 502, 503, 504, 520, 529])
def test_a_passing_fault_of_a_server_is_tried_again(message: str, status: int) -> None:
    error = failure_of_status(status, {}, _body(message), "m", sent_fields=FIELDS)
    assert type(error) is (RateLimitedError if status in (503, 529) else TransientError)


@pytest.mark.parametrize("message", RATES)
@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_limit_in_a_time_is_no_long_prompt(message: str, status: int) -> None:
    error = failure_of_status(status, {}, _body(message), "m", sent_fields=FIELDS)
    assert type(error) is CallFailedError
    assert "raise it" not in str(error)


def test_a_rate_limit_with_an_offer_and_a_wait_does_not_end_the_run() -> None:
    offer = "Please add a payment method to your account to increase your rate limit."
    for message in (f"Rate limit reached. {offer}", "credits used up; try again in 20s"):
        assert type(failure_of_status(429, {}, _body(message), "m")) is RateLimitedError


WAITS = [
    ("20", 20), (" 20.5 ", 20.5), ("20s", 20), ("500ms", 0.5), ("1m30s", 90), ("1m", 60),
    ("2h", 7200),
    ("2 minutes", 120), ('"20"', 20), ("20, 30", 20), ("1h 2m", 3720), ("1.5 seconds", 1.5),
]  # fmt: skip
TIME_FORMATS: dict[str, Callable[[datetime], str]] = {
    "HTTP": lambda time: format_datetime(time, usegmt=True),
    "ISO": lambda time: time.isoformat(),
    "seconds": lambda time: str(int(time.timestamp())),
    "milliseconds": lambda time: str(int(time.timestamp() * 1000)),
}
NO_WAITS = ["", "0", "-5", "nan", "inf", "soon", "0s", "5 apples", "m", "1x"]


@pytest.mark.parametrize(("value", "seconds"), WAITS)
def test_a_wait_is_read_in_each_form(value: str, seconds: float) -> None:
    assert read_retry_after({"retry-after": value}) == pytest.approx(seconds, rel=0.02)


@pytest.mark.parametrize("time_format", TIME_FORMATS)
def test_a_wait_until_a_time_is_read_in_each_form(time_format: str) -> None:
    value = TIME_FORMATS[time_format](datetime.now(UTC) + timedelta(hours=10))
    assert read_retry_after({"retry-after": value}) == pytest.approx(36000, rel=0.02)


def test_a_time_that_has_passed_names_no_wait() -> None:
    check_no_wait(format_datetime(datetime.now(UTC)))


@pytest.mark.parametrize("value", NO_WAITS)
def test_other_words_name_no_wait(value: str) -> None:
    check_no_wait(value)


def check_no_wait(value: str) -> None:
    assert read_retry_after({"retry-after": value}) is None
    assert read_retry_after({"retry-after-ms": value, "retry-after": "3"}) == 3


@pytest.mark.parametrize(("body", "seconds"), [
    ({"error": {"message": "x", "details": [{"retryDelay": "45.837906927s"}]}}, 45.837906927),
    ([{"error": {"message": "x", "details": [{"retryDelay": "34s"}]}}], 34),
    ({"error": {"message": "Rate limit reached. Please try again in 6s."}}, 6),
    ({"error": {"message": "Please try again in 1m2.5s. Visit the page."}}, 62.5),
    ({"error": {"message": "Please retry after 20 seconds."}}, 20),
    ({"message": "x", "retry_after": 1.5}, 1.5), ({"error": {"message": "try again later"}}, None),
    ({"error": {"message": "try again after 5 attempts"}}, None),
    ({"message": "x", "retry_after": True}, None), ({"message": "x", "retryDelay": "0s"}, None),
])  # fmt: skip
def test_a_wait_in_the_body_counts_without_a_header(body: Any, seconds: float | None) -> None:
    error = failure_of_status(429, {}, json.dumps(body).encode(), "m")
    assert isinstance(error, RateLimitedError)
    assert error.retry_after == pytest.approx(seconds) if seconds else error.retry_after is None
    error = failure_of_status(429, {"retry-after": "7"}, json.dumps(body).encode(), "m")
    assert isinstance(error, RateLimitedError)
    assert error.retry_after == 7
