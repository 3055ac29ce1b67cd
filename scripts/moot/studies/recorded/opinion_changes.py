"""Occasions on which a speaker of a recorded debate could change an answer or a belief.

A member of a group has an occasion with each of their messages: they have heard the last message
of another member. A judge has an occasion with each belief except the first: they have heard the
public utterances since their previous belief.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from moot.core.types import Fields, Json
from moot.core.utterance_kinds import CONCLUSION, NO_LABEL, PUBLIC
from moot.scores.dynamics import judge_names, stated_answers
from moot.studies.recorded.data_nyu_debates import DEBATERS, LETTERS
from moot.studies.recorded.runs import RecordedRun

RIGHT_ANSWER, WRONG_ANSWER = "right", "wrong"
NO_ANSWER, UNDECIDED = "no answer", "undecided"
_COLUMNS = [
    "debate_id",
    "case_id",
    "turn",
    "round",
    "speaker",
    "visibility",
    "kind",
    "text",
    "parsed",
    "prediction",
]
_SIDES = dict(zip(DEBATERS, LETTERS, strict=True))
_QUOTATION = re.compile(r"[“«「\"]([^“”«»「」\"]+)[”»」\"]")


class HeardUtterance(NamedTuple):
    """An utterance that a member or judge heard before an occasion.

    Attributes:
        speaker: the speaker's name.
        answer: whether the speaker holds, or argues for, the right answer: RIGHT_ANSWER,
            WRONG_ANSWER, UNDECIDED or NO_ANSWER.
        kind: the kind of the utterance.
        role: the speaker's role; "" if unknown.
        word_count: words of the utterance, quotations included.
        quoted_word_count: words inside quotations. Both counts come from the record if it has them,
            else from the text.
    """

    speaker: str
    answer: str
    kind: str
    role: str
    word_count: int
    quoted_word_count: int


class Occasion(NamedTuple):
    """An occasion on which a member or judge could change an answer.

    Attributes:
        case_id, debate_id: the debate.
        answer_before, answer_after: RIGHT_ANSWER, WRONG_ANSWER or UNDECIDED.
        belief_change: the rise of the probability that the speaker gives to the right answer; NaN
            without stated probabilities.
        utterances: the utterances heard before it, at least one.
    """

    case_id: str
    debate_id: str
    answer_before: str
    answer_after: str
    belief_change: float
    utterances: Sequence[HeardUtterance]

    @property
    def word_count(self) -> int:
        """The number of words heard."""
        return sum(utterance.word_count for utterance in self.utterances)


class _Belief(NamedTuple):
    """A belief or an answer: the favoured answer, and the probability of the right one.

    `answer` is "" if the belief is unusable; `in_right` is NaN without a stated probability.
    `heard_count` is the number of utterances before the belief.
    """

    answer: str
    in_right: float
    heard_count: int


def group_members(run: RecordedRun) -> set[str]:
    """Return the members of the run's groups who state answers and hear other members.

    The set is empty if no member heard another one (judges do not), and if a case has no known
    truth.
    """
    if "judge" not in run.predictions or (run.predictions["target"] == "").any():
        return set()
    members = set(run.predictions["judge"].dropna())
    if not members:
        return set()
    opinions = stated_answers(run.results)
    is_of_member = (opinions["model"] == run.model) & opinions["speaker"].isin(members)
    heard = f",{','.join(opinions.loc[is_of_member, 'after'].unique())},"
    has_heard_others = any(f",{name}," in heard for name in members)
    return members if has_heard_others else set()


def find_occasions(run: RecordedRun) -> Iterator[Occasion]:
    """Yield every occasion of a run, debate by debate; nothing for cases without known truth."""
    cases = run.results.cases[["case_id", "target"]]
    targets = {str(case_id): target for case_id, target in cases.itertuples(index=False)}
    if any(targets[case_id] == "" for case_id in run.predictions["case_id"]):
        return
    members = group_members(run)
    judges = judge_names(run.predictions)
    for part in run.results.transcript_parts(_COLUMNS, run.model):
        rows = part[part["kind"] != CONCLUSION].to_dict("records")
        for _, debate_rows in groupby(rows, itemgetter("debate_id")):
            turns = list(debate_rows)
            target = targets[turns[0]["case_id"]]
            if members:
                yield from _occasions_of_members(turns, members, target)
            else:
                labels = run.results.task.labels
                yield from _occasions_of_judges(turns, judges, target, labels)


def _occasions_of_members(rows: list[Json], members: set[str], target: str) -> Iterator[Occasion]:
    """Yield the occasions of a group's members; an answer counts for the message before it."""
    answers: dict[str, str] = {}
    # The last message, and the last one by another speaker than its own.
    last_messages: list[HeardUtterance] = []
    pending: Occasion | None = None
    pending_speaker = ""
    for row in rows:
        speaker = row["speaker"]
        if row["text"] and row["visibility"] == PUBLIC and speaker in members:
            if pending:
                yield pending
            pending, pending_speaker = None, speaker
            from_others = [message for message in last_messages if message.speaker != speaker]
            answer = answers.get(speaker, "")
            if from_others and answer:
                message = from_others[0]
                message = message._replace(answer=answers.get(message.speaker, NO_ANSWER))
                pending = Occasion(
                    row["case_id"], row["debate_id"], answer, answer, float("nan"), [message]
                )
            last_messages = [_read_heard_utterance(row, NO_ANSWER), *from_others[:1]]
        answer = _read_belief(row, target, 0).answer
        if answer:
            answers[speaker] = answer
            if pending and pending_speaker == speaker:
                pending = pending._replace(answer_after=answers[speaker])
    if pending:
        yield pending


