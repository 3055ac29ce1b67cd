"""Labels of statements: shares of labels and groups, changes of position; raw, and as people's labels correct them.

Raw scores use the one label that counts for each statement. `corrected_...` scores estimate what people
would say of all statements (`moot.stats.prediction_powered`); they exist where people have labelled a drawn sample
(`moot.labels.sample`), and nowhere else. Their n counts the statements, or pairs of them, that people labelled.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from moot.core.kinds import EXTRA, OVERRUN
from moot.core.rubric import Rubric
from moot.core.types import Column
from moot.labels.statements import TOLD_BY, are_statements
from moot.scores import by_model, no_scores, scorer
from moot.scores.results import OVERALL, TURN, ExperimentResults, Score
from moot.stats.bootstrap import Statistic, as_numbers, share_statistic
from moot.stats.prediction_powered import corrected_mean, corrected_ratio, estimate_share

CORRECTED = "corrected_"
"""How the names of corrected scores begin."""
SHARES = {"label": "label_share", "group": "group_share"}
"""What is counted, by the metric of its share."""
CHANGES, TRANSITION = "label_changes", "label_transition"
Pair = tuple[Column, Column]


@scorer("labels")
def label_scores(results: ExperimentResults) -> pd.DataFrame:
    """Shares of labels and groups of a rubric, and a speaker's changes of position; no rows without labels."""
    rubric = results.config.rubric
    if rubric is None or results.labels.empty:
        return no_scores()
    statements = labelled_statements(results, rubric)
    return by_model(results, lambda model: _scores(results, rubric, statements[statements["model"] == model]))


def labelled_statements(results: ExperimentResults, rubric: Rubric) -> pd.DataFrame:
    """The statements of an experiment's rounds with their labels, in order.

    Returns:
        Columns model, debate_id, case_id, turn, round, speaker; spoken (whether there are words); label and group
        (missing where nobody gave one), predicted and predicted_group (by a machine labeller), drawn_label and
        drawn_group (by people, in the drawn sample), and inclusion (the sample's probability; else missing). A
        statement without words has the label `none`.
    """

    def read(said: pd.DataFrame) -> pd.DataFrame:
        return said[are_statements(said, rubric.kinds) & ~said["kind"].isin((EXTRA, OVERRUN))]

    said = results.gather(read, ["round", "speaker", "kind", "text", *TOLD_BY])
    given = results.labels.set_index(TURN)[["label", "predicted", "drawn_label", "inclusion"]]
    said = said.join(given, on=TURN).assign(spoken=said["text"].str.strip() != "")
    said["inclusion"] = said["inclusion"].astype(float)
    said["label"] = said["label"].where(said["label"].notna() | said["spoken"], rubric.none)
    said["predicted"] = said["predicted"].fillna(rubric.none)
    groups = {"label": "group", "predicted": "predicted_group", "drawn_label": "drawn_group"}
    return said.assign(**{group: said[label].map(rubric.group_of) for label, group in groups.items()})


def _scores(results: ExperimentResults, rubric: Rubric, statements: pd.DataFrame) -> Iterator[Score]:
    groups = tuple(dict.fromkeys(rubric.group_of.values()))
    for part, rows in _parts(statements, "round", "speaker"):
        yield from shares(results, rows, tuple(rubric.labels), part)
        if len(groups) < len(rubric.labels):
            yield from shares(results, rows, groups, part, "group")
    pairs = with_sample(successive(statements, "group"), statements)
    people, machines = (successive(statements, column) for column in ("drawn_group", "predicted_group"))
    for part, rows in _parts(pairs, "speaker"):
        yield from _changes(results, rubric, rows, machines.loc[rows.index], people.loc[rows.index], part)


