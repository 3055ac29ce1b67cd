"""Tables of questions that the paper did not test: majorities, influence, alternation, wording."""

from collections.abc import Iterator

from moot.core.types import JsonObject
from moot.report import table
from moot.report.columns import Columns
from moot.report.content import TableContent
from moot.report.published import comparison_table
from moot.report.study_results import StudyResults
from moot.studies.appellate.legal.rubric import AFFIRMED_CODE
from moot.studies.appellate.panel_steps import HUMAN, pair_positions, select_regular_steps
from moot.studies.appellate.phases import (
    BY_CASE_NOTE,
    CODE_NAMES,
    KEYS,
    PHASE_TITLES,
    STUDY,
    VOTE_NOTE,
    Phase,
    list_phases,
    name_source,
)


def _iter_phase_sources(results: StudyResults) -> Iterator[tuple[Phase, str]]:
    """Yield every phase with each prefix of its scores."""
    for phase in list_phases(results):
        for prefix in phase.sources:
            yield phase, prefix


@table(STUDY, "majorities", "Majorities and the real outcome")
def majorities(results: StudyResults) -> TableContent:
    """Compare the majority of the first and the last round with the real court's outcome."""
    rows: list[JsonObject] = []
    for phase, prefix in _iter_phase_sources(results):
        for stage in ("first", "last"):
            keys = {"positions by": name_source(prefix), "majority of": f"{stage} round"}
            rows.append(phase.row(keys, f"{prefix}majority_accuracy", f"majority={stage}"))
    notes = [
        "A majority is the most frequent position, even if a single judge takes it. Ties and panels"
        " without a position are invalid. A mixed outcome counts as not affirmed."
    ]
    for phase in list_phases(results):
        cases = phase.results.cases
        targets = cases.loc[cases["case_id"].isin(phase.steps["case_id"]), "target"]
        affirmed = int((targets == CODE_NAMES[AFFIRMED_CODE]).sum())
        notes.append(
            f"{phase.experiment}: the real court affirmed {affirmed} of {len(targets)} cases, so"
            f" always affirming scores {affirmed / max(len(targets), 1):.3f}."
        )
    return comparison_table(
        rows,
        (*KEYS, "positions by", "majority of"),
        (*dict.fromkeys(notes), VOTE_NOTE, BY_CASE_NOTE),
    )


_EFFECT_TITLES = {
    "": "affirming share of AI judges: human affirms less human does not",
    "vote_": "AI judges' belief in affirming: human affirms less human does not",
}


@table(STUDY, "human_weight", "Whom an AI judge follows")
def human_weight(results: StudyResults) -> TableContent:
    """Measure how often an AI judge of a human-AI panel adopts the position of an opposing judge.

    The odds ratio compares the human with the other AI judge. The paper could not test this.
    """
    rows: list[JsonObject] = []
    measures = [
        ("moved", f"opposed={opposer}", f"share that moved; opposed by {opposer}")
        for opposer in ("human", "peer", "both", "nobody")
    ]
    measures += [
        (
            "human_over_peer_odds",
            f"clusters={unit}",
            f"odds ratio, human over peer; interval by {unit}",
        )
        for unit in ("case", "debate")
    ]
    for phase in list_phases(results):
        for prefix in phase.sources if phase.name == "human_ai" else ():
            effect = "vote_belief_stance_effect" if prefix else "stance_effect"
            measures_of_phase = [
                (effect, f"round={number}", f"{_EFFECT_TITLES[prefix]}, round {number}")
                for number in range(1, phase.rounds + 1)
            ]
            measures_of_phase += [
                (f"{prefix}{metric}", group, title) for metric, group, title in measures
            ]
            keys = {"positions by": name_source(prefix)}
            rows += [
                phase.row({**keys, "measure": title}, metric, group)
                for metric, group, title in measures_of_phase
            ]
    notes = (
        (
            "A chance needs a position of the judge before and after, and one of human and peer in"
            " between. An odds ratio above 1 means that an AI judge moves towards the human more"
            " often than towards the other AI judge; half a count is added to each cell."
        ),
        (
            "The human's stance is balanced within each case, so a difference after round 1 is its"
            " effect. In round 1 no judge has heard the human, so a difference is chance."
        ),
        (
            "If both or neither opposed the judge, the two influences cannot be separated, so these"
            " chances are not in the ratio."
        ),
    )
    return comparison_table(rows, (*KEYS, "positions by", "measure"), (*notes, VOTE_NOTE))


@table(STUDY, "alternation", "Alternation")
def alternation(results: StudyResults) -> TableContent:
    """Measure how often a judge opposes the previous judge in the same round.

    The paper reports that the synthetic phase, in which one model plays all judges, alternates for
    every case.
    """
    rows: list[JsonObject] = []
    for phase, prefix in _iter_phase_sources(results):
        for seat in range(1, phase.judges):
            keys = {"positions by": name_source(prefix), "judges": f"{seat} and {seat + 1}"}
            rows.append(phase.row(keys, f"{prefix}alternation", f"seats={seat}-{seat + 1}"))
    return comparison_table(rows, (*KEYS, "positions by", "judges"), (VOTE_NOTE, BY_CASE_NOTE))


