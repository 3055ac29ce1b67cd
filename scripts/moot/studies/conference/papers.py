"""The parts of Heller et al.'s items on the decision conference that this study computes."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from moot.core.utterance_kinds import DECISION, GRADE, OPENING, STATEMENT
from moot.papers import fills
from moot.papers.diagrams import draw_designs
from moot.papers.examples import excerpt, first_debate
from moot.papers.own_rows import rows_of_runs
from moot.papers.parts import AnswerCounts, Clauses, Fact, ItemRun, OwnRow, Part
from moot.report.study_results import Measurement, Run, StudyResults
from moot.scores.results import ExperimentResults
from moot.studies.conference.forms import participant_seat
from moot.studies.conference.scores_conference import CONFERENCE, JUDGING
from moot.studies.conference.scores_grading import read_grades

STUDY = "conference"


def list_graded_runs(results: StudyResults) -> list[Run]:
    """Return all runs with a judge whose decisions can be graded.

    Judges of the same exchanges come first, then conferences in which the judge's model takes every
    seat.
    """
    judges = results.runs(results.find_experiments(JUDGING), Run)
    conferences = results.find_experiments(CONFERENCE, agreement=True)
    return [*judges, *results.runs(conferences, Run)]


def name_participants(run: Run) -> str:
    """Return the models that take part in the exchanges which a run's judge decides on."""
    if run.results.config.protocol == JUDGING:
        return str(run.params["source_model"])
    seats: dict[str, str] = run.params.get("seats", {})
    numbers = range(1, int(run.params["participants"]) + 1)
    names = [seats.get(participant_seat(number), run.model) for number in numbers]
    return ", ".join(dict.fromkeys(names))


DECISIONS_OF_TABLE = 5
MAX_CHARS = 1500
KINDS_OF_TRANSCRIPTS = (OPENING, STATEMENT, DECISION, "steering")
TITLES_OF_TRANSCRIPTS = {True: "As Figures A2 and A3", False: "As Figure A1, without a judge"}


@fills(STUDY, "decision_conference/table5")
def agreement_detection(run: ItemRun) -> Iterator[Part]:
    """Yield the grades of five decisions of each judge."""
    for graded_run in list_graded_runs(run.results):
        participants = name_participants(graded_run)
        is_judging = graded_run.results.config.protocol == JUDGING
        debates = f"exchange of {participants}" if is_judging else f"conference of {participants}"
        grader = graded_run.params.get("seats", {}).get("grader", "itself")
        heads = (f"{graded_run.model_name} ({debates}, graded by {grader})",)
        for row in rows_of_runs(run.item, [("", heads, graded_run)]):
            yield _with_first_grades(row, graded_run)


def _with_first_grades(row: OwnRow, run: Run) -> OwnRow:
    """Show the grades of the first five decisions, whichever conferences they are from.

    The paper does not say that its five decisions are from one conference, and one of three topics
    may have fewer. With fewer than five there is no overall grade.
    """
    grades = run.results.gather(read_grades, ["repeat", "round", "kind", "parse_status", "parsed"])
    grades = grades[(grades["model"] == run.model) & (grades["kind"] == GRADE)]
    decisions = grades.groupby(["repeat", "case_id", "number"], sort=True)["grade"].mean()
    first_grades = decisions.dropna().head(DECISIONS_OF_TABLE)
    cells = {key: value for key, value in row.cells.items() if "@" not in key[1]}
    for number, grade in enumerate(first_grades, start=1):
        cells["", f"grade@decision={number}"] = Measurement(float(grade), n=1, n_invalid=0)
    cells.pop(("", GRADE), None)
    if len(first_grades) == DECISIONS_OF_TABLE:
        mean = float(first_grades.mean())
        cells["", GRADE] = Measurement(mean, n=DECISIONS_OF_TABLE, n_invalid=0)
    # The answers of a row are of whole conferences, the table is of grades.
    answers = AnswerCounts(len(grades), int(grades["grade"].isna().sum()), noun=GRADE)
    return replace(row, cells=cells, answers=answers)


@fills(STUDY, "decision_conference/text")
def first_topics(run: ItemRun) -> Iterator[Part]:
    """Count the clusters of the first topic, and show it as the paper's Figures A1 to A3 do."""
    shown_titles: set[str] = set()
    for results in run.results.find_experiments("conference"):
        has_judge = bool(results.config.params["agreement"])
        row = f"clusters_covered_{'with' if has_judge else 'without'}_judge"
        for conference in run.results.runs([results], Run):
            clusters = conference.measurement("clusters_by_lexicon")
            source = f"{conference.experiment}, {conference.model_name}"
            if clusters.value == clusters.value:
                text = f"{clusters.value:g}, by a lexicon ({source})"
                yield Fact(f"drug_policy_topic1/{row}", text)
        title = TITLES_OF_TRANSCRIPTS[has_judge]
        if title not in shown_titles and (clauses := _first_topic(results)):
            shown_titles.add(title)
            yield Clauses(f"{title}: {results.experiment}, the first topic", clauses)


def _first_topic(results: ExperimentResults) -> tuple[tuple[str, str], ...]:
    """Return speakers and words of the first topic of the first conference."""
    transcripts = results.transcripts
    if transcripts.empty:
        return ()
    debate = first_debate(transcripts)
    debate = debate[(debate["text"] != "") & debate["kind"].isin(KINDS_OF_TRANSCRIPTS)]
    is_of_first_topic = (debate["kind"] == OPENING).cumsum() == 1
    rows = debate.loc[is_of_first_topic, ["speaker", "kind", "text"]]
    clauses = []
    for speaker, kind, text in rows.itertuples(index=False, name=None):
        clauses.append((f"{speaker.replace('_', ' ')}, {kind}", excerpt(text, MAX_CHARS)))
    return tuple(clauses)


@fills(STUDY, "decision_conference/figure1")
def process(run: ItemRun) -> Iterable[Part]:
    """Draw one topic of a conference as it is configured, with the loop until all agree."""
    return draw_designs(run, Path(__file__).parent / "process.yaml")
