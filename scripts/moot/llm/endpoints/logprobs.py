"""Log-probabilities of label words, from the first token of a reply."""

import math
from collections.abc import Mapping, Sequence

TOP_LOGPROBS = 20
"""How many tokens a server is asked to list: the most that OpenAI's API allows."""


def label_logprobs(
    token_logprobs: Mapping[str, float], labels: Sequence[str]
) -> tuple[dict[str, float], float | None]:
    """Return the log-probability of each label: the sum over the tokens that begin this label only.

    Args:
        token_logprobs: first token to log-probability, for the most probable tokens.
        labels: the label words.

    Returns:
        Label to log-probability, without labels that no token begins; and the log-probability of
        the last token listed, None if there is none.
    """
    finite_logprobs = {
        token: min(logprob, 0.0)
        for token, logprob in token_logprobs.items()
        if math.isfinite(logprob)
    }
    probabilities: dict[str, float] = {}
    for token, logprob in finite_logprobs.items():
        beginning = token.strip().casefold()
        matches = [label for label in labels if beginning and _begins(label, beginning)]
        if len(matches) == 1:
            label = matches[0]
            probabilities[label] = probabilities.get(label, 0.0) + math.exp(logprob)
    logprobs = {
        label: math.log(probabilities[label]) for label in labels if probabilities.get(label)
    }
    return logprobs, min(finite_logprobs.values(), default=None)


def _begins(label: str, beginning: str) -> bool:
    return label.casefold().startswith(beginning)
