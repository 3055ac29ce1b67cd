"""What moved the judge: the effects of turns, and whether the judge names the decisive ones."""

from collections.abc import Iterator, Sequence

import pandas as pd

from moot.analyses.attribution.effects import (
    decisive_turns_by_debate,
    rests_on_one,
    turn_effects,
    turns_without_donor,
)
from moot.analyses.attribution.protocol import ATTRIBUTION, AttributionParams
from moot.analyses.attribution.replays import CONTINUED, REMOVED, REORDERED, REPLACED, SENTENCE
from moot.core.types import Fields
from moot.core.utterance_kinds import PUBLIC
from moot.report import EVERY_STUDY, EVERY_STUDY_AND_COMPARISON, table
from moot.report.columns import DIFFERENCE, SIGNED, Columns, Row
from moot.report.content import TableContent
from moot.report.debate_texts import records
from moot.report.needs import StudyPlan
from moot.report.paired_cells import add_holm_correction
from moot.report.study_results import Run, StudyResults
from moot.stats.asked_twice import NO_FLOOR, changes, distance
from moot.stats.paired import compare_shares
from moot.stats.statistic import DIFFERENCE as BOUNDS
from moot.stats.statistic import mean_statistic, share_statistic

FAMILY = "what moved the judge?"
MAX_GROUPS = 12
"""The most groups of one kind. Speakers who each have a name are not grouped by role."""
WAYS = {
    REMOVED: "turn taken out",
    REPLACED: "turn replaced",
    REORDERED: "debaters in another order",
    SENTENCE: "sentence taken out",
    CONTINUED: "turn taken out, the debate goes on",
}
COLUMNS = (
    Columns()
    .keys("data", "debate", "judge", "what is changed")
    .plain("group")
    .ours("before", "after")
    .estimate("effect", "effect", "95 % interval", DIFFERENCE, SIGNED)
    .counts("changes", "debates", "cases", "clusters")
    .plain("p", "p (Holm)", "family")
    .counts("tests in family")
    .plain("apart", "apart if asked again")
    .estimate("moved by the change", "moved", role="", digits=SIGNED)
    .counts("called moved")
    .plain("verdicts on one turn")
    .counts("answers of no use")
    .short_form(
        "data", "debate", "judge", "what is changed", "group", "effect", "95 % interval", "p (Holm)"
    )
)


def has_attribution(plan: StudyPlan) -> bool:
    """Return whether the judge of some debates answers again with something changed."""
    return any(control.config.protocol == ATTRIBUTION for control in plan.controls)


def has_attribution_or_its_trial(plan: StudyPlan) -> bool:
    """Return whether the judge of some debates answers again, trial runs included."""
    experiments = [*plan.experiments, *plan.controls, *plan.trials]
    return any(experiment.config.protocol == ATTRIBUTION for experiment in experiments)


def attributed_runs(results: StudyResults) -> list[Run]:
    """Return every run that judged debates again with something changed."""
    runs = results.runs(results.experiments_and_controls.values(), Run)
    return [run for run in runs if _is_attribution(run)]


def _is_attribution(run: Run) -> bool:
    return bool(run.results.config.protocol == ATTRIBUTION)


def effects_of(run: Run) -> pd.DataFrame:
    """Return the effect of each change, with the columns of `turn_effects`."""
    effects = turn_effects(run.results)
    return effects[effects["model"] == run.model]


