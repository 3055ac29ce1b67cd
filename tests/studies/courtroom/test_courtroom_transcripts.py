"""Transcripts of the courtroom read as the paper's appendix, and hostile text is harmless."""

import re

from hypothesis import given
from hypothesis import strategies as st

from moot.report import escaping
from moot.report.transcript_pages import _body, render_markdown

SENTENCES = ("Data set", "Turns marked *private* were", "Actual", "Prediction", "What")
"""Beginnings of the page's own sentences."""


def test_a_debate_reads_as_the_papers_appendix(study):
    text = "".join(render_markdown(study.experiments["courtroom-x"], "tiny"))
    debate = text[text.index("## Debate a") : text.index("## Debate b")]
    assert "> Facts of a." in debate and "Actual outcome: **yes**" in debate
    assert "**Prosecutor, strategy** *(private: prosecutor)*, turn 1 `call-a#0-1`" in debate
    assert "(Belief: **no** with 60 %)" in debate and "> - young" in debate
    assert "(Prediction: **yes** with 70 %, CORRECT)" in debate
    assert "*The call failed; there is no reply: timeout.*" in debate
    assert "Prediction: **yes** with 70 %, **CORRECT** (actual: yes)." in debate


def test_a_debate_cannot_forge_the_page(study):
    text = "".join(render_markdown(study.experiments["courtroom-x"], "tiny"))
    assert "<script" not in text and "\\# He did it." in text
    assert all(
        line.startswith((">", "#", "*", "-", "(", *SENTENCES)) or not line
        for line in text.split("\n")
    )


@given(st.text(max_size=60))
def test_markdown_opens_no_markup(text):
    for line in escaping.markdown(text).split("\n"):
        assert not re.search(r"(?<!\\)[`*_\[\]<>|~!]", line.replace("\\\\", ""))
        assert not re.match(r"^\s*([#>+=-]|\d+[.)])", line)
        assert "://" not in line and "www." not in line.casefold()


def test_a_persons_statement_is_shown_with_its_condition() -> None:
    row = {
        "source": "human",
        "text": "I would affirm.",
        "parsed": '{"condition": "affirm"}',
        "parse_status": "",
    }
    assert _body(row) == ("", "I would affirm.", (("Condition", "affirm"),))
    assert _body({**row, "source": "model"}) == (
        "",
        "I would affirm.",
        (("Condition", "affirm"),),
    ), "as records have it"
    assert _body({**row, "source": "model", "parse_status": "strict"}) == (
        "",
        "",
        (("Condition", "affirm"),),
    )
    form = {
        **row,
        "text": '{"reasoning": "thick file", "prediction": "NO"}',
        "parse_status": "strict",
    }
    assert _body({**form, "parsed": form["text"]}) == ("", "", (("Reasoning", "thick file"),))
    zero = {
        **row,
        "source": "model",
        "parse_status": "strict",
        "parsed": '{"grade": 0, "reached": false, "reason": "", "gaps": []}',
    }
    assert _body(zero) == (
        "",
        "",
        (("Grade", "0"), ("Reached", "false")),
    ), "a grade of 0 is a grade"
