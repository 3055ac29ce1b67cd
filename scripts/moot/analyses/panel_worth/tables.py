"""The tables `panel_worth` and `panel_rules`: what a panel is worth, and what its rules decide."""

from collections.abc import Iterator, Mapping
from math import ceil, isnan

import numpy as np
import pandas as pd

from moot.analyses.panel_worth import independence
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
from moot.stats.bootstrap import (
    SHARE,
    ClusterBootstrap,
    mean_statistic,
    ratio_statistic,
    share_statistic,
)

EVERYONE, CHANGE = "all", "change"
PULLED_TO_WRONG = "wrong majority pulls over a right minority"
PULLED_TO_RIGHT = "right majority pulls over a wrong minority"
MIN_CASES = 20
MIN_ANSWERS = 120
"""The fewest answers about different cases from which a correlation is given."""
MIN_COINCIDENCES = 10
"""The fewest panels with two members who are wrong (who are right, where that is rarer)."""
MAX_HALF_WIDTH = 0.25
"""The widest interval of a correlation that is given, on either side."""
SIZES = (3, 6, 12)
COLUMNS = (
    Columns()
    .keys("data", "answers of", "model", "members are", "when", "member")
    .estimate("accuracy of members", "accuracy")
    .estimate("error correlation", "correlation")
    .estimate("effective votes", "votes")
    .estimate("accuracy of the majority", "majority")
    .plain("majority of independent members")
    .estimate("distance to Condorcet", "distance", "distance, 95 % interval", DIFFERENCE, SIGNED)
    .estimate("agreement of two members", "agreement")
    .estimate(PULLED_TO_WRONG, "pulled to wrong")
    .estimate(PULLED_TO_RIGHT, "pulled to right")
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
        "member",
        "accuracy of members",
        "error correlation",
        "effective votes",
        "accuracy of the majority",
        "majority of independent members",
        "cases",
        "what is missing",
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
        "Error correlation: the correlation (phi) of the errors of two members of a panel. Hard"
        " cases raise it, and so do a common model and talk. Effective votes: the mean of as many"
        " independent votes would vary as much; k / (1 + (k - 1) correlation) for k members."
        " Intervals are by case."
    ),
    (
        f"A correlation takes {MIN_CASES} cases, {MIN_ANSWERS} answers, {MIN_COINCIDENCES} panels"
        " in which two members are wrong (or right, if that is rarer), and an interval of at most"
        f" {MAX_HALF_WIDTH} to either side. `what is missing` says how many cases it would take."
    ),
    (
        "With one more member: of the same correlation. With one of another model, persona or"
        " family: of the correlation of members who differ in it. A family is the letters with"
        " which a model's name starts."
    ),
    (
        "Majority: more than half of the members are right; half of a tie counts. Independent"
        " members have the same accuracies (Poisson-binomial). Distance to Condorcet: the accuracy"
        " of their majority, less that of the actual majority."
    ),
    (
        "Members give `first answers` before they talk, `last answers` at the end, and `second"
        " answers` and so on in between. `change`: last answers less first answers. Pulled over:"
        " the share of members in the first minority who end on the other side."
    ),
    (
        "Accuracy by Dawid and Skene is a model's answer where no true label is known. The model"
        " assumes that members err independently; correlated errors raise it."
    ),
)
FIRST_PAGE_NOTES.register("panel_worth")(
    "Effective votes: the mean of as many independent votes would vary as much."
    " Brackets hold 95 % intervals."
)


@table(EVERY_STUDY_AND_COMPARISON, "panel_worth", "How many independent judges is this panel?")
def panel_worth(results: StudyResults) -> TableContent:
    """Accuracies, error correlation and effective votes of panels, before and after their
    members talk, with the accuracy of a majority of independent members.
    """
    return COLUMNS.table(rows_of_runs(results, _rows_with_sentence), NOTES)


@table(EVERY_STUDY_AND_COMPARISON, "panel_rules", "How do rules of decision fare?")
def panel_rules(results: StudyResults) -> TableContent:
    """How often 3, 6 or 12 members drawn from a panel decide right, decide wrong or are
    hung, by majority, two thirds and unanimity.
    """
    notes = ["Members are drawn from each panel without replacement (hypergeometric)."]
    return RULE_COLUMNS.table(rows_of_runs(results, _rule_rows), notes)


def _rows_with_sentence(run: Run) -> list[Row]:
    first, *other_rows = _rows(run)
    return [first | {"in words": _sentence(run, [first, *other_rows])}, *other_rows]


