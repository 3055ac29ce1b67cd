"""Where verdicts come from: how much of their variance lies between cases, judges and methods, and
in asking again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from moot.analyses.variance.components import (
    FEWEST_LEVELS,
    FEWEST_PAIRS,
    Component,
    Decomposition,
    Effect,
    decompose,
)
from moot.core.cases import cluster_attributes, positive_of_two
from moot.report import EVERY_STUDY_AND_COMPARISON, table
from moot.report.columns import Columns, Row
from moot.report.content import StudyResults, TableContent, data_label
from moot.scores.results import ExperimentResults
from moot.stats.bootstrap import Floats, as_numbers

VERDICT, RIGHT = "verdict", "right answer"
AGAIN = "asking again"
SAID = {VERDICT: "verdicts", RIGHT: "being right"}
CASE, DEBATE, MODEL, METHOD = "case", "debate", "model", "method"
JUDGED_BY = ("judge", "persona")
TOO_FEW = f"too few: fewer than {FEWEST_PAIRS} pairs of answers share anything, or none differ"
_TOLD = 0.045
COLUMNS = (
    Columns()
    .keys("data", "answers of", "outcome")
    .plain("part")
    .estimate("share of variance", "share")
    .ours("variance", digits=".4f")
    .counts("levels", "answers")
    .plain("not told apart from", "what would tell them apart", "speaks of", "in words")
    .short_form(
        "data",
        "answers of",
        "outcome",
        "part",
        "share of variance",
        "share, 95 % interval",
        "answers",
        "in words",
    )
)


@dataclass(frozen=True, slots=True)
class Answers:
    """Some answers, as rows of predictions: by which method, about which data, and the levels of
    each one's facets.
    """

    name: str
    data: str
    rows: pd.DataFrame
    facets: Mapping[str, Sequence[object]]
    positive: str

    @property
    def outcomes(self) -> Iterator[tuple[str, Floats, "Answers"]]:
        """What is decomposed: its name, its values (missing answers count as wrong, else not), and
        the answers.
        """
        valid = self.rows["status"] == "valid"
        answered, words = self.only(valid), self.rows.loc[valid, "prediction"]
        labels = sorted(words.unique())
        yield (
            VERDICT,
            as_numbers([[word == label for label in labels[len(labels) == 2 :]] for word in words]),
            answered,
        )
        if self.rows["target"].fillna("").ne("").all():
            yield RIGHT, as_numbers(valid & (self.rows["prediction"] == self.rows["target"])), self
        stated = answered.rows["score"].notna()
        if self.positive and answered.rows.loc[stated, "score"].nunique() > len(labels):
            some = answered.only(stated)
            yield f"probability of {self.positive}", as_numbers(some.rows["score"]), some

    def only(self, kept: "pd.Series[bool]") -> "Answers":
        """Some of them."""
        chosen = np.flatnonzero(kept).tolist()
        facets = {name: [levels[row] for row in chosen] for name, levels in self.facets.items()}
        return replace(self, rows=self.rows[kept], facets=facets)


@table(EVERY_STUDY_AND_COMPARISON, "where_verdicts_come_from", "Where do verdicts come from?")
def where_verdicts_come_from(results: StudyResults) -> TableContent:
    """How much of the variance of verdicts lies between cases, between debates of a case, between
    judges, models and methods, and in asking the same again.
    """
    each = [answers_of(found) for found in results.experiments.values()]
    together = [
        joined
        for data in dict.fromkeys(one.data for one in each)
        if (joined := _together(results, data))
    ]
    largest = {one.data: one.name for one in sorted(each, key=lambda one: len(one.rows))}
    rows = [
        row
        for one in (*each, *together)
        for row in _rows(one, in_words=largest[one.data] == one.name)
    ]
    return COLUMNS.table(
        rows,
        [
            (
                "Model: an answer is a mean, an independent effect of each facet and of each"
                " combination that the design shows, and what is left. Estimates are Koch's"
                " unbiased moments (1968; those of the analysis of variance in balanced designs:"
                " Searle, Casella and McCulloch 1992; Brennan 2001), right and wrong on the scale"
                " of probabilities. A component may come out negative where it is small, and stays"
                " so: cutting it at 0 would make it too large on average. Shares add up to 1."
            ),
            (
                "Intervals leave each case (judge, persona, ...) out once, and are those of an"
                " intraclass correlation; docs/results.md has their coverage. A facet of fewer"
                f" than {FEWEST_LEVELS} levels stands for no others: the interval holds for these"
                " (`speaks of`). Without an interval: no facet has as many levels."
            ),
            (
                "`asking again` is what differs when everything else is the same: of a debate that"
                " is held again by the same model all that sampling does, of a judge who is asked"
                " again about one debate the judge's own noise."
            ),
            (
                "A verdict is a valid answer; half the squared difference of two is 1 where words"
                " differ. Of right answers an invalid one is wrong."
            ),
        ],
    )


def answers_of(found: ExperimentResults) -> Answers:
    """The answers of an experiment, with the facets that its rows and its data set name."""
    rows = found.predictions
    facets: dict[str, Sequence[object]] = {CASE: list(rows["case_id"])}
    for name in cluster_attributes(found.task.cluster):
        facets[name] = [found.attributes[case].get(name) for case in rows["case_id"]]
    if (
        rows.duplicated(["model", "case_id", "repeat"]).any()
        or "source_experiment" in found.config.params
    ):
        facets[DEBATE] = list(zip(rows["case_id"], rows["repeat"], strict=True))
    for name in JUDGED_BY:
        if name in rows and rows[name].notna().any():
            facets[name] = list(rows[name].fillna(""))
    facets[MODEL] = list(rows["model"])
    return Answers(found.experiment, data_label(found), rows, facets, positive_of_two(found.task))


def _together(results: StudyResults, data: str) -> Answers | None:
    """All answers about a data set's cases, by control arms too, with the method as a facet;
    None of a single one.
    """
    some = [
        answers_of(found)
        for found in results.experiments_and_controls.values()
        if data_label(found) == data
    ]
    if len(some) == 1:
        return None
    rows = pd.concat([one.rows for one in some], ignore_index=True)
    common = [
        name
        for name in some[0].facets
        if name != DEBATE and all(name in one.facets for one in some)
    ]
    facets = {name: [level for one in some for level in one.facets[name]] for name in common}
    facets[METHOD] = [one.name for one in some for _ in range(len(one.rows))]
    return replace(some[0], name=f"all {len(some)} methods", rows=rows, facets=facets)


def _rows(answers: Answers, *, in_words: bool) -> Iterator[Row]:
    for outcome, values, kept in answers.outcomes:
        keys: Row = {"data": (answers.data, answers.name, outcome)}
        found = decompose(values, kept.facets)
        if found is None:
            yield keys | {"part": TOO_FEW, "answers": len(kept.rows)}
            continue
        told_apart = len(found.components) > 1
        told = (
            _in_words(kept, found, SAID[outcome])
            if in_words and told_apart and outcome in SAID
            else ""
        )
        speaks_of = _speaks_of(kept, found)
        for part in found.components:
            yield keys | {
                "part": part_name(part.effect),
                "share of variance": (part.share, part.low, part.high),
                "variance": part.variance,
                "levels": part.levels if part.effect else len(kept.rows),
                "answers": found.answers,
                "not told apart from": "; ".join(part_name(effect) for effect in part.confounded),
                "what would tell them apart": _addition(part),
                "speaks of": speaks_of,
                "in words": told,
            }
            told = ""


def part_name(effect: Effect) -> str:
    """What a component is called."""
    if len(effect) <= 1:
        return f"between {plural(*effect)}" if effect else AGAIN
    *first, last = sorted(effect)
    return f"in {', '.join(first)} and {last} together"


def plural(facet: str) -> str:
    """Several levels of a facet."""
    return f"{facet[:-1]}ies" if facet.endswith("y") else f"{facet}s"


def _addition(part: Component) -> str:
    """The smallest addition to the design that would tell a component from what it is mixed
    with.
    """
    if not part.confounded:
        return ""
    other = part.confounded[-1]
    if not part.effect:
        return f"two answers of the same {_list(other)}"
    one, other = (part.effect, other) if other - part.effect else (other, part.effect)
    return f"answers of the same {_list(one)} and not of the same {_list(other - one)}"


def _list(effect: Effect) -> str:
    return " and ".join(sorted(effect))


def _speaks_of(answers: Answers, found: Decomposition) -> str:
    """What the intervals hold for: facets whose levels stand for others, and those that stand for
    themselves.
    """
    numbers = {name: len(set(levels)) for name, levels in answers.facets.items()}
    fixed = [f"these {numbers[name]} {plural(name)}" for name in found.fixed]
    single = [f"one {name}" for name in found.left_out]
    random = [plural(name) for name in numbers if name not in (*found.fixed, *found.left_out)]
    return "; ".join([*[", ".join(random)] * bool(random), *fixed, *single])


def _in_words(answers: Answers, found: Decomposition, outcome: str) -> str:
    """The shares from the largest down in one sentence; small ones of combinations are summed."""
    parts = sorted(found.components, key=lambda part: -part.share)
    told = [part for part in parts if part.share >= _TOLD or len(part.effect) == 1]
    cells = [f"{_share(part)} {_where(part)}" for part in told]
    rest = sum(part.share for part in parts if part not in told)
    others = f"; all other parts come to {_percent(rest)} %" if len(told) < len(parts) else ""
    outside = any(not 0 <= part.share <= 1 for part in told)
    note = " Estimates without bias can lie below 0 and above 100 %." * outside
    return (
        f"Of the variance in {outcome} of {answers.name} ({found.answers:,} answers, "
        f"{len(set(answers.facets[CASE])):,} cases): {', '.join(cells)}{others}.{note}"
    )


def _share(part: Component) -> str:
    interval = "" if np.isnan(part.low) else f" [{_percent(part.low)}, {_percent(part.high)}]"
    return f"{_percent(part.share)} %{interval}"


def _percent(share: float) -> str:
    return str(round(100 * share)).replace("-", "−")


def _where(part: Component) -> str:
    where = [
        *map(part_name, part.confounded),
        part_name(part.effect) if part.effect else f"in {AGAIN}",
    ]
    return " or ".join(where) + " (this design cannot tell which)" * (len(where) > 1)
