"""Beliefs of simulated voices: the log-odds that a voice gives to the truth.

    belief = sigma * Phi^-1(competence) + difficulty_sd * D(case) + model_sd * O(model, case)
             + noise_sd * temperature * W(call) + statements + preferences

D, O and W are standard normal and drawn from a digest of their arguments. sigma is the standard
deviation of their sum, so a voice without statements and preferences is right with the probability
`competence`. The answer is right if the belief is above 0. See docs/planning.md. Prompts are read
as they are sent; protocols need no change.
"""

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

from moot.core.cases import Case, Task, stable_fraction
from moot.core.rubric import rubric_for
from moot.core.simulated_voice import SimulatedVoice
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
    """The facts about a case that a simulated voice knows in addition to its text.

    Attributes:
        targets: the true label, or labels.
        labels: every label of the task.
        positive: the task's positive label.
        name: the case id. Its difficulty is drawn from it, so other wordings are equally hard.
    """

    targets: tuple[str, ...]
    labels: tuple[str, ...]
    positive: str
    name: str = ""


@dataclass(frozen=True)
class World:
    """The seed and the known cases of a job; a case is found by its text in prompts."""

    seed: int
    cases: Mapping[str, KnownCase]


def build_world(seed: int, cases: Sequence[Case] = (), task: Task | None = None) -> World:
    """Return the world of a job; its cases are keyed by their text, as prompts show it."""
    known_cases = {
        escape_as_in_prompt(case.text): KnownCase(
            tuple(case.target.split(";")),
            task.labels,
            task.positive or task.labels[-1],
            case.case_id,
        )
        for case in cases
        if task is not None
    }
    return World(seed, known_cases)


def escape_as_in_prompt(text: str) -> str:
    """Return a text as prompts show it between tags."""
    return enclose(text, "t")[len("<t>\n") : -len("\n</t>")]


@dataclass(frozen=True, slots=True)
class QuotedText:
    """A text between tags in a prompt, other than the case: its tag, its speaker and its words."""

    tag: str
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Reading:
    """A prompt as a simulated voice reads it.

    Attributes:
        text: the text of the case, or the first text if no case is known.
        case: the known facts about the case; None for an unknown case.
        quotes: all other texts between tags.
        instruction: the text outside of tags, without the system message.
        own_name: the name by which the prompt addresses a judge of a panel.
        side: the label that the voice must argue for, or "".
        digest: the digest of the request.
    """

    text: str
    case: KnownCase | None
    quotes: tuple[QuotedText, ...]
    instruction: str
    own_name: str
    side: str
    digest: str


def read_request(request: Request, cases: Mapping[str, KnownCase]) -> Reading:
    """Find the case in a prompt, and the statements about it.

    The last known case is used, since examples come before it.
    """
    prompt = "\n".join(message.content for message in request.messages if message.role != "system")
    blocks = list(_BLOCK.finditer(prompt))
    known_texts = [block["text"] for block in blocks if block["text"] in cases]
    text = known_texts[-1] if known_texts else next((block["text"] for block in blocks), "")
    quotes = tuple(
        _read_quote(prompt, block)
        for block in blocks
        if block["text"] not in cases and block["text"] != text
    )
    instruction = _BLOCK.sub("", prompt)
    name, side = _OWN_NAME.search(instruction), _SIDE.search(instruction)
    label = (side["label"] or side["zh"]).casefold() if side else ""
    digest = hashlib.sha256(request.to_json().encode("utf-8", "surrogatepass")).hexdigest()
    return Reading(
        text, cases.get(text), quotes, instruction, name["name"] if name else "", label, digest
    )


def _read_quote(prompt: str, block: re.Match[str]) -> QuotedText:
    speaker = _SPEAKER.match(block["text"])
    is_own = block["tag"] in _OWN_TAGS or _OWN_OPINION.search(
        prompt[max(0, block.start() - 30) : block.start()]
    )
    return QuotedText(
        "own" if is_own else block["tag"], speaker["speaker"] if speaker else "", block["text"]
    )


@lru_cache(maxsize=100_000)
def find_stances(text: str, labels: tuple[str, ...]) -> tuple[str, ...]:
    """Return the labels that a text argues for, in order; by the rubric's rules if there is one."""
    if rubric := rubric_for(frozenset(labels)):
        answer = rubric.answer_of(text)
        return (answer,) if answer else ()
    return tuple(name.casefold() for name in _label_pattern(labels).findall(text))


@lru_cache(maxsize=256)
def _label_pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
    names = sorted((label.upper() for label in labels), key=len, reverse=True)
    return re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, names))})(?![A-Za-z0-9])")


@dataclass(frozen=True, slots=True)
class Belief:
    """A voice's belief about one question.

    Attributes:
        true_option: the true option.
        tempting_option: the most tempting false option.
        log_odds: the log-odds of the truth on the scale of the model above.
        stated_log_odds: the log-odds of the truth that the voice states.
    """

    true_option: str
    tempting_option: str
    log_odds: float
    stated_log_odds: float

    @property
    def answer(self) -> str:
        """The option that the voice chooses."""
        return self.true_option if self.log_odds > 0 else self.tempting_option

    @property
    def certainty(self) -> float:
        """The probability that the voice gives to its answer, at least one half."""
        return 1 / (1 + math.exp(-min(abs(self.stated_log_odds), 700)))


