"""Tables 1 and 2 of the appellate study, its figures given in the text, and what it could not test."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from moot.artifacts import read_frame
from moot.labels.agreement import agreement
from moot.labels.rubric import AFFIRMED_CODE
from moot.present import StudyResults, TableContent, table
from moot.present.appellate_study import (
    CHANGE_NOTE,
    CODE_NAMES,
    CODE_NOTE,
    MOST_CASES_SHOWN,
    SPOKEN,
    STUDY,
    VOTE_NOTE,
    Phase,
    phases_of,
    source_name,
)
from moot.present.published import Measured, compared, comparison, measured, published_table
from moot.scores.panel import HUMAN, changes_of, regular

KEYS = ("phase", "experiment", "model")
BY_CASE_NOTE = "Intervals are by bootstrap over cases; five cases are few, so they are wide and rough."


def _keys(phase: Phase) -> dict[str, Any]:
    return {"phase": SPOKEN[phase.name], "experiment": phase.experiment, "model": phase.model}


def _seat_name(phase: Phase, seat: int) -> str:
    return "human" if phase.name == "human_ai" and seat == phase.judges else f"judge {seat}"


def _score(results: StudyResults, phase: Phase, metric: str, group: str = "overall") -> Measured:
    return measured(results, phase.experiment, phase.model, metric, group=group)


@table(STUDY, "table1_steps", "Table 1: debates and steps", "Debates and steps of each phase: published and ours.")
def steps(results: StudyResults) -> TableContent:
    """Table 1, with what the synthetic phase leaves out or adds."""
    published = published_table(results, "table1")
    overruns = published_table(results, "text").get(("synthetic", "debates_overrunning_three_rounds"))
    rows: list[dict[str, Any]] = []
    for phase in phases_of(results):
        debates = phase.steps.groupby("case_id")["debate_id"].nunique()
        held = regular(phase.steps)
        overrun = phase.steps.loc[phase.steps["kind"] == "overrun", "debate_id"].nunique()
        counts = {
            "debates": (int(debates.sum()), published.get((phase.name, "debates"))),
            "steps": (len(held), published.get((phase.name, "steps"))),
            "debates a case, fewest": (int(debates.min()), published.get((phase.name, "debates_per_case"))),
            "debates beyond the last round": (overrun, overruns if phase.name == "synthetic" else None),
            "statements missing": (int((held["text"] == "").sum()), None),
            "statements of an extra judge, or said twice": (int((phase.steps["kind"] == "extra").sum()), None),
        }
        for what, (ours, theirs) in counts.items():
            value = float("nan") if theirs is None else theirs
            rows.append({**_keys(phase), "count": what, "published": value, "ours": ours, "difference": ours - value})
    frame = pd.DataFrame(rows, columns=[*KEYS, "count", "published", "ours", "difference"])
    return TableContent(
        frame,
        notes=(
            "A step is one judge's turn in one round. In the synthetic phase one model writes the whole debate: it may "
            "leave a judge's statement out (missing), go on after the last round, name a judge that the panel does not "
            "have, or let one speak twice; a missing statement takes no position.",
            "Our numbers of debates are those of the configuration; config/paper.yaml has the paper's.",
        ),
        published=("published",), ours=("ours",), difference=("difference",), keys=KEYS,
        formats={"published": "d", "ours": "d", "difference": "+d"},
    )  # fmt: skip


@table(
    STUDY, "table2_counts", "Table 2: positions by judge, step and code",
    "How many debates affirm (1), do not affirm (0) or take no position (3) at each step, in total and by case.",
)  # fmt: skip
def counts(results: StudyResults) -> TableContent:
    """Table 2 for every phase and all steps; the paper prints the first step of the synthetic phase."""
    published = published_table(results, "table2")
    found = list(phases_of(results))
    numbers = sorted({number for phase in found for number in phase.steps["number"]})
    cases = [f"case {number}" for number in numbers] if len(numbers) <= MOST_CASES_SHOWN else []
    rows = [row for phase in found for row in _count_rows(phase, published, numbers if cases else [])]
    columns = [*KEYS, "step", "round", "judge", "code", "published total", "total", "difference", *cases]
    shown = [f"published {case}" for case in cases if any(f"published {case}" in row for row in rows)]
    frame = pd.DataFrame(rows, columns=[*columns, *shown])
    return TableContent(
        frame, notes=(CODE_NOTE, "Counts compare with the paper's only where there are as many debates (20 a case)."),
        published=("published total", *shown), ours=("total", *cases), difference=("difference",),
        keys=(*KEYS, "step", "round", "judge"),
        formats={name: "d" for name in frame.columns if name not in (*KEYS, "judge", "code")} | {"difference": "+d"},
    )  # fmt: skip


def _count_rows(
    phase: Phase, published: dict[tuple[str, str], float], numbers: Sequence[int]
) -> Iterator[dict[str, Any]]:
    held = regular(phase.steps)
    printed = {1: "affirm(1)", 0: "not_affirm(0)", 3: "none_or_hallucination(3)"}
    for step in range(1, phase.judges * phase.rounds + 1):
        now = held[held["step"] == step]
        seat, number = (step - 1) % phase.judges + 1, (step - 1) // phase.judges + 1
        human = phase.name == "human_ai" and seat == phase.judges
        for code, name in printed.items():
            mine = now[now["code"] == code]
            row_name = f"judge{seat}_step{step}_{name}"
            first = phase.name == "synthetic"
            theirs = published.get((row_name, "total")) if first else None
            value = float("nan") if theirs is None else theirs
            row: dict[str, Any] = {
                **_keys(phase), "step": step, "round": number, "judge": "human" if human else str(seat),
                "code": f"{code} {CODE_NAMES[code]}", "published total": value, "total": len(mine),
                "difference": len(mine) - value,
            }  # fmt: skip
            for case in numbers:
                row[f"case {case}"] = int((mine["number"] == case).sum())
                if first and (row_name, f"case{case}") in published:
                    row[f"published case {case}"] = published[row_name, f"case{case}"]
            yield row


@table(
    STUDY, "decision_probabilities", "Decision probabilities",
    "Share of affirming positions among positions, by round and judge, and how many statements take a position at all.",
)  # fmt: skip
def decision_probabilities(results: StudyResults) -> TableContent:
    """The shares that the paper gives for the first round of the synthetic phase, for all rounds of all phases."""
    published = published_table(results, "text")
    rows: list[dict[str, Any]] = []
    for phase in phases_of(results):
        for prefix in phase.sources:
            for number in range(1, phase.rounds + 1):
                for seat in range(1, phase.judges + 1):
                    name = f"{phase.name}_round{number}_judge{seat}"
                    group = f"round={number};seat={seat}"
                    theirs = None if prefix else published.get((name, "affirm_share"))
                    keys = {**_keys(phase), "positions by": source_name(prefix), "round": number, "judge": seat}
                    rows.append(compared(keys, theirs, _score(results, phase, f"{prefix}affirm_share", group)))
    notes = (CODE_NOTE, VOTE_NOTE, BY_CASE_NOTE, "In a human-AI panel the last judge is the human.")
    return comparison(rows, (*KEYS, "positions by", "round", "judge"), notes)


@table(
    STUDY, "volatility", "Decision volatility",
    "Changes of opinion between rounds and their opportunities: published and ours.",
)  # fmt: skip
def volatility(results: StudyResults) -> TableContent:
    """Changes by phase, transition and judge; the paper gives totals by phase."""
    published = published_table(results, "text")
    rows: list[dict[str, Any]] = []
    for phase in phases_of(results):
        changes, chances = _published_changes(published, phase.name)
        share = changes / chances if chances else None
        human = phase.name == "human_ai"
        groups: list[tuple[str, str]] = [
            ("seats=ai" if human else "overall", "all rounds, AI judges" if human else "all rounds")
        ]
        groups += [
            (f"seats=ai;condition={one}", f"all rounds, AI judges, human: {one}")
            for one in ("affirm", "not affirm")
            if human
        ]
        groups += [
            (f"rounds={number}-{number + 1};seat={seat}", f"round {number} to {number + 1}, {_seat_name(phase, seat)}")
            for number in range(1, phase.rounds)
            for seat in range(1, phase.judges + 1)
        ]
        for prefix in phase.sources:
            for group, what in groups:
                keys = {**_keys(phase), "positions by": source_name(prefix), "transition": what}
                theirs = share if not prefix and what.startswith("all rounds") and "human:" not in what else None
                rows.append(
                    {
                        **compared(keys, theirs, _score(results, phase, f"{prefix}volatility", group)),
                        "changes": _score(results, phase, f"{prefix}changes", group).value,
                    }
                )
    content = comparison(rows, (*KEYS, "positions by", "transition"), (CHANGE_NOTE, VOTE_NOTE, BY_CASE_NOTE))
    counted = {name: _published_changes(published, name) for name in SPOKEN}
    published_note = "Published shares are changes over opportunities as the paper counts them: {}.".format(
        ", ".join(f"{SPOKEN[name]} {changes:.0f} of {chances:.0f}" for name, (changes, chances) in counted.items())
    )
    frame = content.frame.assign(changes=[row["changes"] for row in rows])
    return replace(
        content,
        frame=frame,
        notes=(*content.notes, published_note),
        ours=(*content.ours, "changes"),
        formats={**content.formats, "changes": "d"},
    )


def _published_changes(published: dict[tuple[str, str], float], phase: str) -> tuple[float, float]:
    """Changes of opinion and their opportunities as published; 0 where the paper gives none.

    The paper counts the opportunities of the synthetic and the multi-agent phase together; both have as many debates.
    """
    both = published.get(("synthetic+multiagent", "opinion_change_opportunities"), 0.0) / 2
    chances = published.get((phase, "opinion_change_opportunities"), 0.0 if phase == "human_ai" else both)
    return published.get((phase, "opinion_changes"), 0.0), chances


@table(
    STUDY, "majorities", "Majorities and the real outcome",
    "How often the majority of the first and of the last round is what the real court did.",
)  # fmt: skip
def majorities(results: StudyResults) -> TableContent:
    """First-round and final majority against the real outcome; ties and panels without a position are invalid."""
    rows = [
        compared({**_keys(phase), "positions by": source_name(prefix), "majority of": f"{stage} round"}, None,
                 _score(results, phase, f"{prefix}majority_accuracy", f"majority={stage}"))
        for phase in phases_of(results) for prefix in phase.sources for stage in ("first", "last")
    ]  # fmt: skip
    notes = [
        "A majority is one of the positions taken, be it of a single judge; ties, and panels without a position, are "
        "invalid. "
        "A mixed outcome counts as not affirmed."
    ]
    for phase in phases_of(results):
        cases = phase.results.cases
        targets = cases.loc[cases["case_id"].isin(phase.steps["case_id"]), "target"]
        affirmed = int((targets == CODE_NAMES[AFFIRMED_CODE]).sum())
        notes.append(
            f"{phase.experiment}: the real court affirmed {affirmed} of {len(targets)} cases, so always affirming "
            f"scores {affirmed / max(len(targets), 1):.3f}."
        )
    return comparison(rows, (*KEYS, "positions by", "majority of"), (*dict.fromkeys(notes), VOTE_NOTE, BY_CASE_NOTE))


_EFFECT = {
    "": "affirming share of AI judges: human affirms less human does not",
    "vote_": "AI judges' belief in affirming: human affirms less human does not",
}


@table(
    STUDY, "human_weight", "Whom an AI judge follows",
    "How often an AI judge of a human-AI panel moves to the opposite position, by who held it, and the odds of the "
    "human over the peer.",
)  # fmt: skip
def human_weight(results: StudyResults) -> TableContent:
    """The question that the paper could not test: towards the human, or towards the other AI judge."""
    rows: list[dict[str, Any]] = []
    measures = [
        ("moved", f"opposed={who}", f"share that moved; opposed by {who}")
        for who in ("human", "peer", "both", "nobody")
    ]
    measures += [
        ("human_over_peer_odds", f"clusters={unit}", f"odds ratio, human over peer; interval by {unit}")
        for unit in ("case", "debate")
    ]
    for phase in phases_of(results):
        if phase.name == "human_ai":
            for prefix in phase.sources:
                effect = "vote_belief_stance_effect" if prefix else "stance_effect"
                for number in range(1, phase.rounds + 1):
                    keys = {
                        **_keys(phase),
                        "positions by": source_name(prefix),
                        "measure": f"{_EFFECT[prefix]}, round {number}",
                    }
                    rows.append(compared(keys, None, _score(results, phase, effect, f"round={number}")))
                for metric, group, what in measures:
                    keys = {**_keys(phase), "positions by": source_name(prefix), "measure": what}
                    rows.append(compared(keys, None, _score(results, phase, f"{prefix}{metric}", group)))
    notes = (
        "A chance needs a position of the judge before and after, and one of human and peer in between. An odds "
        "ratio above 1 means "
        "that an AI judge moves more readily towards the human than towards the other AI judge; half a count is "
        "added to each cell.",
        "The human's stance is balanced within each case, so a difference after round 1 is its effect; in round "
        "1 nobody has "
        "heard the human yet, so there it is chance.",
        "Where both or nobody opposed the judge the two influences cannot be told apart, so these chances are not "
        "in the ratio.",
    )
    return comparison(rows, (*KEYS, "positions by", "measure"), (*notes, VOTE_NOTE))


@table(
    STUDY, "alternation", "Alternation",
    "How often a judge opposes the judge before in the same round: one model playing all judges against separate ones.",
)  # fmt: skip
def alternation(results: StudyResults) -> TableContent:
    """Whether judge 2 opposes judge 1 (the paper: the synthetic phase alternates, whatever the case)."""
    rows = [
        compared({**_keys(phase), "positions by": source_name(prefix), "judges": f"{seat} and {seat + 1}"}, None,
                 _score(results, phase, f"{prefix}alternation", f"seats={seat}-{seat + 1}"))
        for phase in phases_of(results) for prefix in phase.sources for seat in range(1, phase.judges)
    ]  # fmt: skip
    return comparison(rows, (*KEYS, "positions by", "judges"), (VOTE_NOTE, BY_CASE_NOTE))


_WORDING = {
    "citations_per_statement": "citations a statement",
    "well_formed_citations": "share of citations with reporter, volume and page",
    "citations_in_case_per_statement": "citations a statement that the facts hold",
    "unverifiable_citations_per_statement": "citations a statement that the facts do not hold",
    "statement_words": "words a statement",
    "statement_repetition": "share of a statement that repeats the speaker's own earlier words",
    "statement_confidence": "stated confidence (0 to 100)",
}


@table(
    STUDY, "reasoning", "Citations, length and repetition",
    "What the statements of each phase and round cite, how long they are, and how much they repeat.",
)  # fmt: skip
def reasoning(results: StudyResults) -> TableContent:
    """Counts that test the paper's qualitative claims (vaguer and more repetitive by round; few citations)."""
    rows: list[dict[str, Any]] = []
    for phase in phases_of(results):
        groups = [("overall", "all")] + [(f"round={number}", str(number)) for number in range(1, phase.rounds + 1)]
        groups += [(f"speaker={HUMAN}", "all, human only")] if phase.name == "human_ai" else []
        for group, number in groups:
            for metric, what in _WORDING.items():
                rows.append(
                    compared(
                        {**_keys(phase), "round": number, "measure": what}, None, _score(results, phase, metric, group)
                    )
                )
    notes = (
        "A citation that the facts do not hold is not verifiable offline: a possible fabrication, not a proven "
        "one. Facts are "
        "de-identified and hold hardly any citation.",
        "Repetition: the share of a statement's rows of three words that stand in earlier statements of the same "
        "speaker.",
    )
    return comparison(rows, (*KEYS, "round", "measure"), (*notes, BY_CASE_NOTE))


