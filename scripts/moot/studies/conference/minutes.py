"""Minutes of decision conferences for their participants: one Markdown document per conference.

They consist of the moderator's notes of each topic. If notes are unusable, the last words of each
participant replace them, and the minutes say so. All text of models and files is escaped.
"""

import json
from collections.abc import Iterator
from typing import Any

import pandas as pd

from moot.core.utterance_kinds import CLOSING, DECISION, NOTES, STATEMENT, UNUSABLE
from moot.report.escaping import markdown
from moot.scores.results import ExperimentResults
from moot.studies.conference.data_conference import Topic, read_agenda
from moot.studies.conference.scores_conference import number_topics

NOTHING = "*Nothing noted.*"
SECTIONS = {
    "agreed": "What was agreed",
    "criteria": "Added to the model",
    "open_points": "Open points",
}


def render_minutes(results: ExperimentResults, model: str) -> Iterator[tuple[int, str]]:
    """Yield number and minutes of each conference of a model.

    Numbers begin at 1 and follow the order of debates.
    """
    transcripts = number_topics(results.transcripts)
    params = results.config.params
    utterances = transcripts[transcripts["model"] == model].sort_values(
        ["case_id", "repeat", "turn"], kind="stable"
    )
    for number, (_, debate) in enumerate(utterances.groupby("debate_id", sort=False), start=1):
        case_id, repeat = str(debate["case_id"].iloc[0]), int(debate["repeat"].iloc[0])
        agenda = read_agenda(results.case_by_id[case_id].text, results.task.question)
        topics = tuple(Topic(**topic) for topic in params.get("topics") or ()) or agenda.topics
        title = f"# Minutes of the decision conference {markdown(case_id)}, run {repeat + 1}"
        parts = [title, markdown(agenda.issue), *_render_participants(params, model)]
        parts += [
            _render_topic(position, topic, debate) for position, topic in enumerate(topics, start=1)
        ]
        yield (
            number,
            "\n\n".join([*parts, *_render_criteria(debate), *_render_closing(debate)]).rstrip()
            + "\n",
        )


def _render_participants(params: Any, model: str) -> Iterator[str]:
    personas = params["personas"] or [""] * params["participants"]
    yield "## Present"
    lines = [
        f"- Participant {number}{': ' + markdown(persona) if persona else ''}"
        for number, persona in enumerate(personas, start=1)
    ]
    decider = (
        "a judge of agreement"
        if params["agreement"]
        else "no judge; the moderator decided when to go on"
    )
    lines += ["- The moderator", f"- {decider[0].upper()}{decider[1:]}"]
    seat_models = "".join(
        f"; {markdown(seat)} by {markdown(seat_model)}"
        for seat, seat_model in sorted(params.get("seats", {}).items())
    )
    yield "\n".join(lines) + f"\n\nPlayed by the language model {markdown(model)}{seat_models}."


def _render_topic(number: int, topic: Topic, debate: pd.DataFrame) -> str:
    utterances = debate[debate["topic"] == number]
    decisions = utterances[utterances["kind"] == DECISION]
    rounds = len(decisions)
    is_agreed = rounds > 0 and decisions["prediction"].iloc[-1] == "agreement"
    ending = "Closed in agreement" if is_agreed else "Closed without agreement"
    parts = [
        f"## {number}. {markdown(topic.title)} ({markdown(topic.stage)})",
        markdown(topic.question),
        f"**{ending}** after {rounds} round{'s' if rounds != 1 else ''} of debate.",
        "### Positions",
    ]
    notes = read_last_notes(utterances)
    if notes is None:
        return "\n\n".join(
            [
                *parts,
                "*The moderator's notes could not be used; the participants' last words:*",
                _render_last_words(utterances),
            ]
        )
    parts.append(_render_list(notes.get("positions", [])))
    for field, heading in SECTIONS.items():
        parts += [f"### {heading}", _render_list(notes.get(field, []))]
    return "\n\n".join(parts)


def read_last_notes(topic: pd.DataFrame) -> dict[str, list[str]] | None:
    """Return the moderator's notes on one topic, or None without usable notes."""
    notes = topic[(topic["kind"] == NOTES) & ~topic["parse_status"].isin(UNUSABLE)]
    return json.loads(notes["parsed"].iloc[0]) if len(notes) else None


def _render_last_words(topic: pd.DataFrame) -> str:
    statements = topic[(topic["kind"] == STATEMENT) & (topic["text"].fillna("").str.strip() != "")]
    last_texts = statements.groupby("speaker", sort=True)["text"].last()
    lines = [
        f"{str(seat).replace('_', ' ').capitalize()}: {' '.join(text.split())}"
        for seat, text in last_texts.items()
    ]
    return _render_list(lines)


def _render_criteria(debate: pd.DataFrame) -> Iterator[str]:
    """Yield heading and list of the criteria that the group's model gained, each once."""
    criteria: dict[str, None] = {}
    for _, topic in debate[debate["topic"] > 0].groupby("topic", sort=True):
        notes = read_last_notes(topic) or {}
        lines = [line.strip() for line in notes.get("criteria", [])]
        criteria |= dict.fromkeys(filter(None, lines))
    yield "## The model of criteria"
    yield _render_list(list(criteria))


def _render_closing(debate: pd.DataFrame) -> Iterator[str]:
    statements = debate.loc[(debate["kind"] == CLOSING), "text"].fillna("")
    if len(statements) and statements.iloc[0].strip():
        yield "## The moderator's closing words"
        yield "\n".join(f"> {line}" for line in markdown(statements.iloc[0]).splitlines())


def _render_list(entries: list[str]) -> str:
    lines = [f"- {markdown(' '.join(entry.split()))}" for entry in entries if entry.strip()]
    return "\n".join(lines) if lines else NOTHING
