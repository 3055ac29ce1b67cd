"""Invented replies: they depend only on the request, and fit the schema or form it asks for."""

import hashlib
import json
import random
import re
from dataclasses import dataclass
from typing import Any

OPENINGS = [
    "the court finds that",
    "the record shows that",
    "counsel submits that",
    "the witness said that",
]
GROUNDS = [
    "prior arrests",
    "steady work",
    "close family ties",
    "late notice",
    "plain reliance",
    "a breach of duty",
]
VERBS = ["weigh against", "speak for", "do not outweigh", "stand beside", "explain"]
LABELS = [
    "YES",
    "NO",
    "yes",
    "no",
    "pro",
    "con",
    "neutral",
    "positive",
    "negative",
    "plaintiff",
    "defendant",
]
LABELS += ["P", "Q", "AGREEMENT", "MORE", "LANDLORD", "TENANT", "landlord", "tenant"]


@dataclass(slots=True)
class Reply:
    """A chat reply in no server's form yet."""

    content: str
    finish: str
    prompt_tokens: int
    completion_tokens: int


def digest_of(body: dict[str, Any]) -> str:
    """Return a digest that identifies a request by its whole body, in any order of keys."""
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def instance_of(  # noqa: PLR0911 - one return a type
    schema: dict[str, Any], draw: random.Random, speech: str = ""
) -> Any:
    """Return a value that `schema` allows, drawn by `draw`."""
    if "enum" in schema:
        return draw.choice(schema["enum"])
    if "const" in schema:
        return schema["const"]
    if "anyOf" in schema:
        return instance_of(schema["anyOf"][0], draw, speech)
    match schema.get("type"):
        case "object":
            return {
                key: instance_of(value, draw, speech)
                for key, value in schema.get("properties", {}).items()
            }
        case "array":
            return [
                instance_of(schema.get("items", {}), draw, speech)
                for _ in range(
                    draw.randint(schema.get("minItems", 1), max(3, schema.get("minItems", 1)))
                )
            ]
        case "integer":
            return draw.randint(int(schema.get("minimum", 0)), int(schema.get("maximum", 100)))
        case "number":
            return round(draw.uniform(schema.get("minimum", 0), schema.get("maximum", 1)), 3)
        case "boolean":
            return draw.random() < 0.5
    return speech or sentence(draw)


def sentence(draw: random.Random) -> str:
    words = [draw.choice(OPENINGS), draw.choice(GROUNDS), draw.choice(VERBS), draw.choice(GROUNDS)]
    return " ".join(words).capitalize() + f" ({draw.randrange(10**6)})."


def filled_form(form: str, draw: random.Random) -> str:
    """Fill in a form with placeholders, which prompts carry where they only describe the schema."""
    form = re.sub(
        r'"<one of: ([^>]*)>"', lambda match: json.dumps(draw.choice(match[1].split(", "))), form
    )
    form = re.sub(
        r"<a (?:whole )?number from (\d+) to (\d+)[^>]*>",
        lambda match: str(draw.randint(int(match[1]), int(match[2]))),
        form,
    )
    form = re.sub(r"<true or false>", lambda _: draw.choice(["true", "false"]), form)
    return re.sub(r'"<text>"', lambda _: json.dumps(sentence(draw)), form).replace(", ...]", "]")


def schema_in(body: dict[str, Any]) -> dict[str, Any] | None:
    """Return the JSON schema of a request, in the form of either server."""
    format_ = (
        body.get("format")
        or body.get("response_format")
        or body.get("output_config", {}).get("format")
        or {}
    )
    if not isinstance(format_, dict):
        return None
    schema = format_.get("json_schema", format_)
    schema = schema.get("schema", schema)
    return schema if "properties" in schema else None


def text_in(body: dict[str, Any]) -> str:
    return "\n".join(str(message.get("content", "")) for message in body.get("messages", []))


def count_tokens(text: str) -> int:
    """Return a plausible count: four characters a token, and at least every word and ideograph."""
    return max(len(text) // 4 + 1, len(re.findall(r"[A-Za-z]+|\d+|[\u3400-\u9fff]", text)))


def reply_to(body: dict[str, Any], digest: str, speech: str = "") -> Reply:
    """Return the reply to a request, from its digest only; `speech` replaces all free text."""
    draw = random.Random(digest)
    text = text_in(body)
    if schema := schema_in(body):
        content = json.dumps(instance_of(schema, draw, speech))
    elif forms := re.findall(r'^\{.*"<?.*>.*\}$', text, re.MULTILINE):
        content = filled_form(forms[-1], draw)
    elif judges := re.search(r"All (\d+) judges speak in it, each under a heading", text):
        numbers = range(1, int(judges[1]) + 1)
        content = "\n".join(f"Judge {number}: {speech or sentence(draw)}" for number in numbers)
    elif one_word := re.search(r"one word and nothing else: (.*)\.$", text):
        content = draw.choice(one_word[1].split(" or "))
    else:
        articles = re.findall(
            r"^(\d{1,3})(?:：.*)?$", text.partition("可选答案：")[2], re.MULTILINE
        )
        answers = re.findall(
            r"^([\w ]+) means that .*\.$", text.rpartition("The question:")[2], re.MULTILINE
        )
        ending = f" 应适用刑法第{draw.choice(articles)}条。" if articles else ""
        ending = f" The answer is {draw.choice(answers)}." if answers else ending
        content = speech or " ".join(sentence(draw) for _ in range(3)) + ending
    return Reply(content, "stop", count_tokens(text), len(content) // 4 + 1)


def spoilt(reply: Reply, kind: str) -> Reply:
    """Return `reply` with content that is useless in the manner of `kind`."""
    content, finish = reply.content, reply.finish
    if kind == "empty":
        content = ""
    elif kind == "truncated":
        content, finish = content[: len(content) // 2], "length"
    elif kind == "malformed_json":
        content = content.replace('"', "'", 3).replace(":", " ")
    elif kind == "wrong_shape":
        content = json.dumps({"result": {"text": "fine", "items": [1, 2]}})
    elif kind == "outside_labels":
        words = "|".join(map(re.escape, LABELS))
        content = re.sub(rf'"(?:{words})"', '"UNKNOWN"', content)
    elif kind == "content_filter":
        content, finish = "", "content_filter"
    return Reply(content, finish, reply.prompt_tokens, len(content) // 4)


def likelihoods(body: dict[str, Any], draw: random.Random, alternatives: int = 0) -> dict[str, Any]:
    """Return log-probabilities of the first token; the labels in the prompt are the most likely.

    With `alternatives` the labels are shuffled into forty other words, and the reply lists that
    many tokens.
    """
    text = text_in(body)
    tokens = [label for label in LABELS if re.search(rf"\b{label}\b", text)] or LABELS[:2]
    values = sorted((round(-draw.expovariate(1.0) - 0.01, 4) for _ in tokens), reverse=True)
    draw.shuffle(tokens)
    if alternatives:
        likely = draw.random() < 0.7  # else no label is anywhere near the top
        tokens = tokens if likely else []
        for number in range(10):
            tokens += [f"{word}{number}" for word in ("so", "we", "it", "as")]
        values = [-0.4 - 0.3 * place for place in range(len(tokens))]
    top = [
        {"token": token, "logprob": value, "bytes": list(token.encode())}
        for token, value in zip(tokens, values, strict=True)
    ]
    return {
        "content": [
            {
                **top[0],
                "top_logprobs": top[: min(alternatives or 20, body.get("top_logprobs") or 1)],
            }
        ]
    }