@table(
    STUDY, "changes_of_opinion", "Changes of opinion, for reading",
    "Every change of opinion: the statement before, what the others said between, and the statement after.",
)  # fmt: skip
def changes_of_opinion(results: StudyResults) -> TableContent:
    """The paper's qualitative analysis: each change in full, in the order of debates."""
    columns = ["phase", "model", "debate", "human", "judge", "rounds", "from", "to", "before", "said between", "after"]
    rows: list[dict[str, Any]] = []
    for phase in phases_of(results):
        pairs = changes_of(phase.steps)
        held = regular(phase.steps).set_index(["debate_id", "turn"]).sort_index()
        for change in pairs[pairs["changed"]].to_dict("records"):
            debate = held.loc[change["debate_id"]]
            between = debate[(debate["round"] == change["round"]) & (debate["speaker"] != change["speaker"])]
            rows.append({
                "phase": SPOKEN[phase.name], "model": phase.model, "debate": change["debate_id"],
                "human": change["condition"],
                "judge": change["seat"], "rounds": f"{change['round']} to {change['round'] + 1}",
                "from": CODE_NAMES[change["before"]], "to": CODE_NAMES[change["after"]],
                "before": debate.loc[change["turn"], "text"],
                "said between": " / ".join(f"{row.speaker}: {row.text}" for row in between.itertuples()),
                "after": debate.loc[change["turn_after"], "text"],
            })  # fmt: skip
    notes = (
        "Changes between codes 0 and 1, by labelled statements.",
        *([] if rows else ["No judge changed opinion in this run."]),
    )
    return TableContent(pd.DataFrame(rows, columns=columns), notes)


