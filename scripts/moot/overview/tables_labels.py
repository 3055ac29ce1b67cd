"""Tables of labels in every study that labels statements: shares, changes and agreement."""

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import combinations

import pandas as pd

from moot.core.cases import Cluster
from moot.labels import ADJUDICATED, kinds
from moot.report import EVERY_STUDY, table
from moot.report.columns import Columns, Row
from moot.report.content import TableContent, has_labels
from moot.report.study_results import Run, StudyResults
from moot.scores.labels import CHANGES, SHARES, TRANSITION
from moot.scores.score import OVERALL
from moot.stats.agreement import cohens_kappa, krippendorffs_alpha
from moot.stats.jackknife import ClusterJackknife
from moot.stats.statistic import Statistic, share_statistic

_BY_CASE_NOTE = "Intervals are by case (docs/statistics.md); with five cases they are wide."
_COUNTS_NOTE = (
    "`n` counts statements, `n invalid` those without a label; one without words has the label"
    " `none`."
)
_PAIRS_NOTE = (
    "`n` counts pairs of successive statements of one speaker in one debate. The row of any "
    "group to another is the share of changes among pairs in which both statements take a "
    "position. Each other row is, among statements of a group that have a successor, the share "
    "whose successor has the second group. `n invalid` counts the other pairs."
)
Group = dict[str, str]


@table(
    EVERY_STUDY,
    "label_shares",
    "Shares of labels",
    "How often statements got each label of the rubric, and each of its groups, by round and"
    " speaker.",
    needs=(has_labels,),
)
def label_shares(results: StudyResults) -> TableContent:
    """Each label's share of the statements."""
    group_by_metric = {metric: of for of, metric in SHARES.items()}

    def cells(metric: str, group: Group) -> Row:
        label = group.pop(group_by_metric[metric])
        return {"statements": _describe_group(group), "of": group_by_metric[metric], "label": label}

    columns = Columns().keys("experiment", "model", "statements", "of").plain("label")
    return _score_table(results, columns, group_by_metric, cells, _COUNTS_NOTE)


@table(
    EVERY_STUDY,
    "label_changes",
    "Changes of position",
    "How often a speaker's next statement takes another position, and what follows each group of"
    " labels.",
    needs=(has_labels,),
)
def label_changes(results: StudyResults) -> TableContent:
    """What follows each group of labels in the same speaker's next statement."""

    def cells(metric: str, group: Group) -> Row:
        ends = {"from": "any position", "to": "another"} if metric == CHANGES else {}
        ends |= {end: group.pop(end) for end in ("from", "to") if end in group}
        return {"statements": _describe_group(group), **ends}

    columns = Columns().keys("experiment", "model", "statements", "from").plain("to")
    return _score_table(results, columns, (CHANGES, TRANSITION), cells, _PAIRS_NOTE)


def _describe_group(group: Group) -> str:
    return ", ".join(f"{name} {value}" for name, value in group.items()) or "all"


def _score_table(
    results: StudyResults,
    columns: Columns,
    metrics: Collection[str],
    cells: Callable[[str, Group], Row],
    note: str,
) -> TableContent:
    """Return a row for each score of some metrics, whatever its group."""
    rows: list[Row] = []
    for run in results.runs(results.experiments.values(), Run):
        for metric, group, raw in run.scores(metrics):
            of = dict(part.split("=", 1) for part in group.split(";")) if group != OVERALL else {}
            values = {"share": raw.interval, **raw.counts}
            rows.append(
                {"experiment": run.experiment, "model": run.model, **cells(metric, of), **values}
            )
    columns = columns.estimate("share").counts("cases", "n", "n invalid")
    return columns.table(rows, (_BY_CASE_NOTE, note))


@table(EVERY_STUDY, "agreement", "Agreement of labelers and annotators", needs=(has_labels,))
def agreement_of_labels(results: StudyResults) -> TableContent:
    """Agreement of all who labelled statements: Cohen's kappa of pairs, Krippendorff's alpha."""
    columns = (
        Columns()
        .keys("experiment", "of")
        .plain("measure", "labelers")
        .ours("value")
        .interval(role="")
        .counts("n")
    )
    rows: list[Row] = []
    for experiment in results.experiments.values():
        rubric = experiment.config.rubric
        if rubric is None or experiment.labels.empty:
            continue
        annotations = experiment.annotations
        labels = annotations[kinds(annotations["labeler"]) != ADJUDICATED].assign(
            group=annotations["label"].map(rubric.group_of)
        )
        for of in ("label", "group") if rubric.groups else ("label",):
            agreements = annotator_agreement(labels, of, experiment.clusters)
            rows += [
                {
                    "experiment": experiment.experiment,
                    "of": of,
                    "measure": row.measure,
                    "labelers": row.labelers,
                    "value": row.value,
                    "95 % low": row.ci_low,
                    "95 % high": row.ci_high,
                    "n": row.n,
                }
                for row in agreements.itertuples()
            ]
    single_labeler_note = (
        "Only one labeler labelled each statement: add `judge` to `labelers`, or fill in a sheet."
    )
    notes = [
        "Intervals by case. Decisions between annotators do not count here.",
        *([] if rows else [single_labeler_note]),
    ]
    return columns.table(rows, notes)


def wide(labels: pd.DataFrame, column: str = "label") -> pd.DataFrame:
    """Return labels with one row per statement and one column per labeler.

    Rows are indexed by debate_id and turn within each model. Labels may be missing.
    """
    keys = ["experiment", "model", "debate_id", "turn"]
    return labels.pivot_table(
        index=keys, columns="labeler", values=column, aggfunc="first"
    ).sort_index()


def annotator_agreement(
    labels: pd.DataFrame,
    column: str = "label",
    clusters: Mapping[str, Cluster] | None = None,
) -> pd.DataFrame:
    """Return every pair's kappa and share of equal labels, and alpha over all labelers.

    Args:
        labels: columns experiment, model, debate_id, turn, case_id, labeler and `column`.
        column: label, or code (as text) for the binary reading.
        clusters: the cluster of each case; None if each case is its own cluster.

    Returns:
        Columns measure, labelers, value, ci_low, ci_high, n.
    """
    table = wide(labels, column)
    statements = labels.drop_duplicates(list(table.index.names)).set_index(list(table.index.names))
    cases = statements["case_id"].map(lambda case: case if clusters is None else clusters[case])
    rows = list[tuple[str | float, ...]]()
    for measure, labelers, values, statistic in _measures(table):
        estimate = ClusterJackknife(cases.loc[values.index]).estimate(statistic)
        rows.append((measure, labelers, *estimate, len(values)))
    return pd.DataFrame(rows, columns=["measure", "labelers", "value", "ci_low", "ci_high", "n"])


def _measures(table: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame, Statistic]]:
    """Yield name, labelers, labelled statements and statistic of each measure."""
    for first, second in combinations(table.columns, 2):
        common = table[[first, second]].dropna()
        if len(common):
            pair = f"{first} / {second}"
            yield "Cohen's kappa", pair, common, cohens_kappa(common[first], common[second])
            yield (
                "equal labels",
                pair,
                common,
                share_statistic(common[first].to_numpy() == common[second].to_numpy()),
            )
    repeatedly_labelled = table[table.notna().sum(axis=1) > 1]
    if len(repeatedly_labelled):
        ratings = repeatedly_labelled.to_numpy(dtype=object)
        yield (
            "Krippendorff's alpha",
            ", ".join(map(str, table.columns)),
            repeatedly_labelled,
            krippendorffs_alpha(ratings),
        )