def _rows(run: Run) -> Iterator[Row]:
    kind, answers = gather_members(run)
    reason = missing_reason(run, answers)
    if reason not in ("", NO_TRUTH):
        yield {"what is missing": reason, "cases": run.predictions["case_id"].nunique()}
        return
    traits = member_traits(run, answers)
    for moment in answers["moment"].unique():
        panels = build_panels(answers, moment)
        sample = run.resample(panels.cases)
        keys: Row = {"members are": kind, "when": moment, "member": EVERYONE}
        row = keys | _count_cells(panels)
        row["agreement of two members"] = sample.estimate(share_statistic(panels.agreement))
        if reason:
            row |= {"what is missing": reason} | _cells_without_truth(panels)
        else:
            row |= _moment_cells(panels, sample, traits)
        yield row
        if len(panels.names) > 1:
            yield from _member_rows(keys, panels, sample, has_truth=not reason)
    if not reason and LAST in set(answers["moment"]):
        yield from _change_rows(run, kind, answers)


def _count_cells(panels: Panels) -> Row:
    return {
        "members a panel": float(panels.sizes.mean()),
        "panels": len(panels.cases),
        "cases": len(set(panels.cases)),
    }


def _moment_cells(panels: Panels, sample: ClusterBootstrap, traits: pd.DataFrame) -> Row:
    majority = share_statistic(independence.majority_right(panels))
    independent_majority = independence.independent_majority(panels)
    cells: Row = {
        "accuracy of members": sample.estimate(independence.member_accuracy(panels)),
        "accuracy of the majority": sample.estimate(majority),
        "majority of independent members": sample.value(independent_majority),
        "distance to Condorcet": sample.estimate(independence.condorcet_distance(panels)),
    }
    correlation, low, high = sample.estimate(independence.error_correlation(panels))
    reason = open_reason(panels, sample.clusters, low, high)
    if reason:
        return cells | {"what is missing": reason}
    size = float(panels.sizes.mean())
    votes = [independence.effective_votes(size, rho) for rho in (correlation, high, low)]
    cells["error correlation"] = (correlation, low, high)
    cells["effective votes"] = tuple(votes)
    votes_of_more = independence.effective_votes(size + 1, correlation)
    cells["effective votes with one more member"] = votes_of_more
    for trait in TRAITS if set(panels.names) <= set(traits.index) else ():
        values = traits.loc[list(panels.names), trait].to_numpy()
        differs = np.asarray(values[:, None] != values[None, :])
        if differs.any():
            new_correlation = sample.value(independence.error_correlation(panels, differs))
            new_votes = independence.votes_with_one_more(size, correlation, new_correlation)
            cells[f"with one of another {trait}"] = new_votes
    return cells


def open_reason(panels: Panels, cases: int, low: float, high: float) -> str:
    """Why the errors leave the correlation open, with the number of cases that it would take; ""
    where they do not.
    """
    needed_cases = max(MIN_CASES, ceil(MIN_ANSWERS / panels.sizes.mean()))
    if cases < needed_cases:
        return f"too few cases: {cases}; needed: {needed_cases}"
    count = int(independence.coincidences(panels).sum())
    half_width = (high - low) / 2
    if count < MIN_COINCIDENCES:
        kind = "wrong" if panels.right_counts.sum() >= panels.sizes.sum() / 2 else "right"
        needed_cases = ceil(cases * MIN_COINCIDENCES / max(count, 0.5))
        return (
            f"two members are {kind} together in {count} panels, which leaves the correlation open;"
            f" needed: {needed_cases:,} cases"
        )
    if isnan(half_width):
        return "the errors of two members do not vary"
    if half_width > MAX_HALF_WIDTH:
        needed_cases = ceil(cases * (half_width / MAX_HALF_WIDTH) ** 2)
        return (
            f"the correlation lies between {low:.2f} and {high:.2f}; needed: {needed_cases:,} cases"
        )
    return ""


def _cells_without_truth(panels: Panels) -> Row:
    accuracies = independence.estimate_accuracies_without_truth(panels.votes)
    mean = np.average(accuracies, weights=panels.members.sum(axis=0))
    return {"accuracy by Dawid and Skene": float(mean)}


def _member_rows(
    keys: Row, panels: Panels, sample: ClusterBootstrap, *, has_truth: bool
) -> Iterator[Row]:
    """The accuracy of each member."""
    accuracies = None if has_truth else independence.estimate_accuracies_without_truth(panels.votes)
    for number, name in enumerate(panels.names):
        members = panels.members[:, number]
        row = keys | {"member": name, "panels": int((members > 0).sum())}
        if accuracies is None:
            right_counts = members - panels.wrong_counts[:, number]
            accuracy = ratio_statistic(right_counts, members, SHARE)
            row["accuracy of members"] = sample.estimate(accuracy)
        else:
            row["accuracy by Dawid and Skene"] = float(accuracies[number])
        yield row


