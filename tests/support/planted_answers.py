"""Answers with planted parameters, for tests of the recovery of parameters by scores."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np

from moot.core.cases import Case, Task, stable_fraction
from moot.llm.prompts import enclose
from moot.llm.request import Request

SEEDS = 200
NORMAL = NormalDist()
TASK = Task("it", "Is it so?", ("no", "yes"), "yes")
COMPETENCE, LIKED, DEVIATION = 0.7, 0.8, 1.2
"""The share of true answers without a liking, and a liking for YES where a text says "man", in the
log-odds of YES, whose standard deviation is `DEVIATION`."""


def case(number: int, task: Task = TASK) -> Case:
    target = task.labels[number % 2]
    return Case(f"c{number:03d}", "d", "test", f"Facts of file {number}.", target, task.labels)


def case_with_sex(number: int, sex: str) -> Case:
    return replace(case(number), text=f"A {sex}. File {number}.", attributes={"sex": sex})


def answer(
    seed: int, judged_case: Case, competence: float = COMPETENCE, liked: float = LIKED
) -> str:
    """Return YES or NO to a case, right in the share `competence` where there is no liking."""
    draw = NORMAL.inv_cdf(stable_fraction("answer", seed, judged_case.case_id))
    skill = DEVIATION * NORMAL.inv_cdf(competence)
    log_odds = DEVIATION * draw + (skill if judged_case.target == "yes" else -skill)
    has_word = re.search(r"\bman\b", judged_case.text)
    return "yes" if log_odds + (liked if has_word else 0.0) > 0 else "no"


def probability_of_yes(target: str, liked: float) -> float:
    """Return the probability of YES about a case, from its truth and the liking for YES."""
    skill = NORMAL.inv_cdf(COMPETENCE)
    return NORMAL.cdf((skill if target == "yes" else -skill) + liked / DEVIATION)


def choose_as_planted(
    cases: Sequence[Case], seed: int, **parameters: float
) -> Callable[[Request, Sequence[Any]], Any]:
    """Return how a stand-in chooses among YES and NO, by the case whose text a prompt holds."""
    by_text = {enclose(item.text, "t"): item for item in cases}

    def choose(request: Request, labels: Sequence[Any]) -> Any:
        prompt = "\n".join(message.content for message in request.messages)
        texts = re.findall(r"<\w+>\n(.*?)\n</\w+>", prompt, re.DOTALL)
        keys = [f"<t>\n{text}\n</t>" for text in texts]
        told = [by_text[key] for key in keys if key in by_text]
        if not told or {str(label).casefold() for label in labels} != {"yes", "no"}:
            return labels[0]
        planted = answer(seed, told[-1], **parameters)
        return next(label for label in labels if str(label).casefold() == planted)

    return choose


def assert_recovered(
    estimates: "list[tuple[float, float, float]]",
    truth: float,
    low: float = 0.92,
    high: float = 0.98,
) -> None:
    """That estimates (value, low, high) have no bias beyond three Monte-Carlo errors, and cover as
    they should.
    """
    values = np.array(estimates)
    error = values[:, 0].std(ddof=1) / len(values) ** 0.5
    assert abs(values[:, 0].mean() - truth) < 3 * error, (values[:, 0].mean(), truth, error)
    covered = np.mean((values[:, 1] <= truth) & (truth <= values[:, 2]))
    assert low <= covered <= high, covered