def _occasions_of_judges(
    rows: list[Json], judges: set[str], target: str, labels: Sequence[str]
) -> Iterator[Occasion]:
    """Yield the occasions of a debate's judges: each usable belief that follows another one.

    Without names of judges, every speaker who states beliefs is a judge.
    """
    judges = judges or {row["speaker"] for row in rows if _states_belief(row)}
    utterances: list[HeardUtterance] = []
    last_beliefs: dict[str, _Belief] = {}
    for row in rows:
        judge = row["speaker"]
        if judge not in judges:
            if _is_heard(row):
                utterances.append(_read_heard_utterance(row, _argued_answer(row, target, labels)))
            continue
        belief = _read_belief(row, target, len(utterances))
        if not belief.answer:
            continue
        previous = last_beliefs.get(judge)
        last_beliefs[judge] = belief
        utterances_since = utterances[previous.heard_count :] if previous else []
        if previous and utterances_since:
            yield Occasion(
                case_id=row["case_id"],
                debate_id=row["debate_id"],
                answer_before=previous.answer,
                answer_after=belief.answer,
                belief_change=belief.in_right - previous.in_right,
                utterances=utterances_since,
            )


def _states_belief(row: Fields) -> bool:
    return bool(row["prediction"]) or "distribution" in _read_facts(row)


def _is_heard(row: Fields) -> bool:
    """Return whether a turn is public and has words, in its text or by the record's count."""
    if row["visibility"] != PUBLIC:
        return False
    facts = _read_facts(row)
    return bool(row["text"] or facts.get("words") or facts.get("quoted_words"))


def _grade(prediction: str, target: str) -> str:
    return RIGHT_ANSWER if prediction == target else WRONG_ANSWER


def _argued_answer(row: Fields, target: str, labels: Sequence[str]) -> str:
    """Return whether a debater argues for the right answer; NO_ANSWER for a speaker without a
    label.
    """
    # The record names the side; debaters of the NYU debates have fixed sides; else a speaker may
    # be called as the label.
    speaker: str = row["speaker"]
    side = str(_read_facts(row).get("side") or _SIDES.get(speaker, speaker))
    if side == target or side in labels:
        return _grade(side, target)
    return NO_ANSWER


def _read_belief(row: Fields, target: str, heard_count: int) -> _Belief:
    facts = _read_facts(row)
    shares: Mapping[str, float] = facts.get("distribution", {})
    if not shares:
        prediction = row["prediction"]
        without_label = UNDECIDED if facts.get(NO_LABEL) else ""
        answer = _grade(prediction, target) if prediction else without_label
        return _Belief(answer, float("nan"), heard_count)
    highest = max(shares.values())
    favoured = [label for label, share in shares.items() if share == highest]
    answer = _grade(favoured[0], target) if len(favoured) == 1 else UNDECIDED
    return _Belief(answer, shares.get(target, float("nan")), heard_count)


def _read_heard_utterance(row: Fields, answer: str) -> HeardUtterance:
    facts, text = _read_facts(row), row["text"]
    if "quoted_words" in facts:
        quoted_word_count = facts["quoted_words"]
        word_count = facts["words"] + quoted_word_count
    else:
        quotations = _QUOTATION.findall(text)
        quoted_word_count = sum(len(quotation.split()) for quotation in quotations)
        word_count = len(text.split())
    return HeardUtterance(
        row["speaker"], answer, row["kind"], facts.get("role", ""), word_count, quoted_word_count
    )


def _read_facts(row: Fields) -> Fields:
    """Return the facts that a turn's record states in addition to its text."""
    return json.loads(row["parsed"]) or {} if row["parsed"] else {}


def describe_features(occasion: Occasion, median_words: float) -> dict[str, str]:
    """Describe the utterances heard before an occasion, by the name of the feature.

    Args:
        occasion: one occasion.
        median_words: the median number of words heard, over all occasions of the comparison.
    """
    utterances = occasion.utterances
    last = utterances[-1]
    features = {"its kind": last.kind}
    if last.role:
        features["its role"] = last.role
    is_longer = occasion.word_count > median_words
    features["its length"] = (
        f"more than {median_words:.0f} words" if is_longer else f"{median_words:.0f} words at most"
    )
    has_quotation = any(utterance.quoted_word_count for utterance in utterances)
    features["its quotation"] = "some" if has_quotation else "none"
    if not {RIGHT_ANSWER, WRONG_ANSWER} <= {utterance.answer for utterance in utterances}:
        features["its speaker"] = last.answer
        return features
    words = dict.fromkeys((RIGHT_ANSWER, WRONG_ANSWER, NO_ANSWER), 0)
    quoted_words = dict(words)
    for utterance in utterances:
        words[utterance.answer] += utterance.word_count
        quoted_words[utterance.answer] += utterance.quoted_word_count
    features["more words"] = _side_with_more(words)
    features["more words quoted"] = _side_with_more(quoted_words)
    return features


def _side_with_more(words: Mapping[str, int]) -> str:
    """Return the side with more words, by answer."""
    if words[RIGHT_ANSWER] == words[WRONG_ANSWER]:
        return "both alike"
    is_right_side = words[RIGHT_ANSWER] > words[WRONG_ANSWER]
    return f"the {RIGHT_ANSWER if is_right_side else WRONG_ANSWER} side"
