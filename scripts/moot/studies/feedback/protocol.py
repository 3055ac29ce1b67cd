"""Debate-Feedback (Algorithm 1): debaters, a reliability assistant, a judge that smooths.

    O_0 = LM(x)
    each round:  a  openings of all debaters    e  rebuttals after reading the others' openings
                 v  reliability of each, by the assistant   sum  the judge's summary of a, e and v
                 O_i = (1-T) O_(i-1) + T LM(x, sum)  if Threshold(v),  else O_i = LM(x)

Our choices where the paper is silent or ambiguous:
- T is a natural number in Algorithm 1's header and a weight in [0, 1] in Equation 1: here the
  weight.
- LM(x) of a failed threshold is "the initial prediction" in the text: here O_0 itself, without
  asking again.
- Two debaters on opposite sides (Algorithm 1), or three who may agree (Table 4): `sides` and
  `debaters`.
- The label that a debater argues for is read from its text. If the text names no label, or two, the
  debater has no reliability.
- Debaters read the summaries of earlier rounds (`memory: false`: they do not).
- The judge's LM(x, sum) does not see O_(i-1), which enters by smoothing alone.
- Probabilities of label words hold a prior for the words themselves. Thresholds, fitted on
  validation cases, undo it.
- If no confidence of the judge can be read, the label alone is smoothed, as 1 for it and 0 for the
  others, and the debate's answer has no probability (`label alone` among the probabilities).
- Equal probabilities: the latest answer counts. A confidence weighs an answer and never changes it,
  so thresholds are fitted on token probabilities alone.
- Debate-Feedback (single) has no assistant, so it is always smoothed.
"""

from collections.abc import Sequence

from moot.core.cases import Task
from moot.core.utterance_kinds import OPENING
from moot.protocols import Debaters, protocol
from moot.protocols.debate import Answer, Debate
from moot.protocols.smoothing import Outlook, next_outlook
from moot.studies.feedback.protocol_judge import answer_from, judge_outlook, record_outlook
from moot.studies.feedback.protocol_params import ASSISTANT, JUDGE, FeedbackParams
from moot.studies.feedback.protocol_rounds import (
    is_round_reliable,
    repeat_last_opening,
    speak,
    summarise,
    summarise_statements,
    verify,
)


def _assistant_file(params: FeedbackParams) -> dict[str, str]:
    if not params.assistant:
        return {}
    return {ASSISTANT: f"assistants/{params.assistant}/{{model}}/{params.assistant_features}.skops"}


def _seats(params: FeedbackParams) -> list[str]:
    return [f"debater {number}" for number in range(1, params.debaters + 1)]


def _sides(params: FeedbackParams, task: Task) -> dict[str, str]:
    """Return the label that each debater must argue for; "" for a free choice."""
    labels = (
        [""]
        if params.sides == "free"
        else sorted(task.labels, key=lambda label: label != task.positive)
    )
    return {seat: labels[place % len(labels)] for place, seat in enumerate(_seats(params))}


EXPERTS = Debaters(
    _seats,
    JUDGE,
    assigns_sides=lambda params: params.sides == "opposed",
    sides=_sides,
)


def find_misfit(params: FeedbackParams, _labels: Sequence[str], multilabel: bool) -> str:
    """Return why debates about some data cannot be held; "" if they can."""
    if params.sides == "opposed" and multilabel:
        return (
            "`sides: opposed` gives each debater one label to argue for, and these cases have"
            " several. Set `sides: free`."
        )
    return ""


@protocol(
    "feedback",
    FeedbackParams,
    study="feedback",
    needs=_assistant_file,
    debaters=EXPERTS,
    seats=lambda params: (*_seats(params), JUDGE),
    misfit=find_misfit,
)
async def debate_feedback(debate: Debate, params: FeedbackParams) -> Answer | None:
    """Run Algorithm 1.

    There is no answer if the judge gives no usable probabilities, or if no seat speaks in a round.
    """
    debaters = assign_seats(debate, params)
    first = await judge_outlook(debate, params, 0)
    if first is None:
        return None
    current = first
    record_outlook(debate, first, first, 0)
    for number in range(1, params.rounds + 1):
        openings = await speak(debate, params, debaters, OPENING, number)
        rebuttals = await speak(debate, params, debaters, "rebuttal", number, openings)
        if not rebuttals:
            return None
        texts = {rebuttal.speaker: rebuttal.text for rebuttal in rebuttals}
        if params.statement_summaries:
            texts = await summarise_statements(debate, openings + rebuttals, number)
        reliabilities = verify(debate, rebuttals, texts, number)
        if params.judge_reads == "last_opening":
            summary = repeat_last_opening(debate, openings, number)
        else:
            summary = await summarise(debate, openings + rebuttals, reliabilities, number)
        met = is_round_reliable(debate, params, rebuttals, reliabilities)
        latest: Outlook | None = first
        if met:
            latest = await judge_outlook(debate, params, number, summary, reliabilities)
        if latest is None:
            return None
        current = next_outlook(first, current, latest, met, params.weight)
        record_outlook(debate, current, latest, number, met)
    return answer_from(debate, current)


def assign_seats(debate: Debate, params: FeedbackParams) -> dict[str, str]:
    """Return the debaters in their order of speaking, with their assigned labels."""
    sides = _sides(params, debate.task)
    return {seat: sides[seat] for seat in debate.speaking_order(_seats(params))}
