"""The tables `panel_worth` and `panel_rules`: what a panel is worth, and what its rules decide."""

from collections.abc import Iterator, Mapping
from math import ceil, isnan

import numpy as np
import pandas as pd

from moot.analyses.panel_worth.independence import (
    coincidences,
    condorcet_distance,
    decision_shares,
    effective_votes,
    error_correlation,
    estimate_accuracy_without_truth,
    estimate_correlation,
    independent_majority,
    majority_right,
    member_accuracy,
    rare_excess,
    votes_with_one_more,
)
from moot.analyses.panel_worth.members import (
    FIRST,
    LAST,
    NO_TRUTH,
    SINGLE,
    TRAITS,
    Panels,
    build_panels,
    gather_members,
    member_traits,
    missing_reason,
)
from moot.report import EVERY_STUDY_AND_COMPARISON, FIRST_PAGE_NOTES, table
from moot.report.columns import DIFFERENCE, SIGNED, Columns, Row
from moot.report.content import Run, StudyResults, TableContent, rows_of_runs
from moot.stats import bootstrap
from moot.stats.bootstrap import (
    SHARE,
    ClusterBootstrap,
    Floats,
    Statistic,
    as_numbers,
    ratio_statistic,
    share_statistic,
)

CHANGE = "change"
MAX_HALF_WIDTH = 0.25
"""Of the interval of a correlation that is answered."""
MIN_COINCIDENCES = 5
"""Panels in which two members are wrong, or right, together."""
MIN_CASES = 10
SIZES = (3, 6, 12)
COLUMNS = (
    Columns()
    .keys("data", "answers of", "model", "members are", "when")
    .estimate("accuracy of members", "accuracy")
    .estimate("error correlation", "correlation")
    .estimate("effective votes", "votes")
    .estimate("accuracy of the majority", "majority")
    .plain("majority of independent members")
    .estimate("distance to Condorcet", "distance", "distance, 95 % interval", DIFFERENCE, SIGNED)
    .estimate("agreement of two members", "agreement")
    .estimate("wrong majority pulls over a right minority", "pulled to wrong")
    .estimate("right majority pulls over a wrong minority", "pulled to right")
    .plain("effective votes with one more member")
    .plain(*(f"with one of another {trait}" for trait in TRAITS))
    .plain("accuracy by Dawid and Skene")
    .plain("members a panel", digits=".1f")
    .counts("panels", "cases")
    .plain("what is missing", "in words")
    .short_form(
        "answers of",
        "model",
        "when",
        "accuracy of members",
        "error correlation",
        "effective votes",
        "accuracy of the majority",
        "majority of independent members",
        "cases",
    )
)
RULE_COLUMNS = (
    Columns()
    .keys("data", "answers of", "model", "when", "rule", "members drawn")
    .estimate("decides right", "right")
    .estimate("decides wrong", "wrong")
    .estimate("hung", "hung share", "hung, 95 % interval")
    .counts("panels", "cases")
    .plain("what is missing")
)
NOTES = (
    (
        "Error correlation: phi of the errors of two members of a panel; covariances and standard"
        " deviations are summed over pairs, so that members who are almost always right count"
        " little. Effective votes: k / (1 + (k - 1) correlation) of k members. Intervals are by"
        f" case. A correlation is not given where its interval is wider than {MAX_HALF_WIDTH} on"
        " either side, or where two members are wrong (or right) together in fewer than"
        f" {MIN_COINCIDENCES} panels; `what is missing` then says how many cases it would take."
        " Hard cases correlate errors as much as a common model or talk does. With one more"
        " member: of the same correlation, or of that between members who differ in model, persona"
        " or family (the letters with which a model's name starts)."
    ),
    (
        "Majority: more than half of the members are right; half of a tie counts. Independent"
        " members have the same accuracies (Poisson-binomial); the difference is the distance to"
        " Condorcet. Wrong answers with different labels count as one side."
    ),
    (
        "`first answers` come before members talk, `last answers` after, `answers 2` and so on in"
        " between; `change` compares first and last in the same debates. Pulled over: of members in"
        " the minority at first, the share that ends with the other side."
    ),
    (
        "Accuracy by Dawid and Skene is given without truth. It is a model's answer: it assumes"
        " that members err independently, and correlated errors raise it."
    ),
)
FIRST_PAGE_NOTES.register("panel_worth")(
    "Effective votes: as many independent judges would vary as much. Brackets hold 95 % intervals."
)


@table(
    EVERY_STUDY_AND_COMPARISON,
    "panel_worth",
    "How many independent judges is this panel, before and after it talks?",
)
def panel_worth(results: StudyResults) -> TableContent:
    """Return accuracies, error correlation and effective votes of panels, before and after their
    members talk, with the majority beside that of independent members.
    """
    return COLUMNS.table(rows_of_runs(results, _rows_with_sentence), NOTES)


def _rows_with_sentence(run: Run) -> list[Row]:
    first, *others = _rows(run)
    return [{**first, "in words": _sentence(run, [first, *others])}, *others]


