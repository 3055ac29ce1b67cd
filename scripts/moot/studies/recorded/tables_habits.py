"""Habits of recorded judges, people too: which side of a debate they take more often than its merit
explains.

Nothing was varied here, so a habit is set against what the same debates deserve: their truth where
it is known, else the verdicts of the other judges of the same debates.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pandas as pd

from moot.core.cases import Cluster
from moot.core.kinds import CONCLUSION, PUBLIC
from moot.core.types import Json
from moot.report import table
from moot.report.columns import Row
from moot.report.content import StudyResults, TableContent
from moot.report.habits import CHOSEN, EXPECTED, habit_row, habits_table
from moot.stats.bootstrap import as_numbers
from moot.studies.recorded.occasions import facts_of, heard_in, side_of
from moot.studies.recorded.runs import STUDY, RecordedRun, recorded_runs
from moot.studies.recorded.tables_ratings import family
from moot.studies.recorded.tables_tournament import LOADER as TOURNAMENT

FEWEST_VERDICTS = 10
ALL = "all judges"
_DEBATE = ["case_id", "repeat"]
_COLUMNS = ["repeat", "speaker", "visibility", "kind", "text", "parsed"]
_SIDE, _LENGTH = "side", "length"
_TRUTH, _OTHERS, _HALF = "the truth", "the other judges of the same debates", "one half"
_SURE = """
always certain certainly clear clearly definitely evident evidently indeed never obvious obviously plainly surely
undeniable undeniably undoubtedly unquestionably must proves proven demonstrates
"""
_UNSURE = """
almost apparent apparently appear appears approximately arguably could doubt generally guess likely mainly may maybe
might often perhaps plausible plausibly possible possibly presumably probable probably seem seems should sometimes
somewhat suggest suggests suppose tend tends typically uncertain unclear unlikely usually
"""
_TONES = {word: tone for words, tone in ((_SURE, 1), (_UNSURE, -1)) for word in words.split()}
_WORD = re.compile(r"[a-z]+")


class Spoken(NamedTuple):
    """What was said for one side of a debate;
    `tone`: words of certainty less words of doubt, by word.
    """

    words: int
    quoted: int
    tone: float
    last_turn: int


def sides_spoken_for(run: RecordedRun) -> Mapping[tuple[str, int], Mapping[str, Spoken]]:
    """What was said for each label of each debate, by case and repeat; nothing where no side is
    known.
    """
    found: dict[tuple[str, int], dict[str, Spoken]] = {}
    for part in run.results.parts(_COLUMNS, run.model):
        public = part[(part["visibility"] == PUBLIC) & (part["kind"] != CONCLUSION)]
        rows: list[Json] = public.to_dict("records")
        for row in rows:
            side = side_of(row["speaker"], facts_of(row))
            if side in run.results.task.labels:
                heard = heard_in(row, "")
                tone = sum(_TONES.get(word, 0) for word in _WORD.findall(row["text"].casefold()))
                debate = found.setdefault((row["case_id"], row["repeat"]), {})
                before = debate.get(side, Spoken(0, 0, 0.0, 0))
                words, sure = before.words + heard.words, before.tone * before.words + tone
                debate[side] = Spoken(
                    words, before.quoted + heard.quoted, sure / max(words, 1), row["turn"]
                )
    return found


def favoured_sides(run: RecordedRun) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each habit, and the side that it favours in each debate where it favours one: case_id,
    repeat, side.
    """
    spoken = sides_spoken_for(run)
    positive, both = (
        run.results.task.positive,
        {key: sides for key, sides in spoken.items() if len(sides) > 1},
    )
    found = {f"{_SIDE}: {positive}": dict.fromkeys(both, positive) if positive else {}}
    found["the one side heard"] = {
        key: next(iter(sides)) for key, sides in spoken.items() if len(sides) == 1
    }
    for habit, name in {
        "the last word": "last_turn", _LENGTH: "words", "words quoted": "quoted", "confidence of tone": "tone",
    }.items():  # fmt: skip
        found[habit] = {key: side for key, sides in both.items() if (side := _most(sides, name))}
    if len(set(found["the last word"].values())) == 1:  # one side always has it: the habit `side`
        del found["the last word"]
    for habit, sides in found.items():
        if sides:
            rows = [(*key, side) for key, side in sides.items()]
            yield habit, pd.DataFrame(rows, columns=[*_DEBATE, "side"])


def _most(sides: Mapping[str, Spoken], name: str) -> str:
    amounts = {label: getattr(one, name) for label, one in sides.items()}
    first = [label for label, amount in amounts.items() if amount == max(amounts.values())]
    return first[0] if len(first) == 1 else ""