@table(EVERY_STUDY_AND_COMPARISON, "what_moved", "What moved the judge?", needs=(has_attribution,))
def what_moved(results: StudyResults) -> TableContent:
    """How far a removed or replaced turn, and another order of the debaters, changes the
    probability of the judge's verdict, by role, phase and place, compared with asking the judge
    again.
    """
    rows: list[Row] = []
    for run in attributed_runs(results):
        rows += _effect_rows(run)
    return COLUMNS.table(
        add_holm_correction(rows),
        [
            (
                "Before and after: the mean probability of the verdict, from log-probabilities "
                "if the answer is read from them, else the share of the judge's repeated "
                "answers. Effect is before minus after; it is positive if the turn had supported "
                "the verdict. A case counts by the mean of its turns; interval and p are by "
                "cluster. Holm's correction is over the groups of one kind, by every way to "
                "change a debate (`family`)."
            ),
            (
                "`apart`: the mean distance between an answer with the change and one without "
                "it. `apart if asked again`: the mean distance between two answers about the "
                "same debate, the floor. `moved by the change`: their difference (half the "
                "energy distance of Szekely and Rizzo, 2013), with its interval. If these are "
                f"empty: {NO_FLOOR}."
            ),
            (
                "Called moved: changes whose effect lies beyond the debate's own floor, beyond "
                "the smallest one that counts "
                f"({AttributionParams.model_fields['min_effect'].default} unless `min_effect` "
                "says otherwise), and beyond chance by Fisher's exact test with Holm's "
                "correction over all changes of the debate's turns (orders and sentences each by "
                "themselves). Verdicts on one turn: the share of debates in which exactly one "
                "turn is called moved and the verdict is not the likelier one without it."
            ),
            (
                f"The debaters were not asked again. `{WAYS[CONTINUED]}` asks them how the debate "
                "continues without the turn, and compares this with its continuation from the "
                "unchanged turn. A turn whose content another turn repeats may be decisive "
                "although it shows no effect."
            ),
        ],
        exploratory=True,
    )


MAX_TURNS, MAX_QUOTE_CHARS = 30, 160
NO_DONOR = "not asked: no turn of its role and length"
TURNS = (
    Columns()
    .keys("data", "debate", "judge")
    .plain("case", "repeat", "what is changed", "place", "speaker", "phase", "words", "verdict")
    .ours("before", "after")
    .estimate("effect", "effect", "95 % interval", DIFFERENCE, SIGNED)
    .plain("floor", "called moved")
    .short_form(
        "case", "place", "speaker", "words", "verdict", "before", "after", "effect", "called moved"
    )
)


@table(
    EVERY_STUDY,
    "moving_turns",
    "Which turns moved a judge most?",
    needs=(has_attribution_or_its_trial,),
)
def moving_turns(results: StudyResults) -> TableContent:
    """The turns and sentences without which a verdict became more or less probable, by debate, the
    largest changes first.
    """
    trials = filter(_is_attribution, results.runs(results.trials.values(), Run))
    rows: list[Row] = []
    for run in (*attributed_runs(results), *trials):
        rows += _turn_rows(run)
    return TURNS.table(
        rows,
        [
            (
                f"The {MAX_TURNS} largest effects of each judge, as in `what_moved`. Each row is "
                "about one debate only, so trial runs are included. Words: the removed sentence, "
                "or the beginning of the turn. An effect without an interval is from "
                "log-probabilities, which vary by at most the floor if the judge is asked again."
            ),
            (
                "Of many turns some have a great effect by chance: `called moved` is beyond the"
                " debate's floor, the smallest effect that counts, and chance. Below them: turns"
                " that were to be replaced, but no debate of another case with the same verdict has"
                " one of their role, phase and length."
            ),
        ],
        exploratory=True,
    )


def _turn_rows(run: Run) -> Iterator[Row]:
    """Yield the greatest effects of a run, then the turns that could not be replaced."""
    effects = effects_of(run)
    effects = effects[effects["turn"] > 0].sort_values(
        "effect", key=abs, ascending=False, kind="stable"
    )
    texts = _public_texts(run)
    for row in records(effects.head(MAX_TURNS)):
        yield {
            **_turn_cells(run, row, texts[row["debate_id"]]),
            "verdict": (row["verdict"], row["before"], row["after"]),
            "effect": (row["effect"], row["low"], row["high"]),
            "floor": (row["floor"], "yes" if row["moved"] else "no"),
        }
    nan = float("nan")
    for row in turns_without_donor(run.results, run.model)[:MAX_TURNS]:
        yield {
            **_turn_cells(run, row, texts[row["debate_id"]]),
            "verdict": (row["verdict"], nan, nan),
            "effect": (nan, nan, nan),
            "floor": (nan, NO_DONOR),
        }


