"""Occasions to change an answer or a belief in recorded debates, and what was heard just before
each.

A member of a group has an occasion with each message of theirs: heard is the last message of
another member. A judge has one with each belief but the first: heard is what was said in public
since the belief before.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from moot.core.kinds import CONCLUSION, PUBLIC
from moot.core.types import Fields, Json
from moot.scores.dynamics import stated_predictions
from moot.studies.recorded.data_nyu_debates import DEBATERS, LETTERS
from moot.studies.recorded.runs import RecordedRun

RIGHT, WRONG, UNKNOWN, UNDECIDED = "right", "wrong", "no answer", "undecided"
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
_QUOTED = re.compile(r"[“«「\"]([^“”«»「」\"]+)[”»」\"]")


class Heard(NamedTuple):
    """A statement that was heard.

    `answer`: whether its speaker holds, or argues for, the right answer. `words`, `quoted`: how
    many words it has, and how many of them are quoted; by the record's own count where it has one.
    """

    speaker: str
    answer: str
    kind: str
    role: str
    words: int
    quoted: int


class Occasion(NamedTuple):
    """A member or judge who might have changed an answer: what they held before and after, and what
    they had heard.

        `held`, `now`: RIGHT, WRONG or UNDECIDED. `moved`: by how much the probability that they
        give to the right answer rose; NaN where none was stated.
    """

    case_id: str
    debate_id: str
    held: str
    now: str
    moved: float
    heard: Sequence[Heard]

    @property
    def words(self) -> int:
        """How many words were heard."""
        return sum(one.words for one in self.heard)


def members(run: RecordedRun) -> set[str]:
    """Who has an answer of their own in debates in which others speak, where the truth is known;
    else empty.
    """
    named = set(run.predictions["judge"].dropna()) if "judge" in run.predictions else set()
    if not named or not (run.predictions["target"] != "").all():
        return set()
    opinions = stated_predictions(run.results)
    heard = opinions[
        (opinions["model"] == run.model)
        & opinions["speaker"].isin(named)
        & (opinions["after"] != "")
    ]
    return named if len(heard) else set()


def occasions(run: RecordedRun) -> Iterator[Occasion]:
    """Every occasion of a run whose cases have a known truth, debate by debate; none where nobody
    states twice.
    """
    targets = {
        str(case): target
        for case, target in run.results.cases[["case_id", "target"]].itertuples(index=False)
    }
    if "" in {targets[case] for case in run.predictions["case_id"]}:
        return
    named = members(run)
    for part in run.results.parts(_COLUMNS, run.model):
        rows = part[part["kind"] != CONCLUSION].to_dict("records")
        for _, debate in groupby(rows, itemgetter("debate_id")):
            turns = list(debate)
            target = targets[turns[0]["case_id"]]
            yield from (
                _of_members(turns, named, target)
                if named
                else _of_judges(turns, target, run.results.task.labels)
            )


def _of_members(rows: list[Json], named: set[str], target: str) -> Iterator[Occasion]:
    holds: dict[str, str] = {}
    spoken: list[Heard] = []  # the last message, and the last one of somebody else
    pending, speaking = None, ""
    for row in rows:
        speaker = row["speaker"]
        if row["text"] and row["visibility"] == PUBLIC and speaker in named:
            if pending:
                yield pending
            pending, speaking = None, speaker
            others = [one for one in spoken if one.speaker != speaker]
            if others and holds.get(speaker):
                heard = others[0]._replace(answer=holds.get(others[0].speaker, UNKNOWN))
                held = holds[speaker]
                pending = Occasion(
                    row["case_id"], row["debate_id"], held, held, float("nan"), [heard]
                )
            spoken = [_heard_in(row, UNKNOWN), *others[:1]]
        if row["prediction"]:
            holds[speaker] = RIGHT if row["prediction"] == target else WRONG
            if pending and speaking == speaker:
                pending = pending._replace(now=holds[speaker])
    if pending:
        yield pending


def _of_judges(rows: list[Json], target: str, labels: Sequence[str]) -> Iterator[Occasion]:
    judges = {
        row["speaker"] for row in rows if row["prediction"] or "distribution" in _facts_of(row)
    }
    spoken: list[Heard] = []
    last: dict[str, tuple[int, str, float]] = {}
    for row in rows:
        who, facts = row["speaker"], _facts_of(row)
        if who in judges:
            held, belief = _belief(row, target)
            since, held_before, believed = last.get(who, (0, "", float("nan")))
            if held_before and held and spoken[since:]:
                place = row["case_id"], row["debate_id"]
                yield Occasion(*place, held_before, held, belief - believed, spoken[since:])
            if held:
                last[who] = (len(spoken), held, belief)
        elif row["visibility"] == PUBLIC and (
            row["text"] or facts.get("words") or facts.get("quoted_words")
        ):
            side = _side_of(who, facts)
            spoken.append(
                _heard_in(row, RIGHT if side == target else WRONG if side in labels else UNKNOWN)
            )


def _belief(row: Fields, target: str) -> tuple[str, float]:
    """What a belief favours, "" where it cannot be used; and the probability of the right answer."""
    shares: Mapping[str, float] = _facts_of(row).get("distribution", {})
    if not shares:
        return (
            (RIGHT if row["prediction"] == target else WRONG) if row["prediction"] else ""
        ), float("nan")
    favoured = [label for label, share in shares.items() if share == max(shares.values())]
    held = UNDECIDED if len(favoured) > 1 else RIGHT if favoured == [target] else WRONG
    return held, shares.get(target, float("nan"))


def _heard_in(row: Fields, answer: str) -> Heard:
    """A turn as those heard it who have to answer."""
    facts, text = _facts_of(row), row["text"]
    if "quoted_words" in facts:
        words, quoted = facts["words"] + facts["quoted_words"], facts["quoted_words"]
    else:
        words, quoted = (
            len(text.split()),
            sum(len(found.split()) for found in _QUOTED.findall(text)),
        )
    return Heard(row["speaker"], answer, row["kind"], facts.get("role", ""), words, quoted)


def _facts_of(row: Fields) -> Fields:
    """What a turn's record says beside its words."""
    return json.loads(row["parsed"]) or {} if row["parsed"] else {}


def _side_of(speaker: str, facts: Fields) -> str:
    """The label that a speaker argues for, as the record says; the speaker's own name where it says
    nothing.
    """
    return facts.get("side") or _SIDES.get(speaker, speaker)


def features(occasion: Occasion, typical: float) -> dict[str, str]:
    """What was heard before an occasion, in words, by kind of feature.

    Args:
        occasion: one occasion.
        typical: the median number of words heard, of all occasions it is compared with.
    """
    last, heard = occasion.heard[-1], occasion.heard
    found = {"its kind": last.kind} | ({"its role": last.role} if last.role else {})
    longer = occasion.words > typical
    found["its length"] = (
        f"more than {typical:.0f} words" if longer else f"{typical:.0f} words at most"
    )
    found["its quotation"] = "some" if any(one.quoted for one in heard) else "none"
    if not {RIGHT, WRONG} <= {one.answer for one in heard}:
        return found | {"its speaker": last.answer}
    for feature, what in (("more words", "words"), ("more words quoted", "quoted")):
        right, wrong = (
            sum(getattr(one, what) for one in heard if one.answer == side)
            for side in (RIGHT, WRONG)
        )
        found[feature] = (
            "both alike" if right == wrong else f"the {RIGHT if right > wrong else WRONG} side"
        )
    return found
