"""The runs of the conference study whose decisions are graded."""

from moot.core.types import Fields
from moot.report.study_results import Run, StudyResults
from moot.studies.conference.speakers import participant_seat

STUDY = "conference"
CONFERENCE_PROTOCOL, JUDGING_PROTOCOL = "conference", "judging"


def list_graded_runs(results: StudyResults) -> list[Run]:
    """Return all runs with a judge whose decisions can be graded.

    Judges of the same exchanges come first, then conferences in which the judge's model takes every
    seat.
    """
    judges = results.runs(results.find_experiments(JUDGING_PROTOCOL), Run)
    conferences = results.find_experiments(CONFERENCE_PROTOCOL, agreement=True)
    return [*judges, *results.runs(conferences, Run)]


def name_participants(run: Run) -> str:
    """Return the models that take part in the exchanges which a run's judge decides on."""
    if run.results.config.protocol == JUDGING_PROTOCOL:
        return str(run.params["source_model"])
    seats = run.params.get("seats", {})
    names = [seats.get(seat, run.model) for seat in _participant_seats(run.params)]
    return ", ".join(dict.fromkeys(names))


def _participant_seats(params: Fields) -> list[str]:
    return [participant_seat(number) for number in range(1, int(params["participants"]) + 1)]
