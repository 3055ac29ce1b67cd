"""The sources of verdicts: the variance between cases, judges, methods and repeated questions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from moot.analyses.variance.components import (
    FEWEST_LEVELS,
    FEWEST_PAIRS,
    LEVELS_BY_SKEWNESS,
    Component,
    Decomposition,
    Effect,
    decompose,
)
from moot.core.cases import cluster_attributes, positive_of_two
from moot.report import EVERY_STUDY_AND_COMPARISON, FIRST_PAGE_NOTES, table
from moot.report.columns import Columns, Row
from moot.report.content import TableContent
from moot.report.notes import data_label
from moot.report.study_results import StudyResults
from moot.scores.results import ExperimentResults
from moot.stats.arrays import Floats, as_numbers

VERDICT, RIGHT_ANSWER = "verdict", "right answer"
ASKING_AGAIN = "asking again"
OUTCOME_PHRASES = {VERDICT: "verdicts", RIGHT_ANSWER: "being right"}
CASE, DEBATE, MODEL, METHOD = "case", "debate", "model", "method"
JUDGED_BY = ("judge", "persona")
TOO_FEW = f"too few: fewer than {FEWEST_PAIRS} pairs of answers share anything, or none differ"
_MIN_SHARE_IN_WORDS = 0.045
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


FIRST_PAGE_NOTES.register("where_verdicts_come_from")(
    "Brackets hold 95 % intervals; a share below 0 says that no such part is seen."
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
        """Yield the outcomes to decompose: name, values and answers.

        Missing answers count as wrong in one of them and are left out in the other.
        """
        valid = self.rows["status"] == "valid"
        valid_answers, words = self.select(valid), self.rows.loc[valid, "prediction"]
        labels = sorted(words.unique())
        indicator_labels = labels[1:] if len(labels) == 2 else labels
        indicators = words.to_numpy()[:, None] == np.array(indicator_labels, dtype=object)
        yield VERDICT, as_numbers(indicators), valid_answers
        if self.rows["target"].fillna("").ne("").all():
            yield (
                RIGHT_ANSWER,
                as_numbers(valid & (self.rows["prediction"] == self.rows["target"])),
                self,
            )
        has_score = valid_answers.rows["score"].notna()
        if self.positive and valid_answers.rows.loc[has_score, "score"].nunique() > len(labels):
            scored = valid_answers.select(has_score)
            yield f"probability of {self.positive}", as_numbers(scored.rows["score"]), scored

    def select(self, is_selected: "pd.Series[bool]") -> "Answers":
        """Return the answers whose rows are selected."""
        positions = np.flatnonzero(is_selected).tolist()
        facets: dict[str, Sequence[object]] = {}
        for name, levels in self.facets.items():
            facets[name] = [levels[position] for position in positions]
        return replace(self, rows=self.rows[is_selected], facets=facets)


@table(EVERY_STUDY_AND_COMPARISON, "where_verdicts_come_from", "Where do verdicts come from?")
def where_verdicts_come_from(results: StudyResults) -> TableContent:
    """How much of the variance of verdicts is between cases, between debates of a case, between
    judges, models and methods, and between repeated questions.
    """
    by_experiment = [read_answers(experiment) for experiment in results.experiments.values()]
    data_labels = dict.fromkeys(answers.data for answers in by_experiment)
    pooled = [_pool_methods(results, data) for data in data_labels]
    largest: dict[str, str] = {}
    for answers in sorted(by_experiment, key=lambda answers: len(answers.rows)):
        largest[answers.data] = answers.name
    rows: list[Row] = []
    for answers in (*by_experiment, *filter(None, pooled)):
        rows += _rows(answers, in_words=largest[answers.data] == answers.name)
    return COLUMNS.table(
        rows,
        [
            (
                "Model: an answer is a mean, an independent effect of each facet and of each "
                "combination that the design shows, and a residual. Estimates are Koch's "
                "unbiased moments (1968; in balanced designs equal to the analysis of variance: "
                "Searle, Casella and McCulloch 1992; Brennan 2001), with right and wrong on the "
                "scale of probabilities. A small component may have a negative estimate, which "
                "is not changed: raising it to 0 would make it too large on average. Shares add "
                "up to 1."
            ),
            (
                "Intervals leave each case (judge, persona, ...) out once, and treat a share as an "
                "intraclass correlation; docs/results.md has their coverage. A facet with fewer "
                f"than {FEWEST_LEVELS} levels does not represent others: the interval applies to "
                "its levels (`speaks of`). There is no interval if no facet has as many levels. "
                "There is also none if nearly all answers are equal and levels are fewer than "
                f"{LEVELS_BY_SKEWNESS} times the squared skewness of the answers."
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


def read_answers(results: ExperimentResults) -> Answers:
    """Return the answers of an experiment, with the facets that its rows and its data set name."""
    rows = results.predictions
    facets: dict[str, Sequence[object]] = {CASE: list(rows["case_id"])}
    for name in cluster_attributes(results.task.cluster):
        facets[name] = [results.attributes[case].get(name) for case in rows["case_id"]]
    if (
        rows.duplicated(["model", "case_id", "repeat"]).any()
        or "source_experiment" in results.config.params
    ):
        facets[DEBATE] = list(zip(rows["case_id"], rows["repeat"], strict=True))
    for name in JUDGED_BY:
        if name in rows and rows[name].notna().any():
            facets[name] = list(rows[name].fillna(""))
    facets[MODEL] = list(rows["model"])
    return Answers(
        results.experiment, data_label(results), rows, facets, positive_of_two(results.task)
    )


def _pool_methods(results: StudyResults, data: str) -> Answers | None:
    """Return all answers about a data set's cases, including controls, with the method as a facet.

    None if a single method answered.
    """
    by_method = [
        read_answers(experiment)
        for experiment in results.experiments_and_controls.values()
        if data_label(experiment) == data
    ]
    if len(by_method) == 1:
        return None
    common_facets = set.intersection(*(set(answers.facets) for answers in by_method)) - {DEBATE}
    facets: dict[str, list[object]] = {
        name: [] for name in by_method[0].facets if name in common_facets
    }
    methods: list[object] = []
    for answers in by_method:
        for name in facets:
            facets[name] += answers.facets[name]
        methods += [answers.name] * len(answers.rows)
    return replace(
        by_method[0],
        name=f"all {len(by_method)} methods",
        rows=pd.concat([answers.rows for answers in by_method], ignore_index=True),
        facets={**facets, METHOD: methods},
    )


def _rows(answers: Answers, *, in_words: bool) -> Iterator[Row]:
    for outcome, values, outcome_answers in answers.outcomes:
        keys: Row = {"data": (answers.data, answers.name, outcome)}
        decomposition = decompose(values, outcome_answers.facets)
        if decomposition is None:
            yield keys | {"part": TOO_FEW, "answers": len(outcome_answers.rows)}
            continue
        sentence = ""
        if in_words and len(decomposition.components) > 1 and outcome in OUTCOME_PHRASES:
            sentence = _summary_sentence(outcome_answers, decomposition, OUTCOME_PHRASES[outcome])
        scope = _scope_phrase(outcome_answers, decomposition)
        for part in decomposition.components:
            yield keys | {
                "part": part_name(part.effect),
                "share of variance": (part.share, part.low, part.high),
                "variance": part.variance,
                "levels": part.levels if part.effect else len(outcome_answers.rows),
                "answers": decomposition.answers,
                "not told apart from": "; ".join(part_name(effect) for effect in part.confounded),
                "what would tell them apart": _addition(part),
                "speaks of": scope,
                "in words": sentence,
            }
            sentence = ""  # the first row of an outcome has the sentence


def part_name(effect: Effect) -> str:
    """Return the name of a component."""
    if len(effect) <= 1:
        return f"between {plural(*effect)}" if effect else ASKING_AGAIN
    *first, last = sorted(effect)
    return f"in {', '.join(first)} and {last} together"


def plural(facet: str) -> str:
    """Return several levels of a facet."""
    return f"{facet[:-1]}ies" if facet.endswith("y") else f"{facet}s"


def _addition(part: Component) -> str:
    """Return the smallest addition to the design that would separate a component from others."""
    if not part.confounded:
        return ""
    partner = part.confounded[-1]
    if not part.effect:
        return f"two answers of the same {_join_names(partner)}"
    if not partner - part.effect:
        return _same_and_different(partner, part.effect - partner)
    return _same_and_different(part.effect, partner - part.effect)


def _same_and_different(common: Effect, varied: Effect) -> str:
    return f"answers of the same {_join_names(common)} and not of the same {_join_names(varied)}"


def _join_names(effect: Effect) -> str:
    return " and ".join(sorted(effect))


def _scope_phrase(answers: Answers, decomposition: Decomposition) -> str:
    """Describe to which levels the intervals apply, for random and for fixed facets."""
    numbers = {name: len(set(levels)) for name, levels in answers.facets.items()}
    fixed = [f"these {numbers[name]} {plural(name)}" for name in decomposition.fixed]
    single = [f"one {name}" for name in decomposition.left_out]
    not_random = {*decomposition.fixed, *decomposition.left_out}
    random = [plural(name) for name in numbers if name not in not_random]
    return "; ".join(filter(None, [", ".join(random), *fixed, *single]))


def _summary_sentence(answers: Answers, decomposition: Decomposition, outcome: str) -> str:
    """Return the shares from the largest down in one sentence; small ones of combinations are
    summed.
    """
    parts = sorted(decomposition.components, key=lambda part: -part.share)
    listed_parts = [
        part for part in parts if part.share >= _MIN_SHARE_IN_WORDS or len(part.effect) == 1
    ]
    cells = [f"{_share(part)} {_location_phrase(part)}" for part in listed_parts]
    rest = sum(part.share for part in parts if part not in listed_parts)
    rest_phrase = ""
    if len(listed_parts) < len(parts):
        rest_phrase = f"; all other parts add up to {_percent(rest)} %"
    outside = any(not 0 <= part.share <= 1 for part in listed_parts)
    note = " Estimates without bias can lie below 0 and above 100 %." if outside else ""
    return (
        f"Of the variance in {outcome} of {answers.name} ({decomposition.answers:,} answers, "
        f"{len(set(answers.facets[CASE])):,} cases): {', '.join(cells)}{rest_phrase}.{note}"
    )


def _share(part: Component) -> str:
    interval = "" if np.isnan(part.low) else f" [{_percent(part.low)}, {_percent(part.high)}]"
    return f"{_percent(part.share)} %{interval}"


def _percent(share: float) -> str:
    return str(round(100 * share)).replace("-", "−")


def _location_phrase(part: Component) -> str:
    phrases = [
        *map(part_name, part.confounded),
        part_name(part.effect) if part.effect else f"in {ASKING_AGAIN}",
    ]
    if len(phrases) == 1:
        return phrases[0]
    return f"{' or '.join(phrases)} (this design cannot tell which)"
