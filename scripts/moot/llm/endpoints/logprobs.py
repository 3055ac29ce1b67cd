"""Log-probabilities of label words, from the first token of a reply."""

import math
from collections.abc import Mapping, Sequence

from moot.core.errors import CallFailedError
from moot.core.types import Json
from moot.core.usage import Usage
from moot.llm.endpoints.faults import logprobs_unavailable
from moot.llm.request import Request

ChoiceLogprobs = tuple[dict[str, float], float | None]
"""What `label_logprobs` returns."""


def choice_logprobs(request: Request, tokens: Json, usage: Usage | None) -> ChoiceLogprobs:
    """Return the log-probabilities of a request's choices; see `label_logprobs`.

    Args:
        request: the request.
        tokens: the tokens of the reply, in the form of the chat completions API and of Ollama.
        usage: the reply's token counts.

    Raises:
        LogprobsUnavailableError: the reply lists none.
        CallFailedError: one that is needed is null, which vLLM sends for NaN.
    """
    if not request.choices:
        return {}, None
    if not tokens:
        raise logprobs_unavailable(request.model, "its replies carry none")
    first_tokens = [tokens[0], *(tokens[0].get("top_logprobs") or ())]
    token_logprobs = {token["token"]: token["logprob"] for token in first_tokens}
    try:
        return label_logprobs(token_logprobs, request.choices)
    except ValueError as error:
        raise CallFailedError(str(error), usage=usage) from None


def label_logprobs(
    token_logprobs: Mapping[str, float | None], labels: Sequence[str]
) -> ChoiceLogprobs:
    """Return the log-probability of each label: the sum over the tokens that begin this label only.

    Args:
        token_logprobs: first token to log-probability, for the most probable tokens; None where
            the server gives none.
        labels: the label words.

    Returns:
        Label to log-probability, without labels that no token begins; and the log-probability of
        the last token listed, None if there is none.

    Raises:
        ValueError: the log-probability of a label's token is null.
    """
    finite_logprobs: dict[str, float] = {}
    probabilities: dict[str, float] = {}
    for token, logprob in token_logprobs.items():
        beginning = token.strip().casefold()
        matches = [label for label in labels if beginning and _begins(label, beginning)]
        if logprob is None and len(matches) == 1:
            raise ValueError(f"the server gives null as the log-probability of {token!r}")
        if logprob is None or not math.isfinite(logprob):
            continue
        finite_logprobs[token] = min(logprob, 0.0)
        if len(matches) == 1:
            label = matches[0]
            probabilities[label] = probabilities.get(label, 0.0) + math.exp(min(logprob, 0.0))
    logprobs = {
        label: math.log(probabilities[label]) for label in labels if probabilities.get(label)
    }
    return logprobs, min(finite_logprobs.values(), default=None)


def _begins(label: str, beginning: str) -> bool:
    return label.casefold().startswith(beginning)