_WORDING_TITLES = {
    "citations_per_statement": "citations a statement",
    "well_formed_citations": "share of citations with reporter, volume and page",
    "citations_in_case_per_statement": "citations a statement that the facts hold",
    "unverifiable_citations_per_statement": "citations a statement that the facts do not hold",
    "statement_words": "words a statement",
    "statement_repetition": "share of a statement that repeats the speaker's own earlier words",
    "statement_confidence": "stated confidence (0 to 100)",
}


@table(STUDY, "reasoning", "Citations, length and repetition")
def reasoning(results: StudyResults) -> TableContent:
    """Measure citations, length and repetition of the statements of each phase and round.

    The paper reports that statements become vaguer and more repetitive by round and cite little.
    """
    rows: list[JsonObject] = []
    for phase in list_phases(results):
        groups = [("overall", "all")] + [
            (f"round={number}", str(number)) for number in range(1, phase.rounds + 1)
        ]
        groups += [(f"speaker={HUMAN}", "all, human only")] if phase.name == "human_ai" else []
        for group, number in groups:
            rows += [
                phase.row({"round": number, "measure": title}, metric, group)
                for metric, title in _WORDING_TITLES.items()
            ]
    notes = (
        (
            "A citation that the facts do not contain cannot be verified offline. It may be a"
            " fabrication. Facts are de-identified and contain hardly any citation."
        ),
        (
            "Repetition is the share of a statement's sequences of three words that occur in"
            " earlier"
            " statements of the same speaker."
        ),
    )
    return comparison_table(rows, (*KEYS, "round", "measure"), (*notes, BY_CASE_NOTE))


_STRUCTURE_TITLES = (
    ("statement_reasserted", "overall", "share of statements: assertion, reasoning, reassertion"),
    ("statement_opposing_view", "overall", "share of statements that take up an opposing view"),
    ("statement_names_human", "overall", "share of later statements that name the human judge"),
    ("human_as_reason", "overall", "share of changes that give the human as a reason"),
    ("margin", "votes=unanimous", "margin between positions, unanimous cases"),
    ("margin", "votes=divided", "margin between positions, divided cases"),
)


@table(STUDY, "structure", "Structure of reasoning")
def structure(results: StudyResults) -> TableContent:
    """Measure the properties of reasoning that the paper describes in words.

    Multi-agent judges assert, reason and reassert; a devil's advocate appears; judges nearly always
    refer to the human opinion, and change in its light; margins are smaller in contentious cases.
    """
    rows: list[JsonObject] = []
    for phase in list_phases(results):
        for metric, group, title in _STRUCTURE_TITLES:
            if phase.name == "human_ai" or "human" not in metric:
                rows.append(phase.row({"measure": title}, metric, group))
    notes = (
        (
            "Statements of AI judges, by rules of ours (`reasoning_structure.py`): the paper gives"
            " no numbers. Reassertion: the same position in the first and in the last two"
            " sentences. Opposing view: words such as `on the other hand` or `one might argue`."
        ),
        (
            "Later statements are those after the first round; in the first round no judge has "
            "heard the human. A margin is the difference between the shares of debates that "
            "affirm and that do not, averaged over steps; a case is divided if a judge of the "
            "real court dissented."
        ),
        "No rule recognises whether reasoning resembles human judges'; people have to read.",
    )
    return comparison_table(rows, (*KEYS, "measure"), (*notes, BY_CASE_NOTE))


@table(STUDY, "changes_of_opinion", "Changes of opinion, for reading")
def changes_of_opinion(results: StudyResults) -> TableContent:
    """List every change of opinion with the statements before, between and after it."""
    rows: list[JsonObject] = []
    for phase in list_phases(results):
        pairs = pair_positions(phase.steps)
        regular_steps = (
            select_regular_steps(phase.steps).set_index(["debate_id", "turn"]).sort_index()
        )
        for change in pairs[pairs["changed"]].to_dict("records"):
            debate = regular_steps.loc[change["debate_id"]]
            other_statements = debate[
                (debate["round"] == change["round"]) & (debate["speaker"] != change["speaker"])
            ]
            rows.append({
                "phase": PHASE_TITLES[phase.name], "model": phase.model,
                    "debate": change["debate_id"],
                "human": change["condition"],
                "judge": change["seat"], "rounds": f"{change['round']} to {change['round'] + 1}",
                "from": CODE_NAMES[change["before"]], "to": CODE_NAMES[change["after"]],
                "before": debate.loc[change["turn"], "text"],
                "said between": " / ".join(
                    f"{row.speaker}: {row.text}" for row in other_statements.itertuples()),
                "after": debate.loc[change["turn_after"], "text"],
            })  # fmt: skip
    notes = (
        "Changes between codes 0 and 1, by labelled statements.",
        *([] if rows else ["No judge changed opinion in this run."]),
    )
    return _CHANGE_COLUMNS.table(rows, notes)


_CHANGE_COLUMNS = (
    Columns()
    .plain(
        "phase",
        "model",
        "debate",
        "human",
        "judge",
        "rounds",
        "from",
        "to",
        "before",
        "said between",
        "after",
    )
    .short_form("debate", "judge", "rounds", "from", "to", "before", "after")
)