@table(
    STUDY, "agreement", "Agreement of labellers and annotators",
    "Cohen's kappa of each pair and Krippendorff's alpha over all who labelled statements, for labels and for "
    "binary codes.",
)  # fmt: skip
def agreement_of_labels(results: StudyResults) -> TableContent:
    """How far rules, models and people agree on the statements of each experiment."""
    columns = ["experiment", "of", "measure", "labelers", "value", "95 % low", "95 % high", "n"]
    rows: list[dict[str, Any]] = []
    for experiment in dict.fromkeys(phase.results for phase in phases_of(results)):
        labels = _all_labels(experiment.results / "annotations" / experiment.experiment, experiment.config.models)
        for of, column in (("label", "label"), ("code", "code")):
            found = agreement(labels.assign(code=labels["code"].astype(str)), experiment.seed, column)
            for row in found.itertuples():
                values = (row.measure, row.labelers, row.value, row.ci_low, row.ci_high, row.n)
                rows.append(dict(zip(columns, (experiment.experiment, of, *values), strict=True)))
    notes = ["Intervals by bootstrap over cases."]
    notes += (
        [] if rows else ["Only one labeller labelled each statement: add `judge` to `labelers`, or fill in a sheet."]
    )
    frame = pd.DataFrame(rows, columns=columns).astype({"n": "Int64"})
    return TableContent(
        frame, notes, ours=("value",), intervals={"95 % interval": ("95 % low", "95 % high")}, keys=("experiment", "of")
    )


def _all_labels(folder: Any, models: Sequence[str]) -> pd.DataFrame:
    return pd.concat([read_frame(folder / f"{model}.parquet") for model in models], ignore_index=True)
