"""Tables 1 and 2 of the appellate study, and the numbers that its text gives."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, product

from moot.core.types import JsonObject
from moot.core.utterance_kinds import EXTRA, OVERRUN
from moot.report import table
from moot.report.columns import Columns
from moot.report.content import TableContent
from moot.report.corrected import CAPTION, with_corrected
from moot.report.measurement import NOT_MEASURED
from moot.report.published import (
    DIFFERENCE_COLUMNS,
    Published,
    Values,
    comparison_row,
    comparison_table,
    difference_cells,
    published_values,
    repeated_values,
    unrepeated_values,
)
from moot.report.study_results import StudyResults
from moot.scores.score import OVERALL
from moot.studies.appellate.panel_steps import select_regular_steps
from moot.studies.appellate.phases import (
    BY_CASE_NOTE,
    CHANGE_NOTE,
    CODE_NAMES,
    CODE_NOTE,
    KEYS,
    MAX_CASES_SHOWN,
    PHASE_TITLES,
    STUDY,
    VOTE_NOTE,
    Phase,
    list_phases,
    name_source,
)

ALL_STATEMENTS = "all statements"
AS_THE_PAPER_COUNTS = ", as the paper counts"
COUNTS = {
    "debates": "debates",
    "steps": "steps",
    "debates a case, fewest": "debates_per_case",
    "debates, human affirms": "debates_human_affirms",
    "debates a case, human affirms, fewest": "debates_human_affirms_per_case",
    "debates, human does not affirm": "debates_human_not_affirms",
    "debates a case, human does not affirm, fewest": "debates_human_not_affirms_per_case",
    "debates beyond the last round": "debates_overrunning_three_rounds",
}
"""The counts of Table 1, each with its name in the published figures."""


def _published_keys(phase: str) -> JsonObject:
    """Return the key columns of a published row that no experiment of this run repeats."""
    return {"phase": PHASE_TITLES[phase], "experiment": "", "model": ""}


@table(STUDY, "table1_steps", "Table 1: debates and steps")
def steps(results: StudyResults) -> TableContent:
    """Compare our numbers of debates and steps of each phase with the published ones."""
    count_titles = {metric: title for title, metric in COUNTS.items()}
    rows: list[JsonObject] = []
    for item in ("table1", "text"):
        for (phase_name, metric), published_value in unrepeated_values(results, item).items():
            if metric in count_titles:
                counted = {"count": count_titles[metric], "published": published_value}
                rows.append(_published_keys(phase_name) | counted)
    for phase in list_phases(results):
        pairs = {**repeated_values(phase, "table1"), **repeated_values(phase, "text")}
        published = {metric: value for (_, metric), value in pairs.items()}
        debates = phase.steps.groupby("case_id")["debate_id"].nunique()
        regular_steps = select_regular_steps(phase.steps)
        overrun_count = phase.steps.loc[phase.steps["kind"] == OVERRUN, "debate_id"].nunique()
        counts = {
            "debates": int(debates.sum()),
            "steps": len(regular_steps),
            "debates a case, fewest": int(debates.min()),
            **_human_votes(phase),
            "debates beyond the last round": overrun_count,
            "statements missing": int((regular_steps["text"] == "").sum()),
            "statements of an extra judge, or said twice": int(
                (phase.steps["kind"] == EXTRA).sum()
            ),
        }
        for title, ours in counts.items():
            value = published.get(COUNTS.get(title, ""))
            rows.append(
                {
                    **phase.keys,
                    "count": title,
                    "published": value,
                    "ours": ours,
                    **difference_cells(ours, value),
                }
            )
    columns = (
        Columns()
        .keys(*KEYS)
        .plain("count")
        .published("published", digits="d")
        .ours("ours", digits="d")
    )
    return columns.difference(*DIFFERENCE_COLUMNS, digits="+d").table(
        rows,
        (
            (
                "A step is one judge's turn in one round. In the synthetic phase one model writes"
                " the whole debate. It may omit a judge's statement (missing), continue after the"
                " last round, add a judge that the panel does not have, or let a judge speak twice."
                " A missing statement takes no position."
            ),
            (
                "Our numbers of debates come from the configuration. config/papers/ has the "
                "paper's numbers."
            ),
        ),
    )


def _human_votes(phase: Phase) -> dict[str, int]:
    """Count the debates by the human's stance, in all and for each case."""
    counts: dict[str, int] = {}
    if phase.name != "human_ai":
        return counts
    stances = (("affirm", "human affirms"), ("not affirm", "human does not affirm"))
    for stance, title in stances:
        of_stance = phase.steps[phase.steps["condition"] == stance]
        debates = of_stance.groupby("case_id")["debate_id"].nunique()
        debates = debates.reindex(phase.steps["case_id"].unique(), fill_value=0)
        counts[f"debates, {title}"] = int(debates.sum())
        counts[f"debates a case, {title}, fewest"] = int(debates.min())
    return counts