def _change_rows(run: Run, kind: str, answers: pd.DataFrame) -> Iterator[Row]:
    """The change from first to last answers, in panels that have both."""
    first_panels = set(answers.loc[answers["moment"] == FIRST, "panel"])
    last_panels = set(answers.loc[answers["moment"] == LAST, "panel"])
    answers = answers[answers["panel"].isin(first_panels & last_panels)]
    if answers.empty:
        return
    first, last = build_panels(answers, FIRST), build_panels(answers, LAST)
    sample = run.resample(first.cases)
    gain = independence.majority_right(last) - independence.majority_right(first)
    cells = _count_cells(last) | _pull_cells(run, answers)
    cells["accuracy of the majority"] = sample.estimate(mean_statistic(gain, (-1.0, 1.0)))
    accuracy = independence.change(independence.member_accuracy, first, last, (-1.0, 1.0))
    cells["accuracy of members"] = sample.estimate(accuracy)
    if all(_has_correlation(panels, sample) for panels in (first, last)):
        correlation = independence.change(independence.error_correlation, first, last, (-2.0, 2.0))
        cells["error correlation"] = sample.estimate(correlation)
    yield {"members are": kind, "when": CHANGE, "member": EVERYONE} | cells


def _has_correlation(panels: Panels, sample: ClusterBootstrap) -> bool:
    _, low, high = sample.estimate(independence.error_correlation(panels))
    return not open_reason(panels, sample.clusters, low, high)


def _pull_cells(run: Run, answers: pd.DataFrame) -> Row:
    """How often the majority of the first answers pulls members of the minority over."""
    answers = answers.assign(is_right=(answers["prediction"] == answers["target"]).astype(float))
    members = answers.pivot_table("is_right", ["case_id", "panel", "member"], "moment")
    first, last = members[FIRST], members[LAST]
    majority = np.sign(2 * first.groupby("panel").transform("mean") - 1)
    sample = run.resample(members.index.get_level_values("case_id"))
    cells: Row = {}
    for column, is_minority, is_pulled in (
        (PULLED_TO_WRONG, (majority == -1) & (first == 1), last == 0),
        (PULLED_TO_RIGHT, (majority == 1) & (first == 0), last == 1),
    ):
        if is_minority.any():
            share = ratio_statistic(is_minority & is_pulled, is_minority, SHARE)
            cells[column] = sample.estimate(share)
    return cells


def _sentence(run: Run, rows: list[Row]) -> str:
    """The effective votes before and after members talk; "" where they are not known."""
    parts: list[str] = []
    for row in rows:
        if "effective votes" in row and row["when"] in (SINGLE, FIRST, LAST):
            value, low, high = row["effective votes"]
            parts.append(f"{row['when']} {value:.1f} [{low:.1f}, {high:.1f}]")
    if not parts:
        return ""
    return (
        f"{run.experiment}, {run.model_name}: {rows[0]['members a panel']:.1f}"
        f" {rows[0]['members are']} are worth this many independent votes: {'; '.join(parts)}."
    )


def _rule_rows(run: Run) -> Iterator[Row]:
    _, answers = gather_members(run)
    reason = missing_reason(run, answers)
    largest = 0
    for moment in () if reason else answers["moment"].unique():
        panels = build_panels(answers, moment)
        largest = max(largest, int(panels.sizes.max()))
        for size in SIZES:
            is_large = panels.sizes >= size
            cases = [case for case, counts in zip(panels.cases, is_large, strict=True) if counts]
            if not cases:
                continue
            sample = run.resample(cases)
            for rule, votes in decision_rules(size).items():
                right_chances, wrong_chances = independence.decision_shares(panels, size, votes)
                hung_chances = np.clip(1 - right_chances - wrong_chances, 0, 1)
                yield {
                    "when": (moment, rule, size),
                    "decides right": sample.estimate(share_statistic(right_chances)),
                    "decides wrong": sample.estimate(share_statistic(wrong_chances)),
                    "hung": sample.estimate(share_statistic(hung_chances)),
                    "panels": (len(cases), len(set(cases))),
                }
    if largest < SIZES[0]:
        yield {"what is missing": reason or f"{largest} members a panel; needed: {SIZES[0]}"}


def decision_rules(size: int) -> Mapping[str, int]:
    """The equal votes that each rule takes in a panel of some members."""
    return {"majority": size // 2 + 1, "two thirds": ceil(2 * size / 3), "unanimity": size}
