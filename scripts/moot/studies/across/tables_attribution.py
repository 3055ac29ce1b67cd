"""What moved the judge: the effect of turns by role, phase and place and one by one, and whether
the judge names what moved it.
"""

from collections.abc import Iterator

import pandas as pd

from moot.core.kinds import PUBLIC
from moot.protocols.attribution import ATTRIBUTION, AttributionParams
from moot.protocols.replayed import CONTINUED, REMOVED, REORDERED, REPLACED, SENTENCE
from moot.report import EVERY_STUDY, EVERY_STUDY_AND_COMPARISON, table
from moot.report.columns import DIFFERENCE, SIGNED, Columns, Row
from moot.report.content import Run, StudyResults, TableContent
from moot.report.needs import has_attribution, has_attribution_or_its_trial
from moot.report.paired import add_holm_correction
from moot.report.transcripts import records
from moot.scores.attribution import rests_on_one, stated_turns, turn_effects, turns_without_donor
from moot.stats.asked_twice import NO_FLOOR, changes, distance
from moot.stats.bootstrap import DIFFERENCE as BOUNDS
from moot.stats.bootstrap import mean_statistic, share_statistic
from moot.stats.paired import compare_shares

FAMILY = "what moved the judge?"
MOST_ROLES = 12
"""Of more speakers, as where each has a name, a role is no group."""
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


def attributed_runs(results: StudyResults) -> list[Run]:
    """Every experiment that judged debates again with something changed, with each of its models."""
    return [
        run
        for run in results.runs(results.experiments_and_controls.values(), Run)
        if run.results.config.protocol == ATTRIBUTION
    ]


def effects_of(run: Run) -> pd.DataFrame:
    """What each change did, as `moot.scores.attribution.turn_effects`."""
    found = turn_effects(run.results)
    return found[found["model"] == run.model]


@table(EVERY_STUDY_AND_COMPARISON, "what_moved", "What moved the judge?", needs=(has_attribution,))
def what_moved(results: StudyResults) -> TableContent:
    """How far a turn that is taken out or replaced, and another order of the debaters, changes the
    probability of the judge's verdict, by role, phase and place, beside what asking again changes.
    """
    rows = add_holm_correction(row for run in attributed_runs(results) for row in _rows(run))
    return COLUMNS.table(
        rows,
        [
            (
                "Before and after: the mean probability of the verdict, by log-probabilities where"
                " the answer is read off them, else the share of the judge's repeated answers."
                " Effect is before less after: positive where the turn had helped the verdict. A"
                " case counts by the mean of its turns; interval and p are by cluster. Holm's"
                " correction is over the groups of one kind, by every way to change a debate"
                " (`family`)."
            ),
            (
                "Apart: the mean distance of an answer with the change from one without it; apart"
                " if asked again: that between two answers about the same debate, the floor; moved"
                " by the change: what lies between them (half the energy distance of Szekely and"
                f" Rizzo, 2013), with its interval. Where these are empty: {NO_FLOOR}."
            ),
            (
                "Called moved: changes whose effect lies beyond the debate's own floor, beyond the"
                f" smallest one that counts ({AttributionParams.model_fields['smallest'].default}"
                " unless `smallest` says otherwise), and beyond chance by Fisher's exact test with"
                " Holm's correction over all changes of the debate's turns (orders and sentences"
                " each by themselves). Verdicts on one turn: the share of debates in which one"
                " turn alone is called moved and the verdict is not the likelier one without it."
            ),
            (
                "The debaters were not asked again: what they would have said without the turn is"
                f" another question, which `{WAYS[CONTINUED]}` asks, beside the debate that goes on"
                " from the turn as it was. A turn that another repeats may be decisive and show no"
                " effect."
            ),
        ],
        exploratory=True,
    )