@table(
    EVERY_STUDY_AND_COMPARISON, "panel_rules", "What would a panel decide by other rules and sizes?"
)
def panel_rules(results: StudyResults) -> TableContent:
    """Return how often panels of 3, 6 and 12 members, drawn from those that answered, decide right,
    decide wrong or are hung, by majority, two thirds and unanimity.
    """
    rows: list[Row] = []
    for run in results.runs(results.experiments.values(), Run):
        rows += _rule_rows(run)
    notes = ["Members are drawn from each panel without replacement (hypergeometric)."]
    return RULE_COLUMNS.table(rows, notes)


def _rows(run: Run) -> Iterator[Row]:
    kind, answers = gather_members(run)
    keys: Row = {"data": (run.data, run.experiment, run.model_name), "in words": ""}
    reason = missing_reason(run, answers)
    if reason and (reason != NO_TRUTH or answers.empty):
        cases = run.predictions["case_id"].nunique()
        yield keys | {"what is missing": reason, "cases": cases}
        return
    keys["members are"] = kind
    traits = member_traits(run, answers)
    for moment in answers["moment"].unique():
        panels = build_panels(answers, moment)
        sample = _resample_cases(run, panels)
        row = keys | {"when": moment} | _counts(panels)
        row["agreement of two members"] = sample.estimate(share_statistic(panels.agreement))
        if reason == NO_TRUTH:
            yield row | {"what is missing": NO_TRUTH} | _dawid_skene(answers, moment)
        else:
            yield row | _moment_cells(panels, sample, traits)
    complete_answers = _select_complete_panels(answers)
    if reason != NO_TRUTH and len(complete_answers):
        yield keys | {"when": CHANGE} | _change_cells(run, complete_answers)


def _resample_cases(run: Run, panels: Panels) -> ClusterBootstrap:
    clusters = [run.results.clusters[case] for case in panels.cases]
    return ClusterBootstrap(clusters, run.results.seed)


