"""Requests to a model and its replies: plain values, the same for every endpoint."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from moot.core.endpoint_traits import endpoint_traits
from moot.core.model_config import ModelConfig
from moot.core.types import Fields, Json, JsonObject
from moot.llm.identity import model_asked


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt; `role` is system, user or assistant."""

    role: str
    content: str

    def to_fields(self) -> dict[str, str]:
        """Return the fields that servers take; an unpaired surrogate becomes a question mark."""
        content = self.content.encode("utf-8", "replace").decode()
        return {"role": self.role, "content": content}


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that is sent for one call.

    Equal requests to one server count as the same question.

    Attributes:
        endpoint: the endpoint's kind, for example `openai`.
        model: the model's name as the server knows it.
        messages: the prompt.
        parameters: temperature, max_tokens, seed, context and all else that the configuration
            sends.
        schema: the JSON schema that the reply must follow, if it is sent (`structured: native`).
        choices: the label words whose log-probabilities are asked for, instead of generated text.
        reply_schema: the JSON schema that the reply should follow, sent or described in the prompt.
        labels: the labels that a free text may state. Like `reply_schema` they are no part of the
            question: a stand-in answers by them.
    """

    endpoint: str
    model: str
    messages: tuple[Message, ...]
    parameters: Fields
    schema: Fields | None = None
    choices: tuple[str, ...] = ()
    reply_schema: Fields | None = field(default=None, compare=False, repr=False)
    labels: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def to_json(self, served_as: str = "") -> str:
        """Return the request and its server as canonical JSON: sorted keys, no spaces.

        Args:
            served_as: the server's identity; left out if it is "" (a model inside the process).
        """
        content = {
            "endpoint": self.endpoint,
            "model": self.model,
            "messages": [[message.role, message.content] for message in self.messages],
            "parameters": dict(self.parameters),
            "schema": self.schema,
            "choices": self.choices,
            **({"served_as": served_as} if served_as else {}),
        }
        return _encode_canonical_json(content)

    @classmethod
    def from_json(cls, text: str) -> "Request":
        """Return the request that `to_json` wrote, without the server.

        The order of a schema's fields counts. Canonical JSON loses it; `required` keeps it.
        """
        content = json.loads(text)
        content.pop("served_as", None)
        content["schema"] = _restore_field_order(content["schema"])
        messages = tuple(Message(*message) for message in content.pop("messages"))
        return cls(messages=messages, choices=tuple(content.pop("choices")), **content)

    @property
    def prompt_characters(self) -> int:
        """The length of all messages in characters."""
        return sum(len(message.content) for message in self.messages)

    @property
    def prompt_bytes(self) -> int:
        """The length of all messages in UTF-8, from which the prompt's tokens are estimated."""
        return sum(len(message.content.encode("utf-8", "replace")) for message in self.messages)


def _restore_field_order(schema: Json) -> Json:
    if isinstance(schema, list):
        return [_restore_field_order(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts = {name: _restore_field_order(part) for name, part in schema.items()}
    required, properties = parts.get("required"), parts.get("properties")
    if isinstance(required, list) and isinstance(properties, dict):
        parts["properties"] = {
            name: properties[name] for name in [*required, *properties] if name in properties
        }
    return parts


def request_to(
    model: ModelConfig,
    messages: tuple[Message, ...],
    *,
    max_tokens: int,
    temperature: float,
    seed: int,
    schema: Fields | None = None,
    choices: tuple[str, ...] = (),
    labels: tuple[str, ...] = (),
) -> Request:
    """Return a request to a configured model.

    Args:
        model: its entry in the configuration; its `parameters` go along.
        messages: the prompt.
        max_tokens: maximum of the reply.
        temperature, seed: of sampling; a reasoning model is sent neither.
        schema: of the reply; sent where the model's entry says `structured: native`.
        choices: label words to score instead of generating text.
        labels: the labels that a free text may state.
    """
    parameters: JsonObject = {"max_tokens": max_tokens, **model.parameters}
    if not model.reasoning:
        parameters |= {"temperature": temperature, "seed": seed}
    for name in model.omit:
        parameters.pop(name, None)
    keys = endpoint_traits(model.endpoint).request_keys
    parameters |= model.model_dump(mode="json", include=set(keys))
    native = schema if model.structured == "native" else None
    asked_name = model_asked(model)
    sent_messages = fold_system_message(messages) if model.system_role == "user" else messages
    return Request(
        model.endpoint, asked_name, sent_messages, parameters, native, choices, schema, labels
    )


def fold_system_message(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return messages without a system role: its text begins the first message of the user."""
    system_texts = [message.content for message in messages if message.role == "system"]
    first, *later = [message for message in messages if message.role != "system"]
    return (Message("user", "\n\n".join([*system_texts, first.content])), *later)


def call_id(request_json: str, replicate: int) -> str:
    """Return the ledger's key: a digest of the request, the server and the replicate."""
    return hashlib.sha256(
        f"{replicate}\n{request_json}".encode("utf-8", "surrogatepass")
    ).hexdigest()


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply with its cost.

    Attributes:
        text: the reply's text, unparsed.
        reasoning: the model's separate reasoning text, if the endpoint gives one.
        logprobs: label word to log-probability, for a request with choices; words that the server
            did not list are missing.
        unlisted_logprob: the log-probability of the last token listed, an upper bound for all
            others.
        finish_reason: why generation ended (stop, length, content_filter, ...).
        prompt_tokens, completion_tokens, cached_tokens: as the server counted them.
        reasoning_tokens: the part of the completion tokens that went into reasoning.
        seconds: wall-clock time of the successful attempt.
        attempts: how many attempts it took, the successful one included.
        cost_usd: by the model's configured price, of all attempts that the server counted.
        unusable_tokens, unusable_usd: of earlier attempts, whose replies were empty but counted by
            the server; the dollars are part of `cost_usd`.
        price: the price behind `cost_usd`, in words; "" if the model is free.
        created_at: UTC time, ISO 8601.
        started_at, ended_at: of the successful attempt, UTC, ISO 8601 with milliseconds.
        served_model: the model that the server ran (name, digest), as it states.
        provider, system_fingerprint, service_tier, response_id: who served it, if the server states
            it.
    """

    text: str
    reasoning: str = ""
    logprobs: Mapping[str, float] = field(default_factory=dict)
    finish_reason: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    seconds: float = 0.0
    attempts: int = 1
    cost_usd: float = 0.0
    created_at: str = ""
    served_model: str = ""
    provider: str = ""
    system_fingerprint: str = ""
    service_tier: str = ""
    response_id: str = ""
    reasoning_tokens: int = 0
    unlisted_logprob: float | None = None
    started_at: str = ""
    ended_at: str = ""
    unusable_tokens: int = 0
    unusable_usd: float = 0.0
    price: str = ""

    def to_json(self) -> str:
        """Return the reply as JSON for the ledger, without fields at their default values."""
        content = {"text": self.text}
        for name, default in _REPLY_DEFAULTS.items():
            value = getattr(self, name)
            if value != default:
                content[name] = value
        return _encode_json(content)

    @classmethod
    def from_json(cls, text: str) -> "Reply":
        """Return the reply that `to_json` wrote."""
        return cls(**json.loads(text))


_REPLY_DEFAULTS = {field.name: getattr(Reply(""), field.name) for field in fields(Reply)[1:]}
_encode_canonical_json = json.JSONEncoder(
    sort_keys=True, ensure_ascii=False, separators=(",", ":")
).encode
_encode_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