MOST_TURNS, MOST_CHARACTERS = 30, 160
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
    """The turns and sentences without which a verdict became more or less probable, debate by
    debate, those that changed it most first.
    """
    trials = (
        run
        for run in results.runs(results.trials.values(), Run)
        if run.results.config.protocol == ATTRIBUTION
    )
    return TURNS.table(
        [row for run in (*attributed_runs(results), *trials) for row in _turns(run)],
        [
            (
                f"The {MOST_TURNS} greatest effects of each judge, as `what_moved` counts them;"
                " each row is of one debate and says nothing of others, so that trial runs are"
                " here, too. Words: the sentence that was taken out, or how the turn begins."
                " Without an interval the effect was read off log-probabilities, which asking"
                " again changes by no more than the floor."
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


def _turns(run: Run) -> Iterator[Row]:
    effects = effects_of(run)
    effects = effects[effects["turn"] > 0].sort_values(
        "effect", key=abs, ascending=False, kind="stable"
    )
    said = run.results.transcripts
    played = said[(said["model"] == run.model) & (said["visibility"] == PUBLIC)]
    texts = {str(name): list(turns["text"]) for name, turns in played.groupby("debate_id")}
    unmeasured = dict.fromkeys(("before", "after", "effect", "low", "high", "floor"), float("nan"))
    absent = [
        {**row, **unmeasured, "moved": None} for row in turns_without_donor(run.results, run.model)
    ]
    for row in [*records(effects.head(MOST_TURNS)), *absent[:MOST_TURNS]]:
        words = row["quote"] or " ".join(texts[row["debate_id"]][row["place"] - 1].split())
        yield {
            "data": (run.data, run.params["beside"], run.model_name),
            "case": (
                row["case_id"],
                row["repeat"],
                WAYS[row["way"]],
                row["place"],
                row["speaker"],
                row["phase"],
            ),
            "words": words if len(words) <= MOST_CHARACTERS else f"{words[:MOST_CHARACTERS]} …",
            "verdict": (row["verdict"], row["before"], row["after"]),
            "effect": (row["effect"], row["low"], row["high"]),
            "floor": (
                row["floor"],
                NO_DONOR if row["moved"] is None else "yes" if row["moved"] else "no",
            ),
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
    rows = (row for run in attributed_runs(results) if (row := _stated_row(run)))
    return STATED_COLUMNS.table(
        rows,
        [
            (
                "After its verdict the judge is asked which one turn was decisive (`stated: true`)."
                " Names the first: the share of debates in which this is the turn without which the"
                " verdict is least probable; turns that tie share the hit. By chance: the share if"
                " a turn were named at random. Intervals are by cluster."
            ),
            (
                "Turns named: one a debate and judge. Called moved: those of debates with a turn"
                " that is called moved; of these named: those that name such a turn."
            ),
        ],
    )


def _stated_row(run: Run) -> Row | None:
    effects, named = effects_of(run), stated_turns(run.results)
    by_debate = effects[effects["way"] == REMOVED].groupby("debate_id")
    rows = [
        _stated(turns, turn)
        for name, turns in by_debate
        for turn in named.get((run.model, str(name)), ())
    ]
    found = pd.DataFrame([row for row in rows if row])
    if found.empty:
        return None
    bootstrap = run.results.sample(found["case_id"]).bootstrap
    moved = found[found["moved"]]
    return {
        "data": (run.data, run.params["beside"], run.model_name),
        "names the first": bootstrap.estimate(share_statistic(found["hit"])),
        "by chance": found["chance"].mean(),
        "above chance": bootstrap.estimate(mean_statistic(found["hit"] - found["chance"], BOUNDS)),
        "effect of the named": bootstrap.estimate(mean_statistic(found["named"], BOUNDS)),
        "mean effect": bootstrap.estimate(mean_statistic(found["mean"], BOUNDS)),
        "turns named": (len(found), len(moved), int(moved["named moved"].sum())),
    }


def _stated(turns: pd.DataFrame, turn: int) -> Row:
    """One debate; nothing where the turn that is named could not be measured."""
    of_turn = turns.set_index("turn")
    if turn not in of_turn.index:
        return {}
    first = of_turn["effect"] >= of_turn["effect"].max() - 1e-9
    return {
        "case_id": turns["case_id"].iloc[0],
        "hit": float(first[turn]) / first.sum(),
        "chance": 1 / len(turns),
        "named": of_turn.loc[turn, "effect"],
        "mean": of_turn["effect"].mean(),
        "moved": bool(of_turn["moved"].any()),
        "named moved": bool(of_turn.loc[turn, "moved"]),
    }


def _rows(run: Run) -> Iterator[Row]:
    effects = effects_of(run)
    for way, what in WAYS.items():
        of_way = effects[effects["way"] == way]
        for group, some in _groups(of_way, way):
            comparison = compare_shares(
                some.groupby("case_id")["before"].mean(), some.groupby("case_id")["after"].mean(),
                run.results.clusters, run.results.seed,
            )  # fmt: skip
            apart = changes(
                _answers(some, "whole"),
                _answers(some, "changed"),
                distance,
                _clusters(some, run),
                run.results.seed,
            )
            yield {
                "data": (run.data, run.params["beside"], run.model_name, what, group),
                "before": (comparison.first, comparison.second),
                "effect": (comparison.difference, comparison.low, comparison.high),
                "changes": (
                    len(some),
                    some["debate_id"].nunique(),
                    comparison.cases,
                    comparison.clusters,
                ),
                "p": comparison.p,
                "family": f"{FAMILY} by {group.partition(':')[0]}",
                "apart": (apart.changed, apart.between_repeats),
                "moved by the change": (apart.excess, apart.low, apart.high),
                "called moved": int(some["moved"].sum()),
                "verdicts on one turn": (
                    rests_on_one(some).mean() if group == "all" and way == REMOVED else None
                ),
                "answers of no use": int(some["invalid"].sum()),
            }


def _groups(effects: pd.DataFrame, way: str) -> Iterator[tuple[str, pd.DataFrame]]:
    if effects.empty:
        return
    yield "all", effects
    if way in (REMOVED, REPLACED, CONTINUED):
        speakers = effects["speaker"] + ", verdict " + effects["verdict"]
        by = {"phase": effects["phase"]}
        by |= {"role": speakers, "place": effects["place"]} if way == REMOVED else {}
        for name, keys in by.items():
            if 1 < keys.nunique() <= MOST_ROLES:
                for key, some in effects.groupby(keys, sort=name != "phase"):
                    yield f"{name}: {key}", some


def _answers(effects: pd.DataFrame, column: str) -> "pd.Series[float]":
    """Each answer of a change, by the change and a number of its own."""
    start = 0 if column == "whole" else 1000
    found = {
        (str(row), start + number): value
        for row, values in effects[column].items()
        for number, value in enumerate(values)
    }
    return pd.Series(found, dtype="float64")


def _clusters(effects: pd.DataFrame, run: Run) -> dict[str, object]:
    return {str(row): run.results.clusters[case] for row, case in effects["case_id"].items()}