def _public_texts(run: Run) -> dict[str, list[str]]:
    """Return the texts of each debate's public utterances, by debate_id."""
    rows = run.results.transcripts
    public = rows[(rows["model"] == run.model) & (rows["visibility"] == PUBLIC)]
    return {str(name): list(turns["text"]) for name, turns in public.groupby("debate_id")}


def _turn_cells(run: Run, turn: Fields, texts: Sequence[str]) -> Row:
    """Return the cells that name a turn or sentence, with its words shortened."""
    quote = turn["quote"] or " ".join(texts[turn["place"] - 1].split())
    if len(quote) > MAX_QUOTE_CHARS:
        quote = f"{quote[:MAX_QUOTE_CHARS]} …"
    return {
        "data": (run.data, run.params["source_experiment"], run.model_name),
        "case": (
            turn["case_id"],
            turn["repeat"],
            WAYS[turn["way"]],
            turn["place"],
            turn["speaker"],
            turn["phase"],
        ),
        "words": quote,
    }


STATED_COLUMNS = (
    Columns()
    .keys("data", "debate", "judge")
    .estimate("names the first", "names the first")
    .plain("by chance")
    .estimate("above chance", "above chance", role=DIFFERENCE, digits=SIGNED)
    .estimate("effect of the named", "effect of the named", digits=SIGNED)
    .estimate("mean effect", "mean effect", digits=SIGNED)
    .counts("turns named", "called moved", "of these named")
    .short_form(
        "debate",
        "judge",
        "names the first",
        "by chance",
        "above chance",
        "turns named",
    )
)


@table(
    EVERY_STUDY_AND_COMPARISON,
    "stated_and_exact",
    "Does the judge name what moved it?",
    needs=(has_attribution,),
)
def stated_and_exact(results: StudyResults) -> TableContent:
    """How often the turn that a judge says was decisive is the one whose removal changed its
    verdict most.
    """
    rows = filter(None, map(_decisive_turn_row, attributed_runs(results)))
    return STATED_COLUMNS.table(
        rows,
        [
            (
                "After its verdict the judge is asked which one turn was decisive"
                " (`ask_decisive_turn: true`)."
                " Names the first: the share of debates in which this is the turn without which the"
                " verdict is least probable; turns that tie share the hit. By chance: the share if"
                " a turn were named at random. Intervals are by cluster."
            ),
            (
                "Turns named: one per debate and judge. Called moved: those in debates with a "
                "turn that is called moved. `of these named`: those that name such a turn."
            ),
        ],
    )


def _decisive_turn_row(run: Run) -> Row | None:
    effects, decisive_turns = effects_of(run), decisive_turns_by_debate(run.results)
    rows = []
    for name, turns in effects[effects["way"] == REMOVED].groupby("debate_id"):
        measured_turns = set(turns["turn"])
        decisive_in_debate = decisive_turns.get((run.model, str(name)), ())
        rows += [_stated_hit(turns, turn) for turn in decisive_in_debate if turn in measured_turns]
    if not rows:
        return None
    hits = pd.DataFrame(rows)
    bootstrap = run.results.sample(hits["case_id"]).bootstrap
    moved = hits[hits["moved"]]
    above_chance = mean_statistic(hits["hit"] - hits["chance"], BOUNDS)
    return {
        "data": (run.data, run.params["source_experiment"], run.model_name),
        "names the first": bootstrap.estimate(share_statistic(hits["hit"])),
        "by chance": hits["chance"].mean(),
        "above chance": bootstrap.estimate(above_chance),
        "effect of the named": bootstrap.estimate(mean_statistic(hits["named"], BOUNDS)),
        "mean effect": bootstrap.estimate(mean_statistic(hits["mean"], BOUNDS)),
        "turns named": (len(hits), len(moved), int(moved["named moved"].sum())),
    }