@table(STUDY, "table2_counts", "Table 2: positions by judge, step and code")
def counts(results: StudyResults) -> TableContent:
    """Count the debates that affirm (1), do not affirm (0) or take no position (3) at each step.

    The paper prints the first step of the synthetic phase.
    """
    phases = list(list_phases(results))
    published_counts = {phase.experiment: _comparable_counts(phase) for phase in phases}
    numbers = sorted(set().union(*(phase.steps["number"] for phase in phases)))
    cases = [f"case {number}" for number in numbers] if len(numbers) <= MAX_CASES_SHOWN else []
    rows = (
        []
        if any(published_counts.values())
        else list(_published_count_rows(published_values(results, "table2")))
    )
    for phase in phases:
        rows += _count_rows(phase, published_counts[phase.experiment], numbers if cases else [])
    column_names = set(chain.from_iterable(rows))
    published_columns = sorted(name for name in column_names if name.startswith("published case"))
    columns = (
        Columns()
        .keys(*KEYS, "step", "round", "judge")
        .plain("code")
        .published("published total", digits="d")
    )
    columns = (
        columns.ours("total", digits="d")
        .difference(*DIFFERENCE_COLUMNS, digits="+d")
        .ours(*cases, digits="d")
    )
    notes = (
        CODE_NOTE,
        (
            "The paper's Table 2 names Judges 1, 2 and 3 next to the codes 1, 0 and 3. Its "
            "counts add up to 100 debates, so all three rows belong to the first judge and are "
            "shown as such."
        ),
        (
            "Published counts are shown only if the numbers of debates are equal (20 per case)."
            " `decision_probabilities` has the differences as shares with intervals."
        ),
    )
    columns = columns.published(*published_columns, digits="d")
    short_columns = ("step", "judge", "code", "published total", "total", *DIFFERENCE_COLUMNS)
    return columns.short_form("phase", "model", *short_columns).table(rows, notes)


PRINTED_CODES = {1: "affirm(1)", 0: "not_affirm(0)", 3: "none_or_hallucination(3)"}


def _comparable_counts(phase: Phase) -> Values:
    """Return the published counts of a phase if it has as many debates as we have."""
    published = repeated_values(phase, "table2")
    debates = sum(value for (_, metric), value in published.items() if metric == "total")
    return published if phase.steps["debate_id"].nunique() == debates else {}


def _published_count_rows(published: Values) -> Iterator[JsonObject]:
    """Yield rows of published counts that no experiment of this run repeats."""
    for code, name in PRINTED_CODES.items():
        row = f"judge1_step1_{name}"
        if (row, "total") in published:
            cases = {
                f"published case {metric.removeprefix('case')}": value
                for (published_row, metric), value in published.items()
                if published_row == row and metric.startswith("case")
            }
            yield {
                **_published_keys("synthetic"), "step": 1, "round": 1, "judge":
                    "1", "code": f"{code} {CODE_NAMES[code]}",
                "published total": published[row, "total"],
                **cases,
            }  # fmt: skip


