"""Read utterances: replies that follow a schema, log-probabilities, and choices of people."""

import json
from collections.abc import Mapping

from pydantic import BaseModel

from moot.core.cases import Task
from moot.core.confidence import number_of_choices, probability_of_stated_confidence
from moot.core.likelihood import complete_logprobs, label_shares
from moot.core.types import Fields, JsonObject
from moot.llm.parsing.replies import Parsed
from moot.llm.request import Reply
from moot.protocols.people import CONFIDENCE, PREDICTION, answer_text
from moot.protocols.utterances import Utterance, join_labels


def read_fields(utterance: Utterance, parsed: Parsed, task: Task) -> None:
    """Fill in an utterance from the fields of a reply.

    The fields `prediction` and `confidence` have columns. Labels are compared in any case, and the
    column has the task's spelling.
    """
    utterance.parse_status, utterance.parsed = parsed.status, parsed.value
    utterance.parse_problem, utterance.missing_fields = parsed.problem, ",".join(parsed.missing)
    if parsed.value is None:
        utterance.parsed = {"problem": parsed.problem}
        return
    prediction, confidence = parsed.value.get(PREDICTION), parsed.value.get(CONFIDENCE)
    if isinstance(prediction, (str, list)):
        utterance.prediction = join_labels(prediction, task.labels)
    if isinstance(confidence, int | float):
        utterance.confidence = float(confidence)
        utterance.probability = probability_of_stated_confidence(
            utterance.confidence, number_of_choices(task)
        )


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
    parsed: JsonObject = {"logprobs": by_label}
    utterance.parse_status, utterance.parsed = "strict", parsed
    if unlisted := [
        label for label, word in words.items() if logprobs[word] != reply.logprobs.get(word)
    ]:
        parsed["unlisted"] = unlisted
    utterance.answer_likeliest(shares)


def read_choice(utterance: Utterance, answer: Fields, words: Mapping[str, str]) -> None:
    """Fill in a person's choice among the labels' words, and the shares by its confidence."""
    utterance.text = answer[PREDICTION]
    utterance.confidence = float(answer[CONFIDENCE])
    utterance.parse_status = "strict"
    utterance.prediction = next(label for label, word in words.items() if word == utterance.text)
    utterance.probability = probability_of_stated_confidence(utterance.confidence, len(words))
    rest = (1 - utterance.probability) / (len(words) - 1)
    utterance.parsed = {
        "shares": {
            label: utterance.probability if label == utterance.prediction else rest
            for label in words
        }
    }