def _stated_hit(turns: pd.DataFrame, turn: int) -> Row:
    """Return how well the turn that a judge named in one debate fits the effects of all turns."""
    by_turn = turns.set_index("turn")
    is_first = by_turn["effect"] >= by_turn["effect"].max() - 1e-9
    return {
        "case_id": turns["case_id"].iloc[0],
        "hit": float(is_first[turn]) / is_first.sum(),
        "chance": 1 / len(turns),
        "named": by_turn.loc[turn, "effect"],
        "mean": by_turn["effect"].mean(),
        "moved": bool(by_turn["moved"].any()),
        "named moved": bool(by_turn.loc[turn, "moved"]),
    }


def _effect_rows(run: Run) -> Iterator[Row]:
    """Yield the mean effects of a run, by way of changing a debate and by group of turns."""
    effects = effects_of(run)
    for way, description in WAYS.items():
        for group, changed in _groups(effects[effects["way"] == way], way):
            yield {
                "data": (
                    run.data,
                    run.params["source_experiment"],
                    run.model_name,
                    description,
                    group,
                ),
                "family": f"{FAMILY} by {group.partition(':')[0]}",
                **_comparison_cells(run, changed),
                **_distance_cells(run, changed),
                "called moved": int(changed["moved"].sum()),
                "verdicts on one turn": (
                    rests_on_one(changed).mean() if group == "all" and way == REMOVED else None
                ),
                "answers of no use": int(changed["invalid"].sum()),
            }


def _comparison_cells(run: Run, effects: pd.DataFrame) -> Row:
    """Return the cells of the verdict's probability without and with a change."""
    by_case = effects.groupby("case_id")
    comparison = compare_shares(
        by_case["before"].mean(), by_case["after"].mean(), run.results.clusters, run.results.seed
    )
    debates = effects["debate_id"].nunique()
    return {
        "before": (comparison.first, comparison.second),
        "effect": (comparison.difference, comparison.low, comparison.high),
        "changes": (len(effects), debates, comparison.cases, comparison.clusters),
        "p": comparison.p,
    }


def _distance_cells(run: Run, effects: pd.DataFrame) -> Row:
    """Return the cells of the distance between answers with and without a change."""
    distances = changes(
        _answers(effects, "whole"),
        _answers(effects, "changed"),
        distance,
        _clusters(effects, run),
        run.results.seed,
    )
    return {
        "apart": (distances.changed, distances.between_repeats),
        "moved by the change": (distances.excess, distances.low, distances.high),
    }


def _groups(effects: pd.DataFrame, way: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield groups of the changes of a way with their names: all, then by phase, role and place."""
    if effects.empty:
        return
    yield "all", effects
    if way not in (REMOVED, REPLACED, CONTINUED):
        return
    keys_by_name = {"phase": effects["phase"]}
    if way == REMOVED:
        keys_by_name["role"] = effects["speaker"] + ", verdict " + effects["verdict"]
        keys_by_name["place"] = effects["place"]
    for name, keys in keys_by_name.items():
        if 1 < keys.nunique() <= MAX_GROUPS:
            for key, group in effects.groupby(keys, sort=name != "phase"):
                yield f"{name}: {key}", group


def _answers(effects: pd.DataFrame, column: str) -> "pd.Series[float]":
    """Return every answer about a change, by the change and the number of the answer."""
    first_number = 0 if column == "whole" else 1000
    answers = {}
    for change, probabilities in effects[column].items():
        for number, probability in enumerate(probabilities, start=first_number):
            answers[str(change), number] = probability
    return pd.Series(answers, dtype="float64")


def _clusters(effects: pd.DataFrame, run: Run) -> dict[str, object]:
    return {str(change): run.results.clusters[case] for change, case in effects["case_id"].items()}
