"""Labels of statements: shares of labels and groups, and changes of position.

Each is raw, or corrected by people's labels.

Raw scores use the label that counts for each statement. `corrected_...` scores estimate people's
labels of all statements (`moot.stats.prediction_powered`). They exist only if people have labelled
a random sample (`moot.labels.sample`). Their n counts the statements, or pairs of statements, that
people labelled.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from moot.core.rubric import Rubric
from moot.core.types import Column
from moot.core.utterance_kinds import EXTRA, OVERRUN
from moot.labels.statements import TOLD_BY, are_statements
from moot.scores import by_model, no_scores, scorer
from moot.scores.results import ExperimentResults
from moot.scores.score import OVERALL, Score
from moot.scores.transcript_shards import TURN
from moot.stats.arrays import as_numbers
from moot.stats.prediction_powered import corrected_mean, corrected_ratio, estimate_share
from moot.stats.statistic import Statistic, share_statistic

CORRECTED = "corrected_"
"""The prefix of the names of corrected scores."""
SHARES = {"label": "label_share", "group": "group_share"}
"""The column that is counted, by the metric of its share."""
CHANGES, TRANSITION = "label_changes", "label_transition"
GROUPS = {"label": "group", "predicted": "predicted_group", "drawn_label": "drawn_group"}
"""The sources of a statement's labels, each with the column of its groups.

The sources are the label that counts, machines and people.
"""
ChangeMasks = tuple["pd.Series[bool]", "pd.Series[bool]"]
ChangeCounter = Callable[[Column, Column], ChangeMasks]


@scorer("labels")
def label_scores(results: ExperimentResults) -> pd.DataFrame:
    """Shares of labels and groups of a rubric, and a speaker's changes of position; no rows without
    labels.
    """
    rubric = results.config.rubric
    if rubric is None or results.labels.empty:
        return no_scores()
    statements = labelled_statements(results, rubric)
    return by_model(
        results, lambda model: _scores(results, rubric, statements[statements["model"] == model])
    )


def labelled_statements(results: ExperimentResults, rubric: Rubric) -> pd.DataFrame:
    """Return the statements of an experiment's rounds with their labels, in order.

    These are the kinds that `utterance_kinds` of the rubric names, by default all public utterances
    that are not answers, in a conference also the moderator's. The position of a
    statement is its group (its label, in a rubric without groups); the neutral group is none.

    Returns:
        Columns model, debate_id, case_id, turn, round, speaker, kind; spoken (whether there are
        words); label and group (may be missing), predicted and predicted_group (by a machine
        labeler), drawn_label and drawn_group (by people, in the random sample), and inclusion
        (the probability of being in the sample; missing outside of it). A statement without words
        and without a label has the neutral label.
    """

    def select(statements: pd.DataFrame) -> pd.DataFrame:
        return statements[
            are_statements(statements, rubric.utterance_kinds)
            & ~statements["kind"].isin((EXTRA, OVERRUN))
        ]

    statements = results.gather(select, ["round", "speaker", "kind", "text", *TOLD_BY])
    labels = results.labels.set_index(TURN)[["label", "predicted", "drawn_label", "inclusion"]]
    statements = statements.join(labels, on=TURN).assign(
        spoken=statements["text"].str.strip() != ""
    )
    statements["inclusion"] = statements["inclusion"].astype(float)
    statements["label"] = statements["label"].where(
        statements["label"].notna() | statements["spoken"], rubric.neutral
    )
    statements["predicted"] = statements["predicted"].fillna(rubric.neutral)
    return statements.assign(
        **{group: statements[label].map(rubric.group_of) for label, group in GROUPS.items()}
    )


def _scores(
    results: ExperimentResults, rubric: Rubric, statements: pd.DataFrame
) -> Iterator[Score]:
    groups = tuple(dict.fromkeys(rubric.group_of.values()))
    for part, rows in _parts(statements, "round", "speaker"):
        yield from shares(results, rows, tuple(rubric.labels), part)
        if len(groups) < len(rubric.labels):
            yield from shares(results, rows, groups, part, "group")
    pairs = successive(statements, *GROUPS.values())
    for part, rows in _parts(pairs, "speaker"):
        yield from _changes(results, rubric, rows, part)


def _parts(rows: pd.DataFrame, *columns: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield all rows, and the rows of each value of a column with several values."""
    yield OVERALL, rows
    for column in columns:
        for value, part in rows.groupby(column) if rows[column].nunique() > 1 else ():
            yield f"{column}={value}", part