def _count_rows(phase: Phase, published: Values, numbers: Sequence[int]) -> Iterator[JsonObject]:
    regular_steps = select_regular_steps(phase.steps)
    for step in range(1, phase.judges * phase.rounds + 1):
        step_rows = regular_steps[regular_steps["step"] == step]
        seat, number = (step - 1) % phase.judges + 1, (step - 1) // phase.judges + 1
        judge = "human" if phase.is_human(seat) else str(seat)
        for code, name in PRINTED_CODES.items():
            code_rows = step_rows[step_rows["code"] == code]
            row_name = f"judge{seat}_step{step}_{name}"
            value = published.get((row_name, "total"))
            row: JsonObject = {
                **phase.keys, "step": step, "round": number, "judge": judge,
                "code": f"{code} {CODE_NAMES[code]}",
                    "published total": value, "total": len(code_rows),
                **difference_cells(len(code_rows), value),
            }  # fmt: skip
            for case in numbers:
                row[f"case {case}"] = int((code_rows["number"] == case).sum())
                if (row_name, f"case{case}") in published:
                    row[f"published case {case}"] = published[row_name, f"case{case}"]
            yield row


@table(
    STUDY, "decision_probabilities", "Decision probabilities",
    "Share of affirming positions among all statements, and among statements with a position, by "
    "round and judge."
    + CAPTION.format(raw="Ours is raw: it"),
)  # fmt: skip
def decision_probabilities(results: StudyResults) -> TableContent:
    """Return the affirming shares of all phases, rounds and judges.

    The paper gives them for the first round of the synthetic phase.
    """
    rows: list[JsonObject] = []
    for (name, metric), value in unrepeated_values(results, "text").items():
        if metric == "affirm_share":
            phase_name, round_name, judge = name.split("_")
            seat_keys = {
                "round": int(round_name.removeprefix("round")),
                "judge": int(judge.removeprefix("judge")),
            }
            keys = {
                **_published_keys(phase_name),
                "positions by": name_source(""),
                **seat_keys,
                "share of": ALL_STATEMENTS,
            }
            rows.append(comparison_row(keys, value, NOT_MEASURED))
    corrected = [NOT_MEASURED] * len(rows)
    for phase in list_phases(results):
        published = repeated_values(phase, "text")
        for prefix, number, seat in product(
            phase.sources, range(1, phase.rounds + 1), range(1, phase.judges + 1)
        ):
            published_share = (
                None
                if prefix
                else published.get((f"{phase.name}_round{number}_judge{seat}", "affirm_share"))
            )
            keys = {"positions by": name_source(prefix), "round": number, "judge": seat}
            for denominator, metric in (
                (ALL_STATEMENTS, "affirm_share_of_statements"),
                ("positions", "affirm_share"),
            ):
                group = f"round={number};seat={seat}"
                corrected.append(phase.corrected(prefix, metric, group))
                comparable_share = published_share if denominator == ALL_STATEMENTS else None
                rows.append(
                    phase.row(
                        {**keys, "share of": denominator}, prefix + metric, group, comparable_share
                    )
                )
    notes = (
        CODE_NOTE,
        (
            "The paper includes code 3 in its shares (its 0.85 is 85 affirming debates of 100, 4 of"
            " them without a position), so they compare with our shares of all statements. A share"
            " of positions excludes code 3."
        ),
        VOTE_NOTE,
        BY_CASE_NOTE,
        "In a human-AI panel the last judge is the human.",
    )
    content = with_corrected(
        comparison_table(rows, (*KEYS, "positions by", "round", "judge", "share of"), notes),
        corrected,
    )
    columns = [
        replace(column, in_short_form=False) if column.name == "corrected interval" else column
        for column in content.columns
    ]
    return replace(content, columns=tuple(columns))


