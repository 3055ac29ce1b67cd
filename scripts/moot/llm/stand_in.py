"""A stand-in for a model, which draws an answer from the request's schema or labels by seed.

It serves previews, rehearsals and tests, costs nothing and knows nothing.
"""

import hashlib
import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from moot.core.rubric import rubric_for
from moot.core.types import Fields, Json
from moot.llm.request import Reply, Request

MARK = "[SIMULATED]"
"""Starts every free text, so that no transcript looks like a model's."""
CHARACTERS_PER_TOKEN = 4.0
LONGEST_REPLY = re.compile(r"[0-9a-f]{12} ([0-9a-f]{4})(?: \1)+")
"""A reply of the greatest length (`_statement`), where a later prompt quotes it."""
_WORDS_PER_TOKEN = 0.6
_SECONDS_TO_FIRST_TOKEN, _TOKENS_PER_SECOND = 0.6, 40.0
_REFUSAL = "I am sorry, but I cannot help with this request."
_MAX_ITEMS = 2

Choose = Callable[[Request, Sequence[Any]], Any]
"""Chooses the answer to a request from its labels."""


def fill_schema(  # noqa: PLR0911 - one a type
    schema: Fields,
    draw: random.Random | None = None,
    write: Callable[[Fields], str] = lambda _schema: "text",
    choose: Callable[[Sequence[Any]], Any] = lambda labels: labels[0],
) -> Json:
    """Return a value that fits a JSON schema, which has no references, as moot sends it.

    Args:
        schema: the schema.
        draw: draws numbers and lengths; None gives the least.
        write: writes a text.
        choose: chooses among the values of an `enum`.
    """
    if "anyOf" in schema:
        return fill_schema(schema["anyOf"][0], draw, write, choose)
    if "enum" in schema:
        return choose(schema["enum"])
    low, count = schema.get("minimum", 0), int(schema.get("minItems", 0))
    match schema.get("type"):
        case "object":
            parts = schema.get("properties", {})
            return {name: fill_schema(part, draw, write, choose) for name, part in parts.items()}
        case "array":
            if draw is not None:
                count = max(count, min(_MAX_ITEMS, int(schema.get("maxItems", _MAX_ITEMS))))
            return [fill_schema(schema["items"], draw, write, choose) for _ in range(count)]
        case "integer":
            return low if draw is None else draw.randint(low, schema.get("maximum", 100))
        case "number":
            return low if draw is None else draw.uniform(low, schema.get("maximum", 1))
        case "boolean":
            return draw is not None and draw.random() < 0.5  # noqa: PLR2004 - a coin
        case "string":
            return write(schema)
    return None


class StandIn:
    """Answers any request as an endpoint does.

    Args:
        seed: of all draws; None gives the first label, the least number and the longest text, so
            that a preview counts the most tokens.
        words: the words of a free text, as far as the request allows them.
        shares: the shares of replies that are `empty`, `refused`, `cut` off or `malformed`.
        choose: chooses a label in place of a draw.
    """

    def __init__(
        self,
        seed: int | None = None,
        *,
        words: int = 80,
        shares: Mapping[str, float] | None = None,
        choose: Choose | None = None,
    ) -> None:
        self._seed, self._words, self._shares = seed, words, shares or {}
        self._choose_label = choose

    async def complete(self, request: Request) -> Reply:
        """Return a reply, with estimated tokens and seconds."""
        digest = hashlib.sha256(request.to_json().encode("utf-8", "surrogatepass")).hexdigest()
        writer = _Writer(request, digest, self._words, self._seed, self._choose_label)
        max_tokens = 1 if request.choices else int(request.parameters.get("max_tokens", 0))
        text, finish_reason = self._spoil(writer.text(max_tokens), writer.draw.random())
        tokens = max_tokens if self._seed is None else int(len(text) / CHARACTERS_PER_TOKEN) + 1
        calls = max(1, len(request.choices)) if self._seed is None else 1
        return Reply(
            text=text,
            logprobs=_logprobs(request.choices, text) if text in request.choices else {},
            finish_reason=finish_reason,
            prompt_tokens=int(request.prompt_characters / CHARACTERS_PER_TOKEN) * calls,
            completion_tokens=tokens * calls,
            seconds=_SECONDS_TO_FIRST_TOKEN + tokens / _TOKENS_PER_SECOND,
            served_model="SIMULATED",
        )

    def _spoil(self, text: str, place: float) -> tuple[str, str]:
        """Return a reply and its finish reason; `place` in [0, 1) selects the kind of fault."""
        spoilt_texts = {
            "empty": ("", "stop"),
            "refused": (_REFUSAL, "refusal"),
            "cut": (text[: len(text) // 2], "length"),
            "malformed": (f"Here is what I think: {text[:-1]},,", "stop"),
        }
        for kind, share in self._shares.items():
            if place < share:
                return spoilt_texts[kind]
            place -= share
        return text, "stop"

    async def close(self) -> None:
        """Do nothing, since nothing is open."""


class _Writer:
    """Writes the reply to one request."""

    def __init__(
        self, request: Request, digest: str, words: int, seed: int | None, choose: Choose | None
    ) -> None:
        self._request, self._digest, self._words = request, digest, words
        self._is_drawn, self._choose_label = seed is not None, choose
        self.draw = random.Random(f"{seed} {digest}")  # noqa: S311 - no secret

    def text(self, max_tokens: int) -> str:
        """Return the text of the reply."""
        if self._request.choices:
            return str(self._choose(self._request.choices))
        if schema := self._request.schema or self._request.reply_schema:
            draw = self.draw if self._is_drawn else None
            value = fill_schema(schema, draw, self._short_text, self._choose)
            return json.dumps(value, ensure_ascii=False)
        words = min(self._words, int(max_tokens * _WORDS_PER_TOKEN))
        return self._statement(words if self._is_drawn else max_tokens)

    def _choose(self, labels: Sequence[Any]) -> Any:
        if self._choose_label is not None:
            return self._choose_label(self._request, labels)
        return self.draw.choice(labels) if self._is_drawn else labels[0]

    def _statement(self, words: int) -> str:
        """Return a text of some words, whose last line states a label of the request."""
        if not self._is_drawn:  # equal replies would make later calls equal
            return f"{self._digest[:12]} " + f"{self._digest[:4]} " * (words - 1)
        points = [
            f"Point {self.draw.randint(1, 999)} is looked at here." for _ in range(words // 6)
        ]
        lines = [" ".join([MARK, *points])]
        if labels := self._request.labels:
            label = str(self._choose(labels))
            rubric = rubric_for(frozenset(labels))
            sentence = rubric.sentence_for(label) if rubric else f"The answer is {label.upper()}."
            lines += [f"Confidence: {self.draw.randint(0, 100)}", sentence]
        return "\n".join(lines)

    def _short_text(self, schema: Fields) -> str:
        if not self._is_drawn:
            return self._digest[:12]
        text = self._statement(self._words)
        max_characters = int(schema.get("maxLength", len(text)))
        return text if len(text) <= max_characters else text[-max_characters:]


def _logprobs(choices: Sequence[str], chosen: str) -> dict[str, float]:
    """Return log-probabilities of choices, of which the chosen one is the likeliest."""
    unlikely = {choice: -2.0 - place for place, choice in enumerate(choices)}
    return {**unlikely, chosen: -0.2}
