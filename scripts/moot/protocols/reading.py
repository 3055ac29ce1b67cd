"""What an utterance is found to say: by a reply in the form of a schema, by log-probabilities, by a
person's choice.
"""

import json
from collections.abc import Mapping
from typing import Literal

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
from moot.llm.parsing.words import shorten
from moot.llm.request import Reply
from moot.protocols.contradictions import CONTRADICTION, contradiction
from moot.protocols.people import CONFIDENCE, PREDICTION, words_said
from moot.protocols.utterances import Utterance

Contradictory = Literal["field", "invalid"]


def read_fields(
    said: Utterance,
    parsed: Parsed,
    task: Task,
    contradictory: Contradictory = "field",
    confidence_scale: int = 100,
) -> None:
    """Fill in what a reply says by its schema; `prediction` and `confidence` have columns of their
    own.

    A model's reply whose words contradict its prediction is flagged, and unusable where
    `contradictory` is "invalid". A confidence that contradicts the model's `confidence_scale`
    is missing.
    """
    said.parse_status, said.parsed = parsed.status, parsed.value
    said.parse_problem, said.missing_fields = parsed.problem, ",".join(parsed.missing)
    if parsed.value is None:
        said.parsed = {"problem": parsed.problem}
        return
    words = contradiction(task, parsed.value, said.text) if said.source == "model" else ""
    if words and contradictory == "invalid":
        problem = f"the words contradict the prediction: {shorten(words)}"
        said.parse_status, said.parse_problem = "invalid", problem
        said.parsed = {"problem": problem, CONTRADICTION: words}
        return
    if confidence_scale != HUNDRED and CONFIDENCE in parsed.bare_numbers:
        _rescale_confidence(said, parsed, confidence_scale)
    value = said.parsed or {}
    prediction, confidence = value.get(PREDICTION), value.get(CONFIDENCE)
    if isinstance(prediction, str):
        said.prediction = prediction.casefold()
    elif isinstance(prediction, list):
        said.prediction = ";".join(sorted({label.casefold() for label in prediction}))
    if words:
        said.parsed = {**(said.parsed or {}), CONTRADICTION: words}
    if isinstance(confidence, int | float):
        said.confidence = float(confidence)
        said.probability = probability_of_stated_confidence(
            said.confidence, number_of_choices(task)
        )


def _rescale_confidence(said: Utterance, parsed: Parsed, scale: int) -> None:
    """Read a confidence without a stated scale on the model's own scale."""
    number = parsed.bare_numbers[CONFIDENCE]
    value = {name: field for name, field in (parsed.value or {}).items() if name != CONFIDENCE}
    missing = {name: problem for name, problem in parsed.missing.items() if name != CONFIDENCE}
    confidence = scaled_confidence(number, scale, is_percentage=False)
    if confidence is None:
        problem = f"{number:g} contradicts `confidence_scale: {scale}` in the model's entry"
        missing[CONFIDENCE] = problem
        said.parse_problem = f"{CONFIDENCE} missing ({problem})"
    else:
        value[CONFIDENCE] = confidence
    said.parsed, said.missing_fields = value, ",".join(missing)


def read_filled_in(
    said: Utterance, answer: Fields, schema: type[BaseModel] | None, task: Task
) -> None:
    """Fill in what a person's form says: as a reply of the same schema would, or as free text where
    there is none.
    """
    if schema is None:
        said.text, said.confidence = words_said(answer), answer.get(CONFIDENCE)
        return
    said.text = json.dumps(answer, ensure_ascii=False)
    missing = {name: "left blank" for name in schema.model_fields if name not in answer}
    read_fields(said, Parsed(dict(answer), "strict", "", missing), task)


def read_likelihood(said: Utterance, reply: Reply, words: Mapping[str, str]) -> None:
    """Fill in the most probable label, by the log-probabilities of the labels' words."""
    logprobs = complete_logprobs(reply.logprobs, words.values(), reply.unlisted_logprob)
    if logprobs is None:
        problem = (
            f"the server lists none of the words {', '.join(words.values())} among the likeliest"
            " tokens"
        )
        said.parse_status, said.parsed = "invalid", {"problem": problem}
        return
    by_label = {label: logprobs[word] for label, word in words.items()}
    shares = label_shares(by_label)
    said.parse_status, said.parsed = "strict", {"logprobs": by_label}
    if unlisted := [
        label for label, word in words.items() if logprobs[word] != reply.logprobs.get(word)
    ]:
        said.parsed["unlisted"] = unlisted
    said.answer_likeliest(shares)


def read_choice(said: Utterance, answer: Fields, words: Mapping[str, str]) -> None:
    """Fill in a person's choice among the labels' words, and what the confidence makes of it."""
    said.text, said.confidence, said.parse_status = (
        answer[PREDICTION],
        float(answer[CONFIDENCE]),
        "strict",
    )
    said.prediction = next(label for label, word in words.items() if word == said.text)
    said.probability = probability_of_stated_confidence(said.confidence, len(words))
    rest = (1 - said.probability) / (len(words) - 1)
    said.parsed = {
        "shares": {label: said.probability if label == said.prediction else rest for label in words}
    }