def shares(
    results: ExperimentResults,
    rows: pd.DataFrame,
    values: Sequence[str],
    part: str,
    of: str = "label",
) -> Iterator[Score]:
    """Yield the share of each label, or of each group, raw and corrected.

    The rows are some statements of `labelled_statements`.
    """
    labelled = rows[rows[of].notna()]
    predicted, observed = (
        ("predicted", "drawn_label") if of == "label" else ("predicted_group", "drawn_group")
    )
    for value in values:
        group = f"{of}={value}" if part == OVERALL else f"{of}={value};{part}"
        share = share_statistic(labelled[of] == value)
        yield results.sample(labelled["case_id"]).score(
            SHARES[of], share, group, n_invalid=len(rows) - len(labelled)
        )
        yield from corrected_share(
            results, rows, SHARES[of], group, rows[predicted] == value, rows[observed] == value
        )


def successive(statements: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Return each pair of consecutive statements of a speaker in a debate, neutral ones included.

    Returns:
        The columns of the first statement, turn_after, and the second statement's `columns` as
        `{column}_after`. spoken is whether one of the two has words. inclusion is the probability
        of both, which belong to one unit of the sample.
    """
    ordered = statements.sort_values(["model", "debate_id", "speaker", "turn"])
    speakers = ordered.groupby(["model", "debate_id", "speaker"], sort=False)
    later = speakers[list({"turn", "spoken", "inclusion", *columns})].shift(-1)
    pairs = ordered.assign(
        turn_after=later["turn"],
        spoken=ordered["spoken"] | later["spoken"].eq(True),
        inclusion=np.minimum(ordered["inclusion"], later["inclusion"]),
        **{f"{column}_after": later[column] for column in columns},
    )
    return pairs.dropna(subset=["turn_after"]).astype({"turn_after": int})


def _changes(
    results: ExperimentResults, rubric: Rubric, pairs: pd.DataFrame, part: str
) -> Iterator[Score]:
    """Yield the share of changes of position, and the shares that follow each group.

    Pairs without a label are left out.
    """
    for metric, group, count in _kinds_of_change(rubric):
        raw, machine, people = (
            count(pairs[column], pairs[f"{column}_after"]) for column in GROUPS.values()
        )
        changed, among = raw
        if among.any():
            group_name = ";".join(name for name in (group, part) if name != OVERALL) or OVERALL
            sample = results.sample(pairs.loc[among, "case_id"])
            yield sample.score(
                metric, share_statistic(changed[among]), group_name, n_invalid=int((~among).sum())
            )
            statistic = corrected_ratio(machine, people, as_numbers(pairs["inclusion"]))
            deviates = (machine[0] != people[0]) | (machine[1] != people[1])
            yield from corrected_score(results, pairs, metric, group_name, statistic, deviates)


def _kinds_of_change(rubric: Rubric) -> Iterator[tuple[str, str, ChangeCounter]]:
    """Yield each metric and group of changes, with the changes and the opportunities for them."""

    def moved(earlier: Column, later: Column) -> ChangeMasks:
        both = earlier.isin(rubric.positions) & later.isin(rubric.positions)
        return both & (earlier != later), both

    def followed(first: str, second: str, earlier: Column, later: Column) -> ChangeMasks:
        among = (earlier == first) & later.notna()
        return among & (later == second), among

    yield CHANGES, OVERALL, moved
    for first, second in product(dict.fromkeys(rubric.group_of.values()), repeat=2):
        yield TRANSITION, f"from={first};to={second}", partial(followed, first, second)


def corrected_share(
    results: ExperimentResults,
    rows: pd.DataFrame,
    metric: str,
    group: str,
    predicted: "pd.Series[bool]",
    observed: "pd.Series[bool]",
) -> Iterator[Score]:
    """Yield the corrected share of machines' and people's labels.

    Nothing is yielded if people labelled none of the rows.
    """
    mean = corrected_mean(predicted, observed, as_numbers(rows["inclusion"]))
    yield from corrected_score(results, rows, metric, group, mean, predicted != observed)


def corrected_score(
    results: ExperimentResults,
    rows: pd.DataFrame,
    metric: str,
    group: str,
    statistic: Statistic,
    deviates: "pd.Series[bool]",
) -> Iterator[Score]:
    """Yield the corrected score of a group; nothing without people's labels.

    Args:
        results: of the experiment.
        rows: statements or pairs, with case_id, inclusion and spoken.
        metric, group: of the raw score.
        statistic: of `moot.stats.prediction_powered`, over the rows.
        deviates: where people and the machine labeler disagree.
    """
    sampled = rows[rows["inclusion"].notna() & rows["spoken"]]
    if len(sampled):
        sample = results.sample(rows["case_id"])
        value, low, high = estimate_share(sample.bootstrap, statistic, deviates)
        cases = sampled["case_id"].nunique()
        yield Score(
            f"{CORRECTED}{metric}", value, low, high, group=group, n=len(sampled), n_cases=cases
        )
