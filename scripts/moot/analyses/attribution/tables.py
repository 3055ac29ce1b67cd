"""What moved the judge: the effects of turns on the probability of a verdict."""

from collections.abc import Iterator

import pandas as pd

from moot.analyses.attribution.effects import turn_effects
from moot.analyses.attribution.protocol import ATTRIBUTION, AttributionParams
from moot.report import EVERY_STUDY_AND_COMPARISON, table
from moot.report.columns import DIFFERENCE, SIGNED, Columns, Row
from moot.report.content import StudyPlan, TableContent
from moot.report.paired_cells import add_holm_correction
from moot.report.study_results import Run, StudyResults
from moot.stats.paired import compare_shares

FAMILY = "what moved the judge?"
MAX_GROUPS = 12
"""The most groups of one kind. Speakers who each have a name are not grouped by role."""
COLUMNS = (
    Columns()
    .keys("data", "debate", "judge")
    .plain("group")
    .ours("before", "after")
    .estimate("effect", "effect", "95 % interval", DIFFERENCE, SIGNED)
    .counts("changes", "debates", "cases", "clusters")
    .plain("p", "p (Holm)", "family")
    .counts("tests in family")
    .counts("called moved")
    .counts("answers of no use")
)


def has_attribution(plan: StudyPlan) -> bool:
    """Return whether the judge of some debates answers again without some turn."""
    return any(control.config.protocol == ATTRIBUTION for control in plan.controls)


def attributed_runs(results: StudyResults) -> list[Run]:
    """Return every run that judged debates again without single turns."""
    runs = results.runs(results.experiments_and_controls.values(), Run)
    return [run for run in runs if run.results.config.protocol == ATTRIBUTION]


def effects_of(run: Run) -> pd.DataFrame:
    """Return the effect of each turn, with the columns of `turn_effects`."""
    effects = turn_effects(run.results)
    return effects[effects["model"] == run.model]


@table(EVERY_STUDY_AND_COMPARISON, "what_moved", "What moved the judge?", needs=(has_attribution,))
def what_moved(results: StudyResults) -> TableContent:
    """How far the verdict's probability falls without a turn, by role, phase and place."""
    rows: list[Row] = []
    for run in attributed_runs(results):
        rows += _effect_rows(run)
    return COLUMNS.table(
        add_holm_correction(rows),
        [
            (
                "Before and after: the mean probability of the verdict with and without the turn,"
                " from log-probabilities if the answer is read from them, else the share of the"
                " judge's repeated answers. Effect is before minus after; it is positive if the"
                " turn had supported the verdict. A case counts by the mean of its turns; interval"
                " and p are by cluster. Holm's correction is over the groups of one kind"
                " (`family`)."
            ),
            (
                "Called moved: turns whose effect lies beyond the debate's own floor, beyond the "
                "smallest one that counts "
                f"({AttributionParams.model_fields['min_effect'].default} unless `min_effect` "
                "says otherwise), and beyond chance by Fisher's exact test with Holm's "
                "correction over all turns of the debate."
            ),
            (
                "The debaters were not asked again: a turn whose content another turn repeats may "
                "be decisive although it shows no effect."
            ),
        ],
        exploratory=True,
    )


def _effect_rows(run: Run) -> Iterator[Row]:
    """Yield the mean effects of a run, by group of turns."""
    for group, changed in _groups(effects_of(run)):
        yield {
            "data": run.data,
            "debate": run.params["source_experiment"],
            "judge": run.model_name,
            "group": group,
            "family": f"{FAMILY} by {group.partition(':')[0]}",
            **_comparison_cells(run, changed),
            "called moved": int(changed["moved"].sum()),
            "answers of no use": int(changed["invalid"].sum()),
        }


def _comparison_cells(run: Run, effects: pd.DataFrame) -> Row:
    """Return the cells of the verdict's probability without and with a change."""
    by_case = effects.groupby("case_id")
    comparison = compare_shares(
        by_case["before"].mean(), by_case["after"].mean(), run.results.clusters
    )
    debates = effects["debate_id"].nunique()
    return {
        "before": comparison.first,
        "after": comparison.second,
        "effect": (comparison.difference, comparison.low, comparison.high),
        "changes": len(effects),
        "debates": debates,
        "cases": comparison.cases,
        "clusters": comparison.clusters,
        "p": comparison.p,
    }


def _groups(effects: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield groups of turns with their names: all, then by phase, role and place."""
    if effects.empty:
        return
    yield "all", effects
    keys_by_name = {
        "phase": effects["phase"],
        "role": effects["speaker"] + ", verdict " + effects["verdict"],
        "place": effects["place"],
    }
    for name, keys in keys_by_name.items():
        if 1 < keys.nunique() <= MAX_GROUPS:
            for key, group in effects.groupby(keys, sort=name != "phase"):
                yield f"{name}: {key}", group