@table(
    STUDY, "volatility", "Decision volatility",
    "Changes of opinion between rounds and their opportunities: published and ours."
    + CAPTION.format(raw="Ours is raw: it"),
)  # fmt: skip
def volatility(results: StudyResults) -> TableContent:
    """Return the changes by phase, transition and judge. The paper gives totals by phase."""
    published_changes = {
        name: _published_changes(published_values(results, "text"), name) for name in PHASE_TITLES
    }
    shares = {
        name: changes.as_share_of(chances)
        for name, (changes, chances) in published_changes.items()
        if chances
    }
    rows: list[JsonObject] = []
    for name, metric in unrepeated_values(results, "text"):
        if metric == "opinion_changes" and name in shares:
            _, title = _all_rounds(name)
            keys = {"positions by": name_source(""), "transition": title + AS_THE_PAPER_COUNTS}
            rows.append(
                comparison_row({**_published_keys(name), **keys}, shares[name], NOT_MEASURED)
            )
    corrected = [NOT_MEASURED] * len(rows)
    for phase in list_phases(results):
        as_published = repeated_values(phase, "text").get((phase.name, "opinion_changes"))
        share = shares[phase.name].with_wording_of(as_published) if as_published else None
        all_rounds = _all_rounds(phase.name)
        for prefix, (group, transition) in product(phase.sources, _transitions(phase)):
            keys = {"positions by": name_source(prefix), "transition": transition}
            corrected.append(phase.corrected(prefix, "volatility", group))
            row = phase.row(keys, f"{prefix}volatility", group)
            changes = phase.measurement(f"{prefix}changes", group=group).value
            rows.append({**row, "changes": changes})
            if (group, transition) == all_rounds:
                corrected.append(NOT_MEASURED)
                rows.append(_row_as_the_paper_counts(phase, prefix, None if prefix else share))
    published_note = (
        "Published shares are changes over opportunities as the paper counts them: {}.".format(
            ", ".join(
                f"{PHASE_TITLES[name]} {changes:.0f} of {chances:.0f}"
                for name, (changes, chances) in published_changes.items()
            )
        )
    )
    notes = (CHANGE_NOTE, VOTE_NOTE, BY_CASE_NOTE, published_note)
    key_columns = (*KEYS, "positions by", "transition")
    content = comparison_table(
        rows, key_columns, notes, Columns().ours("changes", digits="d").short_form()
    )
    return with_corrected(content, corrected)


def _all_rounds(phase: str) -> tuple[str, str]:
    """Return the group of scores over all rounds of a phase, and its title."""
    if phase == "human_ai":
        return "seats=ai", "all rounds, AI judges"
    return OVERALL, "all rounds"


def _row_as_the_paper_counts(phase: Phase, prefix: str, share: Published | None) -> JsonObject:
    """Return the changes among all pairs of rounds, which compare with the published ones."""
    group, title = _all_rounds(phase.name)
    keys = {"positions by": name_source(prefix), "transition": title + AS_THE_PAPER_COUNTS}
    row = phase.row(keys, f"{prefix}volatility_of_all_pairs", group, share)
    changes = phase.measurement(f"{prefix}changes_of_all_pairs", group=group)
    return {**row, "changes": changes.value}


def _transitions(phase: Phase) -> Iterator[tuple[str, str]]:
    """Yield the groups of scores of a phase: over all rounds, then by transition and judge."""
    group, title = _all_rounds(phase.name)
    yield group, title
    if phase.name == "human_ai":
        for stance in ("affirm", "not affirm"):
            yield f"{group};condition={stance}", f"{title}, human: {stance}"
    for number, seat in product(range(1, phase.rounds), range(1, phase.judges + 1)):
        judge = "human" if phase.is_human(seat) else f"judge {seat}"
        rounds = f"{number}-{number + 1}"
        yield f"rounds={rounds};seat={seat}", f"round {number} to {number + 1}, {judge}"


def _published_changes(published: Values, phase: str) -> tuple[Published, float]:
    """Return the published changes of opinion and opportunities of a phase, or 0.

    The paper gives the opportunities of the synthetic and the multi-agent phase together; both
    phases have the same number of debates.
    """
    chances_of_two_phases = (
        published.get(("synthetic+multiagent", "opinion_change_opportunities"), 0.0) / 2
    )
    chances = published.get(
        (phase, "opinion_change_opportunities"),
        0.0 if phase == "human_ai" else chances_of_two_phases,
    )
    return published.get((phase, "opinion_changes"), Published(0)), chances