@table(
    STUDY,
    "recorded_habits",
    "What verdicts of recorded judges go with",
    loaders=("nyu_debates", TOURNAMENT, "transcripts"),
)
def recorded_habits(results: StudyResults) -> TableContent:
    """How much more often recorded judges take the longer, surer or later side, or their own
    family's, than its merit explains, judge by judge.
    """
    rows = [row for run in recorded_runs(results) for row in _rows(run)]
    return habits_table(
        rows,
        f"Against {_TRUTH}: expected is how often the side that the habit favours is right, which a"
        " judge who is always right would choose. Where no truth is known, one judge is set"
        f" against {_OTHERS}, and all of them against {_HALF}, but for side and length in a"
        f" tournament, which the table `tournament` has. Judges of fewer than {FEWEST_VERDICTS}"
        " such verdicts are among all judges alone.",
        "Nothing was varied: a longer or surer side may also argue better, which the truth cannot"
        " tell and other judges of the same debates can. The last word has a row where it is not"
        " always the same side's.",
        "Confidence of tone: words of certainty less words of doubt, by word (single English words"
        " among the boosters and hedges of Hyland 2005). Own family: debates in which one debater"
        " alone is of the judge's family, the letters that a model's name begins with; expected is"
        " the share among judges of other families. Verdicts without an answer are left out.",
    )


def _rows(run: RecordedRun) -> Iterator[Row]:
    verdicts = _verdicts(run)
    favoured = [(habit, verdicts.merge(sides, on=_DEBATE)) for habit, sides in favoured_sides(run)]
    for habit, rows in favoured:
        rows[CHOSEN] = as_numbers(rows["prediction"] == rows["side"])
        if (rows["target"] != "").all():
            rows[EXPECTED] = as_numbers(rows["target"] == rows["side"])
            yield from habit_row(
                _about(run, habit, _TRUTH, ALL), rows, run.results.clusters, run.results.seed
            )
            yield from _of_judges(run, habit, _TRUTH, rows)
        else:
            if not (run.results.config.loader == TOURNAMENT and habit.startswith((_SIDE, _LENGTH))):
                half = rows.assign(**{EXPECTED: 0.5})
                yield from habit_row(
                    _about(run, habit, _HALF, ALL), half, run.results.clusters, run.results.seed
                )
            debates = rows.groupby(_DEBATE)[CHOSEN]
            others = debates.transform("size") - 1
            rows[EXPECTED] = (debates.transform("sum") - rows[CHOSEN]) / others.where(others > 0)
            yield from _of_judges(run, habit, _OTHERS, rows.dropna(subset=[EXPECTED]))
    own = _own_family(run, verdicts)
    habit, by = "own family", f"{_OTHERS}, of other families"
    if own["judge"].nunique() > 1:
        yield from habit_row(
            _about(run, habit, by, ALL), own, run.results.clusters, run.results.seed
        )
    yield from _of_judges(run, habit, by, own)


def _about(run: RecordedRun, habit: str, by: str, judge: str) -> Row:
    return {"data": (run.data, run.method, judge), "habit": habit, "known by": by}


def _of_judges(run: RecordedRun, habit: str, by: str, rows: pd.DataFrame) -> Iterator[Row]:
    for judge, mine in rows.groupby("judge", sort=True):
        if len(mine) >= FEWEST_VERDICTS:
            clusters = _without_judge(run.results.clusters, set(mine["case_id"]))
            yield from habit_row(
                _about(run, habit, by, str(judge)), mine, clusters, run.results.seed
            )


def _without_judge(clusters: Mapping[str, Cluster], cases: set[str]) -> Mapping[str, Cluster]:
    """The clusters of some cases, each without the part that is the same in all: verdicts of one
    judge share it.
    """
    found = {case: clusters[case] for case in cases}
    if not all(isinstance(one, tuple) for one in found.values()):
        return found
    kinds = [
        number
        for number, names in enumerate(zip(*found.values(), strict=True))
        if len(set(names)) > 1
    ]
    return {
        case: one[kinds[0]] if len(kinds) == 1 else tuple(one[kind] for kind in kinds)
        for case, one in found.items()
    }


def _verdicts(run: RecordedRun) -> pd.DataFrame:
    """The valid verdicts with the judge who gave each: case_id, repeat, prediction, target, judge."""
    rows = run.valid
    cases = run.results.cases
    named = {
        case: told.get("judge", "")
        for case, told in zip(cases["case_id"], cases["attributes"], strict=True)
    }
    judge = rows["judge"] if "judge" in rows else pd.Series("", rows.index)
    by_case = rows["case_id"].map(named)
    judge = judge.where(judge.notna() & (judge != ""), by_case.where(by_case != "", run.model_name))
    return rows[[*_DEBATE, "prediction", "target"]].assign(judge=judge)


def _own_family(run: RecordedRun, verdicts: pd.DataFrame) -> pd.DataFrame:
    """Verdicts of judges of whose family is one debater alone, beside those of the same debate's
    other judges.
    """
    cases = run.results.cases
    told = dict(zip(cases["case_id"], cases["attributes"], strict=True))
    found = []
    for (case, _), rows in verdicts.groupby(_DEBATE):
        families = {
            label: family(told[case][label])
            for label in run.results.task.labels
            if told[case].get(label)
        }
        for judge, answer in zip(rows["judge"], rows["prediction"], strict=True):
            mine = [label for label, name in families.items() if name == family(judge)]
            others = rows[rows["judge"].map(family) != family(judge)]
            if len(mine) == 1 and len(families) > 1 and len(others):
                expected = float((others["prediction"] == mine[0]).mean())
                found.append((case, judge, float(answer == mine[0]), expected))
    return pd.DataFrame(found, columns=["case_id", "judge", CHOSEN, EXPECTED])
