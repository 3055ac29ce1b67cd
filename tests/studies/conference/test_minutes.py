"""Minutes and transcripts of conferences."""

import re
from pathlib import Path

from conference_runs import HOSTILE, LoadContextMaker, hold_both_conditions, hold_conferences
from conference_script import conference_case, script
from moot.llm.request import Request
from moot.report.transcript_pages import render_markdown
from moot.studies.conference.minutes import render_minutes


async def test_minutes_contain_the_agreements(
    tmp_path: Path, load_context: LoadContextMaker
) -> None:
    study = await hold_both_conditions(tmp_path, load_context)
    documents = dict(render_minutes(study.experiments["with"], "scripted"))
    assert list(documents) == [1, 2, 3]
    text = documents[1]
    assert text.count("**Closed in agreement** after 1 round of debate.") == 3
    for heading in (
        "## Present",
        "### Positions",
        "### What was agreed",
        "### Open points",
        "## The model of criteria",
    ):
        assert heading in text
    model = text.split("## The model of criteria")[1]
    assert model.count("- health") == 1, "a criterion that every topic names stands once"
    assert "*Nothing noted.*" in text.split("### Open points")[1]
    assert (
        "No judge" not in text
        and "No judge" in dict(render_minutes(study.experiments["without"], "scripted"))[1]
    )


async def test_minutes_without_usable_notes_quote_the_last_statements(
    tmp_path: Path, load_context: LoadContextMaker
) -> None:
    def careless(request: Request) -> str | dict[str, float] | None:
        if request.schema and "positions" in request.schema["properties"]:
            return "I took no notes."
        return script("MORE DEBATE", statement=f"{HOSTILE}\nsecond line", greeting=HOSTILE)(request)

    results = await hold_conferences(
        tmp_path, *conference_case(load_context), [careless], rounds=2, graded_decisions=0
    )
    text = dict(render_minutes(results, "scripted"))[1]
    assert (
        text.count("could not be used") == 3
        and "**Closed without agreement** after 2 rounds" in text
    )
    assert "<script>" not in text and "](http" not in text
    assert not re.search(r"^# heading", text, re.MULTILINE)


async def test_transcripts_are_laid_out_by_speaker_and_harmless(
    tmp_path: Path, load_context: LoadContextMaker
) -> None:
    study = await hold_both_conditions(tmp_path, load_context)
    page = "".join(render_markdown(study.experiments["with"], "scripted"))
    assert page.count("**Judge, ") == 9 and page.count("\n## Debate ") == 3
    assert "<script>" not in page and "&lt;script&gt;" in page
    assert page.index("**Moderator, ") < page.index("**Participant 1, ")
    evaluations = page.split("*(private: ")[1:]
    assert any("*Emotional intelligence:* 7" in part for part in evaluations)