def _parts(rows: pd.DataFrame, *columns: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """All rows, and those of each value of a column that has several."""
    yield OVERALL, rows
    for column in columns:
        for value, some in rows.groupby(column) if rows[column].nunique() > 1 else ():
            yield f"{column}={value}", some


def shares(
    results: ExperimentResults, rows: pd.DataFrame, among: Sequence[str], part: str, of: str = "label"
) -> Iterator[Score]:
    """The share of each label, or of each group, in some statements of `labelled_statements`, raw and corrected."""
    known = rows[rows[of].notna()]
    predicted, observed = ("predicted", "drawn_label") if of == "label" else ("predicted_group", "drawn_group")
    for one in among:
        named = f"{of}={one}" if part == OVERALL else f"{of}={one};{part}"
        share = share_statistic(known[of] == one)
        yield results.sample(known["case_id"]).score(SHARES[of], share, named, n_invalid=len(rows) - len(known))
        yield from corrected_share(results, rows, SHARES[of], named, rows[predicted] == one, rows[observed] == one)


def successive(statements: pd.DataFrame, column: str) -> pd.DataFrame:
    """Each pair of a speaker's successive statements in a debate.

    Returns:
        The columns of the first one, and before, after (the values of `column`) and turn_after.
    """
    ordered = statements.sort_values(["model", "debate_id", "speaker", "turn"])
    by_speaker = ordered.groupby(["model", "debate_id", "speaker"], sort=False)
    later = {"after": by_speaker[column].shift(-1), "turn_after": by_speaker["turn"].shift(-1)}
    return ordered.assign(before=ordered[column], **later).dropna(subset=["turn_after"]).astype({"turn_after": int})


def with_sample(pairs: pd.DataFrame, statements: pd.DataFrame) -> pd.DataFrame:
    """Pairs with the inclusion of both statements, which are of one unit, and whether one of the two has words."""
    at = statements.set_index(TURN)[["inclusion", "spoken"]]
    first, second = (
        at.loc[pd.MultiIndex.from_frame(pairs[["model", "debate_id", turn]])].reset_index(drop=True)
        for turn in ("turn", "turn_after")
    )
    inclusion = np.minimum(first["inclusion"].to_numpy(), second["inclusion"].to_numpy())
    return pairs.assign(inclusion=inclusion, spoken=(first["spoken"] | second["spoken"]).to_numpy())


def _changes(
    results: ExperimentResults,
    rubric: Rubric,
    pairs: pd.DataFrame,
    machines: pd.DataFrame,
    people: pd.DataFrame,
    part: str,
) -> Iterator[Score]:
    """How often a position changes to another, and what follows each group; pairs without a label are left out."""
    groups = tuple(dict.fromkeys(rubric.group_of.values()))

    def moves(rows: pd.DataFrame) -> Pair:
        both = rows["before"].isin(rubric.positions) & rows["after"].isin(rubric.positions)
        return both & (rows["before"] != rows["after"]), both

    def followed(rows: pd.DataFrame, first: str, second: str) -> Pair:
        return (rows["before"] == first) & (rows["after"] == second), rows["before"] == first

    known = pairs[pairs["before"].notna() & pairs["after"].notna()]
    if len(rubric.positions) > 1:
        counted = moves(known), moves(machines), moves(people)
        yield from _ratio(results, CHANGES, part, known, pairs, *counted)
    for first in groups:
        for second in groups:
            named = f"from={first};to={second}" + ("" if part == OVERALL else f";{part}")
            counted = followed(known, first, second), followed(machines, first, second), followed(people, first, second)
            yield from _ratio(results, TRANSITION, named, known, pairs, *counted)


def _ratio(
    results: ExperimentResults,
    metric: str,
    group: str,
    known: pd.DataFrame,
    pairs: pd.DataFrame,
    counted: Pair,
    predicted: Pair,
    observed: Pair,
) -> Iterator[Score]:
    """A share of pairs, raw and corrected; none where nothing is counted."""
    among = counted[1]
    if among.any():
        share = share_statistic(counted[0][among])
        yield results.sample(known.loc[among, "case_id"]).score(
            metric, share, group, n_invalid=len(pairs) - int(among.sum())
        )
        statistic = corrected_ratio(predicted, observed, as_numbers(pairs["inclusion"]))
        deviates = (predicted[0] != observed[0]) | (predicted[1] != observed[1])
        yield from corrected_score(results, pairs, metric, group, statistic, deviates)


def corrected_share(
    results: ExperimentResults,
    rows: pd.DataFrame,
    metric: str,
    group: str,
    predicted: "pd.Series[bool]",
    observed: "pd.Series[bool]",
) -> Iterator[Score]:
    """The corrected share of what machine labellers and people found; none where people labelled nothing of it."""
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
    """The corrected score of a group; none where people labelled nothing of it.

    Args:
        results: of the experiment.
        rows: statements or pairs, with case_id, inclusion and spoken.
        metric, group: of the raw score.
        statistic: of `moot.stats.prediction_powered`, over the rows.
        deviates: where people found something else than the machine labeller.
    """
    drawn = rows[rows["inclusion"].notna() & rows["spoken"]]
    if len(drawn):
        sample = results.sample(rows["case_id"])
        value, low, high = estimate_share(sample.bootstrap, statistic, deviates)
        cases = drawn["case_id"].nunique()
        yield Score(f"{CORRECTED}{metric}", value, low, high, group=group, n=len(drawn), n_cases=cases)
