"""Request fields that a server refuses: which one it names, and the setting that omits it."""

import re
from collections.abc import Collection

from moot.llm.endpoints.error_bodies import ErrorBody

_ALIASES = {
    "response_format": (
        "json_schema",
        "json schema",
        "structured output",
        "structured outputs",
        "guided_json",
    ),
    "top_logprobs": ("sample logprobs", "top logprobs"),
    "format": ("json schema",),
    "output_config": ("output_config.format",),
}
"""What servers call a field besides its name."""
_IGNORED_FIELDS = {"model", "messages", "stream", "system", "options", "prompt_cache_key"}
"""Fields without which there is no request; another setting is the cause."""
_REFUSAL = re.compile(
    r"unsupported|not supported|does ?n[o']t support|do not support|unknown|unrecogni[sz]ed|"
    r"unexpected"
    r"|not permitted|not allowed|extra (inputs|fields|forbidden)|forbidden|invalid|not (be )?served"
    r"|must be|should be|at most|at least|less than|greater than|out of range|deprecated"
    r"|cannot (be|both)"
    r"|not available|not implemented|only (the )?default|cannot find field|no longer|disabled"
    r"|不支持|无效|非法|未知|不允许|nicht (unterst|erlaubt|bekannt)"
    r"|ung[uü]ltig|n['’]est pas|no (est[aá]|es) ",
    re.IGNORECASE,
)
_REMEDIES = {
    "seed": "Write `seed: null` in the model's entry: no seed is sent then.",
    "temperature": (
        "Write `temperature: null` in the model's entry: none is sent then; or `reasoning: true`"
        " for"
        " a reasoning model."
    ),
    "max_tokens": (
        "Write `reasoning: true` in the model's entry if it is a reasoning model, which is sent"
        " `max_completion_tokens`; otherwise another `max_tokens`, or `max_tokens: null`, which"
        " sends none."
    ),
    "max_completion_tokens": (
        "Write `reasoning: false` in the model's entry, which sends `max_tokens`; or another"
        " `max_tokens`, or `max_tokens: null`, which sends none."
    ),
    "response_format": (
        "Write `structured: prompted` in the model's entry: the form of replies is described in the"
        " prompt then."
    ),
    "stream_options": "Write `stream: false` in the model's entry.",
    "num_ctx": "Change `context` in the model's entry.",
}
_REMEDIES |= dict.fromkeys(("format", "output_config"), _REMEDIES["response_format"])
_REMEDIES["num_predict"] = _REMEDIES["max_tokens"]


def find_refused_field(status: int, body: ErrorBody, sent_fields: Collection[str]) -> str:
    """Return the field of the request that a server refuses, "" if it names none.

    Args:
        status: of the response; only 400 and 422 concern fields.
        body: of the response.
        sent_fields: the fields that were sent.
    """
    if status not in (400, 422) or body.names_length(status):
        # a prompt that does not fit concerns one call; such messages also name `max_tokens`
        return ""
    names = [name for name in sent_fields if name not in _IGNORED_FIELDS]
    for name in body.field_names:
        if name in names:
            return name
    longest_first = sorted(names, key=len, reverse=True)  # top_logprobs before logprobs
    positions = {name: _find_position(body.message, name) for name in longest_first}
    refused_names = [name for name in longest_first if positions[name] >= 0]
    return min(refused_names, key=lambda name: positions[name], default="")


def _find_position(message: str, name: str) -> int:
    """Return the position at which a message refuses a field, -1 if it does not."""
    for spelling in (name, *_ALIASES.get(name, ())):
        whole_word = rf"(?<![A-Za-z0-9_-]){re.escape(spelling)}(?![A-Za-z0-9_-])"
        match = re.search(whole_word, message, re.IGNORECASE)
        is_word = spelling.isalpha() and spelling.islower()  # "temperature" may be part of a prompt
        if match and (not is_word or _REFUSAL.search(message)):
            return match.start()
    return -1


def field_remedy(name: str, body: ErrorBody) -> str:
    """Return the setting that omits or changes a field."""
    if name == "top_logprobs":
        limits = [int(number) for number in re.findall(r"\b\d+\b", body.message)]
        limit = min((number for number in limits if 0 < number < 20), default=5)
        return f"Write `top_logprobs: {limit}` in the model's entry."
    return _REMEDIES.get(name) or f"Change or remove `{name}` under `parameters` of the model."
