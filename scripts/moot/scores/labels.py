"""Labels of statements: shares of labels and groups, and changes of position."""

from collections.abc import Iterator, Sequence
from itertools import product

import pandas as pd

from moot.core.rubric import Rubric
from moot.core.utterance_kinds import EXTRA, OVERRUN
from moot.labels.statements import TOLD_BY, are_statements
from moot.scores import by_model, no_scores, scorer
from moot.scores.results import ExperimentResults
from moot.scores.score import OVERALL, Score
from moot.scores.transcript_shards import TURN
from moot.stats.statistic import share_statistic

SHARES = {"label": "label_share", "group": "group_share"}
"""The column that is counted, by the metric of its share."""
CHANGES, TRANSITION = "label_changes", "label_transition"


@scorer("labels")
def label_scores(results: ExperimentResults) -> pd.DataFrame:
    """Shares of a rubric's labels and groups, and a speaker's changes of position.

    An experiment without labels has no rows.
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
        Columns model, debate_id, case_id, turn, round, speaker, kind, and label and group, which
        may be missing. A statement without words and without a label has the neutral label.
    """

    def select(statements: pd.DataFrame) -> pd.DataFrame:
        return statements[
            are_statements(statements, rubric.utterance_kinds)
            & ~statements["kind"].isin((EXTRA, OVERRUN))
        ]

    statements = results.gather(select, ["round", "speaker", "kind", "text", *TOLD_BY])
    statements = statements.join(results.labels.set_index(TURN)[["label"]], on=TURN)
    has_words = statements["text"].str.strip() != ""
    labels = statements["label"].where(statements["label"].notna() | has_words, rubric.neutral)
    return statements.assign(label=labels, group=labels.map(rubric.group_of))


def _scores(
    results: ExperimentResults, rubric: Rubric, statements: pd.DataFrame
) -> Iterator[Score]:
    groups = tuple(dict.fromkeys(rubric.group_of.values()))
    for part, rows in _parts(statements, "round", "speaker"):
        yield from shares(results, rows, tuple(rubric.labels), part)
        if len(groups) < len(rubric.labels):
            yield from shares(results, rows, groups, part, "group")
    pairs = successive(statements, "group")
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
    """Yield the share of each label, or of each group.

    The rows are some statements of `labelled_statements`.
    """
    labelled = rows[rows[of].notna()]
    for value in values:
        group = f"{of}={value}" if part == OVERALL else f"{of}={value};{part}"
        share = share_statistic(labelled[of] == value)
        yield results.sample(labelled["case_id"]).score(
            SHARES[of], share, group, n_invalid=len(rows) - len(labelled)
        )


def successive(statements: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Return each pair of consecutive statements of a speaker in a debate, neutral ones included.

    Returns:
        The columns of the first statement, turn_after, and the second statement's `columns` as
        `{column}_after`.
    """
    ordered = statements.sort_values(["model", "debate_id", "speaker", "turn"])
    speakers = ordered.groupby(["model", "debate_id", "speaker"], sort=False)
    later = speakers[["turn", *columns]].shift(-1)
    pairs = ordered.assign(
        turn_after=later["turn"],
        **{f"{column}_after": later[column] for column in columns},
    )
    return pairs.dropna(subset=["turn_after"]).astype({"turn_after": int})


def _changes(
    results: ExperimentResults, rubric: Rubric, pairs: pd.DataFrame, part: str
) -> Iterator[Score]:
    """Yield the share of changes of position, and the shares that follow each group.

    Pairs without a label are left out.
    """
    earlier, later = pairs["group"], pairs["group_after"]
    both = earlier.isin(rubric.positions) & later.isin(rubric.positions)
    changes = [(CHANGES, OVERALL, earlier != later, both)]
    for first, second in product(dict.fromkeys(rubric.group_of.values()), repeat=2):
        group, among = f"from={first};to={second}", (earlier == first) & later.notna()
        changes.append((TRANSITION, group, later == second, among))
    for metric, group, has_changed, among in changes:
        if among.any():
            group_name = ";".join(name for name in (group, part) if name != OVERALL) or OVERALL
            share = share_statistic(has_changed[among])
            sample = results.sample(pairs.loc[among, "case_id"])
            yield sample.score(metric, share, group_name, n_invalid=int((~among).sum()))