def _select_complete_panels(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers of panels in which members have a label both before and after they talk."""
    first_panels = answers.loc[answers["moment"] == FIRST, "panel"]
    last_panels = answers.loc[answers["moment"] == LAST, "panel"]
    return answers[answers["panel"].isin(set(first_panels) & set(last_panels))]


def _counts(panels: Panels) -> Row:
    return {
        "members a panel": float(panels.sizes.mean()),
        "panels": len(panels.cases),
        "cases": len(set(panels.cases)),
    }


def _dawid_skene(answers: pd.DataFrame, moment: str) -> Row:
    rows = answers[answers["moment"] == moment]
    votes = rows.groupby(["panel", "prediction"]).size().unstack(fill_value=0)
    if votes.shape[1] == 1:
        return {}
    return {"accuracy by Dawid and Skene": estimate_accuracy_without_truth(as_numbers(votes))[0]}


def _moment_cells(panels: Panels, sample: ClusterBootstrap, traits: pd.DataFrame) -> Row:
    ones = np.ones((1, len(panels.cases)))
    cells: Row = {
        "accuracy of members": sample.estimate(member_accuracy(panels)),
        "accuracy of the majority": sample.estimate(share_statistic(majority_right(panels))),
        "majority of independent members": float(independent_majority(panels)(ones)[0]),
        "distance to Condorcet": sample.estimate(condorcet_distance(panels)),
    }
    value, low, high = estimate_correlation(panels, sample)
    reason = open_reason(panels, sample.clusters, low, high)
    if reason:
        return cells | {"what is missing": reason}
    size = float(panels.sizes.mean())
    votes = tuple(effective_votes(size, rho) for rho in (value, high, low))
    cells |= {
        "error correlation": (value, low, high),
        "effective votes": votes,
        "effective votes with one more member": effective_votes(size + 1, value),
    }
    for trait in TRAITS if set(panels.names) <= set(traits.index) else ():
        names = traits.loc[list(panels.names), trait].to_numpy()
        differs = np.asarray(names[:, None] != names[None, :])
        if differs.any():
            pair_correlation = float(error_correlation(panels, differs)(ones)[0])
            votes_with = votes_with_one_more(size, value, pair_correlation)
            cells[f"with one of another {trait}"] = votes_with
    return cells


def open_reason(panels: Panels, cases: int, low: float, high: float) -> str:
    """Why the errors leave the correlation open, with the number of cases that it would take; ""
    where they do not.
    """
    if cases < MIN_CASES:
        return f"too few cases: {cases}; needed: {MIN_CASES}"
    panel_count = int(coincidences(panels).sum())
    half_width = (high - low) / 2
    if panel_count < MIN_COINCIDENCES:
        kind = "wrong" if panels.right.sum() >= panels.sizes.sum() / 2 else "right"
        case_count = ceil(cases * MIN_COINCIDENCES / max(panel_count, 0.5))
        return (
            f"two members are {kind} together in {panel_count} panels, which leaves the correlation"
            f" open; needed: {case_count:,} cases"
        )
    if isnan(half_width):
        return "the errors of two members do not vary"
    if half_width > MAX_HALF_WIDTH:
        case_count = ceil(cases * (half_width / MAX_HALF_WIDTH) ** 2)
        return (
            f"the correlation lies between {low:.2f} and {high:.2f}; needed: {case_count:,} cases"
        )
    return ""


def _change_cells(run: Run, answers: pd.DataFrame) -> Row:
    """The change from first to last answers, in panels that have both."""
    first, last = build_panels(answers, FIRST), build_panels(answers, LAST)
    sample = _resample_cases(run, first)
    cells: Row = _counts(last)
    first_accuracy, last_accuracy = member_accuracy(first), member_accuracy(last)

    def accuracy_change(weights: Floats) -> Floats:
        return last_accuracy(weights) - first_accuracy(weights)

    gain = majority_right(last) - majority_right(first)
    majority_change = bootstrap.mean_statistic(gain, bootstrap.DIFFERENCE)
    cells |= {
        "accuracy of members": sample.estimate(Statistic(accuracy_change, bootstrap.DIFFERENCE)),
        "accuracy of the majority": sample.estimate(majority_change),
    }
    first_correlation, last_correlation = error_correlation(first), error_correlation(last)

    def correlation_change(weights: Floats) -> Floats:
        return last_correlation(weights) - first_correlation(weights)

    value, low, high = sample.estimate(Statistic(correlation_change, (-2.0, 2.0)))
    is_open = min(coincidences(first).sum(), coincidences(last).sum()) < MIN_COINCIDENCES
    if not (isnan(low) or is_open):
        cells["error correlation"] = (
            value,
            low - _correlation_excess(first, sample),
            high + _correlation_excess(last, sample),
        )
    return cells | _pull_cells(first, answers, sample)


def _correlation_excess(panels: Panels, sample: ClusterBootstrap) -> float:
    value, _, high = sample.estimate(Statistic(error_correlation(panels), bootstrap.DIFFERENCE))
    return rare_excess(panels, value, high)


def _pull_cells(first: Panels, answers: pd.DataFrame, sample: ClusterBootstrap) -> Row:
    """How often the majority of the first answers pulls members of the minority over."""
    answers = answers.assign(is_right=answers["prediction"] == answers["target"])
    by_moment = answers.pivot_table(
        index=["panel", "member"], columns="moment", values="is_right", aggfunc="first"
    ).astype(float)
    started_right, ends_right = by_moment[FIRST] == 1, by_moment[LAST] == 1
    started_wrong, ends_wrong = by_moment[FIRST] == 0, by_moment[LAST] == 0
    cells: Row = {}
    majority = majority_right(first)
    for column, is_majority, is_minority, is_pulled in (
        ("wrong majority pulls over a right minority", majority == 0, started_right, ends_wrong),
        ("right majority pulls over a wrong minority", majority == 1, started_wrong, ends_right),
    ):
        minority = is_minority.groupby(level="panel").sum().to_numpy() * is_majority
        pulled = (is_minority & is_pulled).groupby(level="panel").sum().to_numpy() * is_majority
        if minority.sum():
            cells[column] = sample.estimate(ratio_statistic(pulled, minority, SHARE))
    return cells


def _sentence(run: Run, rows: list[Row]) -> str:
    """The effective votes before and after members talk; "" where they are not known."""
    parts: list[str] = []
    for row in rows:
        votes = row.get("effective votes")
        if votes and row["when"] in (SINGLE, FIRST, LAST):
            value, low, high = votes
            parts.append(f"{row['when']} {value:.1f} [{low:.1f}, {high:.1f}]")
    if not parts:
        return ""
    size = rows[0]["members a panel"]
    return (
        f"{run.experiment}, {run.model_name}: {size:.1f} {rows[0]['members are']} are worth this"
        f" many independent votes: {'; '.join(parts)}."
    )


def _rule_rows(run: Run) -> Iterator[Row]:
    _, answers = gather_members(run)
    keys: Row = {"data": (run.data, run.experiment, run.model_name)}
    reason = missing_reason(run, answers)
    if reason:
        yield keys | {"what is missing": reason}
        return
    has_rows = False
    for moment in answers["moment"].unique():
        panels = build_panels(answers, moment)
        for size in SIZES:
            cases = [case for case, n in zip(panels.cases, panels.sizes, strict=True) if n >= size]
            if not cases:
                continue
            has_rows = True
            clusters = [run.results.clusters[case] for case in cases]
            sample = ClusterBootstrap(clusters, run.results.seed)
            for rule, votes in decision_rules(size).items():
                right, wrong = decision_shares(panels, size, votes)
                yield keys | {
                    "when": (moment, rule, size),
                    "decides right": sample.estimate(share_statistic(right)),
                    "decides wrong": sample.estimate(share_statistic(wrong)),
                    "hung": sample.estimate(share_statistic(np.clip(1 - right - wrong, 0, 1))),
                    "panels": (len(cases), len(set(cases))),
                }
    if not has_rows:
        largest = int(panels.sizes.max())
        yield keys | {"what is missing": f"{largest} members a panel; needed: {SIZES[0]}"}


def decision_rules(size: int) -> Mapping[str, int]:
    """The equal votes that each rule takes in a panel of some members."""
    return {"majority": size // 2 + 1, "two thirds": ceil(2 * size / 3), "unanimity": size}
