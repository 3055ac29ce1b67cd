"""The table `planted_misstatements`: whether a wrong quotation or figure is noticed, and pays."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pandas as pd

from moot.analyses.arms.arm_kinds import ARM
from moot.analyses.arms.misstatements import MISQUOTE, WRONG_FIGURE, names_misstatement
from moot.core.checked_passages import statement_text
from moot.core.types import Fields
from moot.core.utterance_kinds import COMPUTED, PUBLIC
from moot.protocols import PROTOCOLS
from moot.report import EVERY_STUDY_AND_COMPARISON, table
from moot.report.columns import SIGNED, Columns, Row
from moot.report.content import TableContent
from moot.report.debate_texts import records
from moot.report.needs import StudyPlan
from moot.report.paired_cells import SAME_NOTE, same_answers
from moot.report.study_results import Run, StudyResults
from moot.stats.statistic import mean_statistic, share_statistic

MISSTATEMENTS = (MISQUOTE, WRONG_FIGURE)
NONE_PLANTED = "no statement has a passage of the case's text that could be altered"
COLUMNS = (
    Columns()
    .keys("data", "debate", "model", "arm")
    .estimate("an opponent objects", "objects")
    .plain("an opponent objects, without it")
    .estimate("the judge names it", "names")
    .plain("the judge names it, without it")
    .estimate("verdicts for its side, more than without it", "pays", role="", digits=SIGNED)
    .plain("same answer", "same if asked twice")
    .estimate("changed by the arm", "changed", role="", digits=SIGNED)
    .counts("debates altered", "debates", "cases")
    .plain("what is missing")
    .short_form(
        "data", "debate", "model", "arm", "an opponent objects", "the judge names it", "cases"
    )
)
NOTES = (
    "One quotation or figure that the case's text holds is altered in a debater's statement. An "
    "opponent objects, or the judge names it, if a later statement of another debater, or the "
    "judge's words, contain the passage near the change together with a word of objection, or "
    "both versions of it. `without it` is how often the same test finds an objection in the same "
    "debates without the alteration.",
    f"Cases without such a passage are left out. {SAME_NOTE} `changed by the arm` is the excess "
    "of this share over `same answer`, with its interval by cluster.",
)


def has_misstatements(plan: StudyPlan) -> bool:
    """Return whether an experiment has one of the two arms."""
    return any(control.config.control in MISSTATEMENTS for control in plan.controls)


@dataclass(frozen=True)
class AlteredRun(Run):
    """The answers of a run on the cases whose statements were altered."""

    altered_cases: frozenset[str] = frozenset()

    @property
    def predictions(self) -> pd.DataFrame:
        """Its predictions on these cases."""
        rows = super().predictions
        return rows[rows["case_id"].isin(self.altered_cases)]


@table(
    EVERY_STUDY_AND_COMPARISON,
    "planted_misstatements",
    "Is a planted misquotation or wrong figure noticed?",
    needs=(has_misstatements,),
)
def planted_misstatements(results: StudyResults) -> TableContent:
    """How often opponents object to an altered quotation or figure and judges name it, and
    how often it changes the verdict, compared with the same debates without it.
    """
    rows: list[Row] = []
    for arm in results.runs(results.controls.values(), Run):
        debate = results.experiments.get(arm.results.config.control_of)
        is_misstatement = arm.results.config.control in MISSTATEMENTS
        if is_misstatement and debate and arm.model in debate.config.models:
            rows.append(_row(replace(arm, results=debate), arm))
    return COLUMNS.table(rows, NOTES, exploratory=True)


def _row(debate: Run, arm: Run) -> Row:
    names = (debate.data, debate.experiment, debate.model_name)
    keys: Row = {"data": (*names, arm.results.config.control.replace("_", " "))}
    noticed = pd.DataFrame(_noticed_by_debate(debate, arm))
    counts: Row = {"debates": len(arm.predictions)}
    if noticed.empty:
        return keys | counts | {"what is missing": NONE_PLANTED}
    sample = arm.resample(noticed["case_id"])
    cases = frozenset(noticed["case_id"])
    first, second = (AlteredRun(run.results, run.model, run.study, cases) for run in (debate, arm))
    cells: Row = {
        "an opponent objects": sample.estimate(share_statistic(noticed["opponent, arm"])),
        "an opponent objects, without it": noticed["opponent, debate"].mean(),
        "debates altered": len(noticed),
        "cases": len(cases),
    }
    if noticed["has judge"].any():
        cells["the judge names it"] = sample.estimate(share_statistic(noticed["judge, arm"]))
        cells["the judge names it, without it"] = noticed["judge, debate"].mean()
    gain = noticed["verdict, arm"] - noticed["verdict, debate"]
    if noticed["side"].ne("").all():
        pays = sample.estimate(mean_statistic(gain, (-1.0, 1.0)))
        cells["verdicts for its side, more than without it"] = pays
    return {**keys, **counts, **cells, **same_answers(first, second, "changed by the arm")}


def _noticed_by_debate(debate: Run, arm: Run) -> Iterator[Row]:
    """Yield who notices each altered passage, in the arm and in the same debate without it."""
    debaters = PROTOCOLS[arm.results.config.protocol].debaters
    judge = "" if debaters is None or debaters.are_judges else debaters.decider
    texts = {"arm": _utterances_by_debate(arm), "debate": _utterances_by_debate(debate)}
    runs = {"arm": arm, "debate": debate}
    answers = {
        name: dict(zip(_debate_keys(run.valid), run.valid["prediction"], strict=True))
        for name, run in runs.items()
    }
    for note in records(arm.utterances(ARM)):
        key = (note["case_id"], note["repeat"])
        planted = json.loads(note["parsed"])
        is_in_both = all(key in by_debate for by_debate in (*texts.values(), *answers.values()))
        if not is_in_both:
            continue
        row: Row = {"case_id": note["case_id"], "side": planted["side"], "has judge": bool(judge)}
        for name, by_debate in texts.items():
            objectors = _objectors(by_debate[key], planted, note["text"], judge)
            row[f"judge, {name}"] = judge in objectors
            row[f"opponent, {name}"] = bool(objectors - {judge, planted["speaker"]})
            row[f"verdict, {name}"] = float(answers[name][key] == planted["side"])
        yield row


def _debate_keys(rows: pd.DataFrame) -> list[tuple[str, int]]:
    return list(zip(rows["case_id"], rows["repeat"], strict=True))


def _utterances_by_debate(run: Run) -> dict[tuple[str, int], list[Fields]]:
    utterances: dict[tuple[str, int], list[Fields]] = {}
    columns = ["repeat", "turn", "speaker", "text", "parsed", "visibility", "source"]
    for part in run.results.transcript_parts(columns, run.model):
        for row in records(part[part["source"] != COMPUTED]):
            utterances.setdefault((row["case_id"], row["repeat"]), []).append(row)
    return utterances


def _objectors(utterances: list[Fields], planted: Fields, altered: str, judge: str) -> set[str]:
    """Return the seats that name an alteration after it was made, in public or as the judge."""
    seats: set[str] = set()
    for row in utterances:
        is_heard = row["visibility"] == PUBLIC or row["speaker"] == judge
        is_later = row["turn"] > planted["turn"]
        text = statement_text(row["text"], row["parsed"])
        if is_heard and is_later and names_misstatement(text, planted["original"], altered):
            seats.add(row["speaker"])
    return seats
