"""What a simulated voice believes: the case that a prompt is about, what it tells, and the log-odds
of the truth.

    belief = sigma * Phi^-1(competence) + difficulty * D(case) + own * O(model, case) + wobble *
             temperature * W(call) + what was heard + what is liked

D, O and W are standard normal, drawn from a digest of what they depend on, and sigma is the
standard deviation of their sum, so that a voice that hears and likes nothing is right with the
probability `competence`. The answer is right where the belief is above 0. docs/planning.md says
more. Prompts are read unchanged: a protocol knows nothing of this.
"""

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

from moot.core.cases import Case, Task, stable_fraction
from moot.core.model_config import SimulatedVoice
from moot.core.rubric import rubric_for
from moot.llm.prompts import enclose
from moot.llm.request import Request

_BLOCK = re.compile(r"<(?P<tag>[a-z_]+)>\n(?P<text>.*?)\n</(?P=tag)>", re.DOTALL)
_SPEAKER = re.compile(r"(?P<speaker>[^,:\n]{1,60})(?:, [^:\n]{1,60})?: ")
_OWN_NAME = re.compile(r"You are (?P<name>(?:AI )?Judge \d+)")
_JUDGE = re.compile(r"(?:AI )?Judge \d+$")
_OWN_TAGS = ("notes", "note", "attempt", "reasoning")
_OWN_OPINION = re.compile(r"(?:Your own opinion:|你自己的意见：)\s*$")
_SIDE = re.compile(
    r"[Aa]rgue(?: again)? that [^\n]*\((?P<label>[^()\n]+)\)\.|论证答案是“(?P<zh>[^”]+)”"
)
_APPLIES = re.compile(
    r"Does (?P<label>.+?)(?: \([^\n]*\))? apply to this case|本案是否适用“(?P<zh>[^”：]+)"
)
_AFFIRMATIVE = ("yes", "是")
_WORDS = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_NORMAL = NormalDist()
_SMALLEST = 1e-12


@dataclass(frozen=True, slots=True)
class KnownCase:
    """What a simulated voice knows of a case in addition to its text.

    Attributes:
        targets: the true label, or labels.
        labels: every label of the task.
        positive: the task's positive label.
        name: by which its difficulty is drawn: its id, so that it is the same however the case is
            told.
    """

    targets: tuple[str, ...]
    labels: tuple[str, ...]
    positive: str
    name: str = ""


@dataclass(frozen=True)
class World:
    """What simulated voices of a job have in common: a seed, and what is known of a case by its
    text in prompts.
    """

    seed: int
    cases: Mapping[str, KnownCase]


def world_of(seed: int, cases: Sequence[Case] = (), task: Task | None = None) -> World:
    """The world of a job: its cases by their texts, from which alone a voice can tell them."""
    known = {
        shown(case.text): KnownCase(
            tuple(case.target.split(";")),
            task.labels,
            task.positive or task.labels[-1],
            case.case_id,
        )
        for case in cases
        if task is not None
    }
    return World(seed, known)


def shown(text: str) -> str:
    """A text as prompts show it between tags."""
    return enclose(text, "t")[len("<t>\n") : -len("\n</t>")]


@dataclass(frozen=True, slots=True)
class Told:
    """A text in a prompt that is not the case: its tag, who said it, and what."""

    tag: str
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Reading:
    """A prompt as a simulated voice reads it.

    Attributes:
        text: of the case, or the first text where no case is known.
        case: what is known of it; None where nothing is.
        told: all other text between tags.
        instruction: the text outside of tags, the system message left out.
        own_name: how the prompt addresses a judge of a panel.
        side: the label that the voice is told to argue for, "" where it is free.
        digest: of the whole request, which two equal ones share.
    """

    text: str
    case: KnownCase | None
    told: tuple[Told, ...]
    instruction: str
    own_name: str
    side: str
    digest: str


def read_request(request: Request, cases: Mapping[str, KnownCase]) -> Reading:
    """Find the case in a prompt, and what was said about it.

    The last known case counts: examples come before it.
    """
    prompt = "\n".join(message.content for message in request.messages if message.role != "system")
    blocks = list(_BLOCK.finditer(prompt))
    known = [block["text"] for block in blocks if block["text"] in cases]
    text = known[-1] if known else next((block["text"] for block in blocks), "")
    told = tuple(
        _told(prompt, block)
        for block in blocks
        if block["text"] not in cases and block["text"] != text
    )
    instruction = _BLOCK.sub("", prompt)
    own, side = _OWN_NAME.search(instruction), _SIDE.search(instruction)
    label = (side["label"] or side["zh"]).casefold() if side else ""
    digest = hashlib.sha256(request.to_json().encode("utf-8", "surrogatepass")).hexdigest()
    return Reading(
        text, cases.get(text), told, instruction, own["name"] if own else "", label, digest
    )


def _told(prompt: str, block: re.Match[str]) -> Told:
    speaker = _SPEAKER.match(block["text"])
    own = block["tag"] in _OWN_TAGS or _OWN_OPINION.search(
        prompt[max(0, block.start() - 30) : block.start()]
    )
    return Told(
        "own" if own else block["tag"], speaker["speaker"] if speaker else "", block["text"]
    )


