"""Read utterances: replies that follow a schema, log-probabilities, and choices of people."""

import json
from collections.abc import Mapping

from pydantic import BaseModel

from moot.core.cases import Task
from moot.core.confidence import (
    number_of_choices,
    probability_of_stated_confidence,
    scaled_confidence,
)
from moot.core.likelihood import complete_logprobs, label_shares
from moot.core.types import Fields
from moot.llm.parsing.ladder import Parsed
from moot.llm.parsing.values import HUNDRED
from moot.llm.request import Reply
from moot.protocols.people import CONFIDENCE, PREDICTION, answer_text
from moot.protocols.utterances import Utterance


def read_fields(
    utterance: Utterance,
    parsed: Parsed,
    task: Task,
    confidence_scale: int = 100,
) -> None:
    """Fill in an utterance from the fields of a reply.

    The fields `prediction` and `confidence` have columns. A confidence that contradicts the model's
    `confidence_scale` is missing.
    """
    utterance.parse_status, utterance.parsed = parsed.status, parsed.value
    utterance.parse_problem, utterance.missing_fields = parsed.problem, ",".join(parsed.missing)
    if parsed.value is None:
        utterance.parsed = {"problem": parsed.problem}
        return
    if confidence_scale != HUNDRED and CONFIDENCE in parsed.bare_numbers:
        _rescale_confidence(utterance, parsed, confidence_scale)
    value = utterance.parsed or {}
    prediction, confidence = value.get(PREDICTION), value.get(CONFIDENCE)
    if isinstance(prediction, str):
        utterance.prediction = prediction.casefold()
    elif isinstance(prediction, list):
        utterance.prediction = ";".join(sorted({label.casefold() for label in prediction}))
    if isinstance(confidence, int | float):
        utterance.confidence = float(confidence)
        utterance.probability = probability_of_stated_confidence(
            utterance.confidence, number_of_choices(task)
        )


def _rescale_confidence(utterance: Utterance, parsed: Parsed, scale: int) -> None:
    """Read a confidence without a stated scale on the model's own scale."""
    number = parsed.bare_numbers[CONFIDENCE]
    value = {name: field for name, field in (parsed.value or {}).items() if name != CONFIDENCE}
    missing = {name: problem for name, problem in parsed.missing.items() if name != CONFIDENCE}
    confidence = scaled_confidence(number, scale, is_percentage=False)
    if confidence is None:
        problem = f"{number:g} contradicts `confidence_scale: {scale}` in the model's entry"
        missing[CONFIDENCE] = problem
        utterance.parse_problem = f"{CONFIDENCE} missing ({problem})"
    else:
        value[CONFIDENCE] = confidence
    utterance.parsed, utterance.missing_fields = value, ",".join(missing)


def read_form(
    utterance: Utterance, answer: Fields, schema: type[BaseModel] | None, task: Task
) -> None:
    """Fill in an utterance from a person's form, like a reply of its schema or like free text."""
    if schema is None:
        utterance.text, utterance.confidence = answer_text(answer), answer.get(CONFIDENCE)
        return
    utterance.text = json.dumps(answer, ensure_ascii=False)
    missing = {name: "left blank" for name in schema.model_fields if name not in answer}
    read_fields(utterance, Parsed(dict(answer), "strict", "", missing), task)


def read_likelihood(utterance: Utterance, reply: Reply, words: Mapping[str, str]) -> None:
    """Fill in the most probable label by the log-probabilities of the labels' words."""
    logprobs = complete_logprobs(reply.logprobs, words.values(), reply.unlisted_logprob)
    if logprobs is None:
        problem = (
            f"the server lists none of the words {', '.join(words.values())} among the likeliest"
            " tokens"
        )
        utterance.parse_status, utterance.parsed = "invalid", {"problem": problem}
        return
    by_label = {label: logprobs[word] for label, word in words.items()}
    shares = label_shares(by_label)
    utterance.parse_status, utterance.parsed = "strict", {"logprobs": by_label}
    if unlisted := [
        label for label, word in words.items() if logprobs[word] != reply.logprobs.get(word)
    ]:
        utterance.parsed["unlisted"] = unlisted
    utterance.answer_likeliest(shares)


def read_choice(utterance: Utterance, answer: Fields, words: Mapping[str, str]) -> None:
    """Fill in a person's choice among the labels' words, and the shares by its confidence."""
    utterance.text, utterance.confidence, utterance.parse_status = (
        answer[PREDICTION],
        float(answer[CONFIDENCE]),
        "strict",
    )
    utterance.prediction = next(label for label, word in words.items() if word == utterance.text)
    utterance.probability = probability_of_stated_confidence(utterance.confidence, len(words))
    rest = (1 - utterance.probability) / (len(words) - 1)
    utterance.parsed = {
        "shares": {
            label: utterance.probability if label == utterance.prediction else rest
            for label in words
        }
    }
