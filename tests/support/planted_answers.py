"""Worlds of simulated voices with planted parameters, for tests of the recovery of parameters by
scores.
"""

from dataclasses import replace

import numpy as np
from scipy.stats import norm

from moot.core.cases import Case, Task
from moot.core.simulated_voice import SimulatedVoice
from moot.llm.request import Message, Request
from moot.llm.simulated.beliefs import build_world, form_belief, read_request

SEEDS = 200
TASK = Task("it", "Is it so?", ("no", "yes"), "yes")


def case(number: int, task: Task = TASK) -> Case:
    target = task.labels[number % 2]
    return Case(f"c{number:03d}", "d", "test", f"Facts of file {number}.", target, task.labels)


def answer(
    voice: SimulatedVoice,
    seed: int,
    judged_case: Case,
    task: Task,
    model: str,
    records: list[str],
    as_judge: str = "",
) -> str:
    """Return the label that a voice gives to a case after its arguments."""
    instruction = f"You are {as_judge}.\n" if as_judge else ""
    blocks = [
        f"<facts>\n{judged_case.text}\n</facts>",
        *(f"<record>\n{record}\n</record>" for record in records),
    ]
    prompt = (Message("user", instruction + "\n".join(blocks)),)
    request = Request(
        "simulated", model, prompt, {"temperature": 0.7, "seed": seed}, None, task.labels
    )
    world = build_world(seed, [judged_case], task)
    return form_belief(voice, seed, request, read_request(request, world.cases), task.labels).answer


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


LIKED, MAN = 0.8, SimulatedVoice(competence=0.7, word_bias={"man": 0.8})
DEVIATION = float(np.sqrt(MAN.difficulty_sd**2 + MAN.model_sd**2 + (0.7 * MAN.noise_sd) ** 2))


def probability_of_yes(target: str, liked: float) -> float:
    """Return the probability of YES about a case, from its truth and the bias for YES."""
    skill = norm.ppf(MAN.competence)
    return float(norm.cdf((skill if target == "yes" else -skill) + liked / DEVIATION))


def case_with_sex(number: int, sex: str) -> Case:
    return replace(case(number), text=f"A {sex}. File {number}.", attributes={"sex": sex})