@lru_cache(maxsize=100_000)
def stances(text: str, labels: tuple[str, ...]) -> tuple[str, ...]:
    """The labels that a text speaks for, in their order; where a rubric speaks of these labels, as
    its rules say.
    """
    if rubric := rubric_for(frozenset(labels)):
        answer = rubric.answer_of(text)
        return (answer,) if answer else ()
    return tuple(found.casefold() for found in _names_of(labels).findall(text))


@lru_cache(maxsize=256)
def _names_of(labels: tuple[str, ...]) -> re.Pattern[str]:
    names = sorted((label.upper() for label in labels), key=len, reverse=True)
    return re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, names))})(?![A-Za-z0-9])")


@dataclass(frozen=True, slots=True)
class Belief:
    """A voice's belief about one question.

    Attributes:
        right: the true option.
        wrong: the option that tempts it most.
        log_odds: of the truth, on the scale of the model above.
        stated: of the truth, as the voice would state it.
    """

    right: str
    wrong: str
    log_odds: float
    stated: float

    @property
    def answer(self) -> str:
        """The option that it takes."""
        return self.right if self.log_odds > 0 else self.wrong

    @property
    def certainty(self) -> float:
        """The probability that it gives its answer, at least one half."""
        return 1 / (1 + math.exp(-min(abs(self.stated), 700)))


def form_belief(
    voice: SimulatedVoice, seed: int, request: Request, reading: Reading, options: Sequence[str]
) -> Belief:
    """The belief of a voice about a question with at least two options, in the order in which the
    prompt names them.
    """
    right = _true_option(reading, options)
    name = reading.case.name if reading.case and reading.case.name else reading.text
    others = [option for option in options if option != right]
    wrong = others[int(stable_fraction("tempting", seed, name, *options) * len(others))]
    chance = 0.5 if reading.case is None else voice.competence
    temperature = float(request.parameters.get("temperature", 1.0))
    wobble = voice.wobble * temperature
    deviation = max(math.hypot(voice.difficulty, voice.own, wobble), _SMALLEST)
    skill = _NORMAL.inv_cdf(chance)
    alone = (
        deviation * skill
        + voice.difficulty * normal("difficulty", seed, name)
        + voice.own * normal("own", seed, request.model, name)
        + wobble * normal("wobble", seed, reading.digest)
    )
    moved = (
        alone
        + _heard(voice, reading, right, wrong, options)
        + _liked(voice, reading, right, wrong, options)
    )
    return Belief(right, wrong, moved, voice.overconfidence * 2 * moved * abs(skill) / deviation)


def _true_option(reading: Reading, options: Sequence[str]) -> str:
    """Which of the options is true; where nothing is known, one that depends on the text alone."""
    case = reading.case
    if case is None:
        return options[int(stable_fraction("unknown", reading.text, *options) * len(options))]
    named = {option.casefold(): option for option in options}
    if found := next((named[target] for target in case.targets if target in named), None):
        return found
    if yes := next((named[word] for word in _AFFIRMATIVE if word in named), None):
        asked = _APPLIES.search(reading.instruction)
        label = (asked["label"] or asked["zh"]).casefold() if asked else case.positive
        return yes if label in case.targets else next(option for option in options if option != yes)
    unnamed = [option for word, option in named.items() if word not in case.labels]
    return unnamed[0] if unnamed else options[-1]


def _heard(
    voice: SimulatedVoice, reading: Reading, right: str, wrong: str, options: Sequence[str]
) -> float:
    labels = reading.case.labels if reading.case else tuple(option.casefold() for option in options)
    total, own, first = 0.0, 0.0, 0.0
    for told in reading.told:
        said = stances(told.text, labels)
        said = said if told.tag == "summary" else said[-1:]
        for label in said:
            direction = _direction(label, reading, right, wrong)
            if told.tag == "own" or (reading.own_name and told.speaker == reading.own_name):
                own = direction * voice.stubbornness  # the last position counts
            elif told.speaker == "Human Judge":
                total += direction * voice.human_pull
            elif _JUDGE.match(told.speaker):
                total += direction * voice.peer_pull
            else:
                total += voice.true_argument if direction > 0 else -voice.false_argument
                first = first or direction * voice.first_speaker
    return total + own + first


def _direction(label: str, reading: Reading, right: str, wrong: str) -> int:
    """1 where a label that was argued for is the truth, -1 where it is not."""
    if reading.case is not None:
        return 1 if label in reading.case.targets else -1
    return (label == right.casefold()) - (label == wrong.casefold())


def _liked(
    voice: SimulatedVoice, reading: Reading, right: str, wrong: str, options: Sequence[str]
) -> float:
    liking = voice.label_liking
    first = (right == options[0]) - (wrong == options[0])
    liked = (
        liking.get(right.casefold(), 0.0)
        - liking.get(wrong.casefold(), 0.0)
        + first * voice.first_option
    )
    if (
        voice.word_liking and reading.case is not None
    ):  # words of a case speak for its positive label
        positive = reading.case.positive
        towards = (right.casefold() == positive) - (wrong.casefold() == positive)
        words = set(_WORDS.findall(reading.text.casefold()))
        liked += towards * sum(
            liking for word, liking in voice.word_liking.items() if word.casefold() in words
        )
    return liked


def normal(*parts: object) -> float:
    """A standard normal number that depends on `parts` alone."""
    return _NORMAL.inv_cdf(min(max(stable_fraction(*parts), _SMALLEST), 1 - _SMALLEST))