def form_belief(
    voice: SimulatedVoice, seed: int, request: Request, reading: Reading, options: Sequence[str]
) -> Belief:
    """Return a voice's belief about a question with at least two options, in the prompt's order."""
    true_option = _find_true_option(reading, options)
    name = reading.case.name if reading.case and reading.case.name else reading.text
    false_options = [option for option in options if option != true_option]
    tempting_option = false_options[0]
    if len(false_options) > 1:
        fraction = stable_fraction("tempting", seed, name, *options)
        tempting_option = false_options[int(fraction * len(false_options))]
    chance = 0.5 if reading.case is None else voice.competence
    temperature = float(request.parameters.get("temperature", 1.0))
    noise_sd = voice.noise_sd * temperature
    deviation = max(math.hypot(voice.difficulty_sd, voice.model_sd, noise_sd), _SMALLEST)
    skill = _NORMAL.inv_cdf(chance)
    prior_log_odds = (
        deviation * skill
        + voice.difficulty_sd * _draw_of_case("difficulty", seed, name)
        + voice.model_sd * _draw_of_case("own", seed, request.model, name)
        + noise_sd * draw_normal("wobble", seed, reading.digest)
    )
    log_odds = (
        prior_log_odds
        + _weigh_statements(voice, reading, true_option, tempting_option, options)
        + _weigh_preferences(voice, reading, true_option, tempting_option, options)
    )
    return Belief(
        true_option,
        tempting_option,
        log_odds,
        voice.overconfidence * 2 * log_odds * abs(skill) / deviation,
    )


def _find_true_option(reading: Reading, options: Sequence[str]) -> str:
    """Return the true option; for an unknown case, an option that depends on the text alone."""
    case = reading.case
    if case is None:
        return options[int(stable_fraction("unknown", reading.text, *options) * len(options))]
    options_by_word = {option.casefold(): option for option in options}
    if match := next(
        (options_by_word[target] for target in case.targets if target in options_by_word), None
    ):
        return match
    if affirmative := next(
        (options_by_word[word] for word in _AFFIRMATIVE if word in options_by_word), None
    ):
        question = _APPLIES.search(reading.instruction)
        label = (question["label"] or question["zh"]).casefold() if question else case.positive
        return (
            affirmative
            if label in case.targets
            else next(option for option in options if option != affirmative)
        )
    unlabelled = [option for word, option in options_by_word.items() if word not in case.labels]
    return unlabelled[0] if unlabelled else options[-1]


def _weigh_statements(
    voice: SimulatedVoice,
    reading: Reading,
    true_option: str,
    tempting_option: str,
    options: Sequence[str],
) -> float:
    labels = reading.case.labels if reading.case else tuple(option.casefold() for option in options)
    total, own_weight, first_weight = 0.0, 0.0, 0.0
    for quote in reading.quotes:
        stances = find_stances(quote.text, labels)
        stances = stances if quote.tag == "summary" else stances[-1:]
        for label in stances:
            direction = _direction(label, reading, true_option, tempting_option)
            if quote.tag == "own" or (reading.own_name and quote.speaker == reading.own_name):
                own_weight = direction * voice.stubbornness  # the last position counts
            elif quote.speaker == "Human Judge":
                total += direction * voice.human_pull
            elif _JUDGE.match(quote.speaker):
                total += direction * voice.peer_pull
            else:
                total += voice.true_argument if direction > 0 else -voice.false_argument
                first_weight = first_weight or direction * voice.first_speaker_bias
    return total + own_weight + first_weight


def _direction(label: str, reading: Reading, true_option: str, tempting_option: str) -> int:
    """Return 1 if an argued label is the truth, -1 if it is not."""
    if reading.case is not None:
        return 1 if label in reading.case.targets else -1
    return (label == true_option.casefold()) - (label == tempting_option.casefold())


def _weigh_preferences(
    voice: SimulatedVoice,
    reading: Reading,
    true_option: str,
    tempting_option: str,
    options: Sequence[str],
) -> float:
    liking = voice.label_bias
    first = (true_option == options[0]) - (tempting_option == options[0])
    total = (
        liking.get(true_option.casefold(), 0.0)
        - liking.get(tempting_option.casefold(), 0.0)
        + first * voice.first_option_bias
    )
    # Words of a case argue for its positive label.
    if voice.word_bias and reading.case is not None:
        positive = reading.case.positive
        direction = (true_option.casefold() == positive) - (tempting_option.casefold() == positive)
        words = set(_WORDS.findall(reading.text.casefold()))
        total += direction * sum(
            liking for word, liking in voice.word_bias.items() if word.casefold() in words
        )
    return total


def draw_normal(*parts: object) -> float:
    """Return a standard normal number that depends on `parts` alone."""
    return _NORMAL.inv_cdf(min(max(stable_fraction(*parts), _SMALLEST), 1 - _SMALLEST))


_draw_of_case = lru_cache(maxsize=4096)(draw_normal)
"""`draw_normal` of what stays the same in all questions about a case."""
