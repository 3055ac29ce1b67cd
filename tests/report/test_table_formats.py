"""Tables as CSV, LaTeX and HTML: hostile text harmless, intervals and repeated keys as readers want them, notes."""

import csv
import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.report import escaping
from moot.report.columns import PUBLISHED, Columns
from moot.report.content import StudyResults, Table, TableContent
from moot.report.tables import (
    FLAT_NOTE,
    NONE_PUBLISHED_NOTE,
    PUBLISHED_NOTE,
    WITHOUT_NOTE,
    as_csv,
    as_html,
    as_latex,
    notes_under,
    own_rows_first,
    shown_columns,
    write_table,
)
from moot.scores import no_scores

HOSTILE = "<script>alert(1)</script> \\input{/etc/passwd} =cmd|' /C calc'!A0 $x_1$ 100% & ~^#"
ENTRY = Table("courtroom", "hostile", f"Title {HOSTILE}", f"Caption {HOSTILE}", lambda _: None)


def hostile_content(text):
    frame = pd.DataFrame({f"name {text}": [text, text], "value": [-0.5, np.nan], "n": [1, 2]})
    return TableContent(frame, notes=[text], ours=("value",), formats={"value": ".2f"})


@pytest.mark.parametrize(
    "text", [HOSTILE, "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1", '"; DROP', "a\nb", "\u202egnp.exe"]
)
def test_csv_cells_run_nothing_and_survive_the_round_trip(text):
    rows = list(csv.reader(io.StringIO(as_csv(hostile_content(text)))))
    assert len(rows) == 3 and {len(row) for row in rows} == {3}
    cell = rows[1][0]
    assert not re.match(r"^\s*[=+\-@\t\n＝＋－＠]", cell) or cell.startswith("'")
    assert rows[1][1:] == ["-0.5", "1"] and rows[2][1] == ""


@given(st.text(max_size=40))
def test_html_cells_open_no_element(text):
    page = as_html(ENTRY, hostile_content(text), study_of_nothing())
    body = page[page.index("<tbody>") : page.index("</tbody>")]
    assert set(re.findall(r"</?(\w+)", body)) <= {"tbody", "tr", "td"}


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=40))
def test_latex_cells_start_no_command_of_their_own(text):
    safe = escaping.latex(text)
    without_known = re.sub(
        r"\\(textbackslash\{\}|textasciitilde\{\}|textasciicircum\{\}|textless\{\}|textgreater\{\}|textbar\{\}"
        r"|symbol\{34\}|textasciigrave\{\}|[{}$&%#_])|\$-\$|-\{\}|\{--\}",
        "",
        safe,
    )
    assert not re.search(r"[\\{}$&%#_~^\n]", without_known)


def study_of_nothing():
    return StudyResults("courtroom", {}, no_scores(), {}, pd.DataFrame(columns=["table", "row", "metric", "value"]))


def test_latex_is_a_booktabs_table_whose_rows_have_all_columns():
    text = as_latex(ENTRY, hostile_content(HOSTILE), study_of_nothing())
    assert text.count("\\toprule") == text.count("\\midrule") == text.count("\\bottomrule") == 1
    body = text[text.index("\\midrule") : text.index("\\bottomrule")]
    assert [len(re.findall(r"(?<!\\)&", line)) for line in body.splitlines() if line.endswith("\\\\")] == [2, 2]
    long = replace(hostile_content("a"), frame=pd.DataFrame({"n": range(60)}))
    pages = as_latex(ENTRY, long, study_of_nothing())
    rows = pages[pages.index("\\begin{longtable}") : pages.index("\\end{longtable}")]
    assert "\n\n" not in rows, "an empty line begins a row of its own"


def test_intervals_are_one_column_and_keys_are_shown_once():
    frame = pd.DataFrame(
        {"model": ["a", "a", "b"], "v": [0.1234, -0.5, np.nan], "l": [0.1, -1, np.nan], "h": [0.2, 0, 1]}
    )
    content = TableContent(frame, intervals={"95 %": ("l", "h")}, keys=("model",), formats={"v": "+.2f", "95 %": ".1f"})
    columns = {column.heading: list(column.cells) for column in shown_columns(content)}
    assert columns == {
        "model": ["a", "", "b"],
        "v": ["+0.12", "−0.50", "–"],
        "95 %": ["[0.1, 0.2]", "[−1.0, 0.0]", "–"],
    }


def test_columns_say_what_each_file_needs_of_a_table():
    columns = Columns().keys("model").published("published").estimate("ours", digits=".1f").difference("difference")
    columns = columns.interval("gap", "of the difference", role=PUBLISHED).counts("n")
    found = columns.table([{"model": "a", "ours": (0.5, 0.25, 0.75), "n": 3, "unknown": 1}, {"model": "b"}], ["Note."])
    names = ["model", "published", "ours", "95 % low", "95 % high", "difference", "gap low", "gap high", "n"]
    assert list(found.frame.columns) == names and found.frame["n"].dtype == "Int64"
    assert found.frame.iloc[0, 2:5].tolist() == [0.5, 0.25, 0.75] and found.frame.iloc[1, 1:].isna().all()
    assert found.intervals == {"95 % interval": ("95 % low", "95 % high"), "of the difference": ("gap low", "gap high")}
    assert (found.keys, found.ours) == (("model",), ("ours", "95 % low", "95 % high"))
    assert (found.published, found.difference) == (("published", "gap low", "gap high"), ("difference",))
    assert (found.formats, found.notes) == ({"ours": ".1f", "difference": "+.3f"}, ["Note."])
    assert columns.table([]).frame.empty and list(columns.table([]).frame.columns) == names


def test_large_numbers_have_one_digit_behind_the_point():
    content = TableContent(pd.DataFrame({"v": [99.5, 1530.25], "d": [-0.25, -469.0]}), formats={"d": "+.3f"})
    cells = {column.heading: list(column.cells) for column in shown_columns(content)}
    assert cells == {"v": ["99.500", "1530.2"], "d": ["−0.250", "−469.0"]}


def test_notes_say_what_flat_and_missing_intervals_mean():
    frame = pd.DataFrame({"ours": [0.5, 1.0, 0.4], "low": [0.2, 1.0, np.nan], "high": [0.8, 1.0, np.nan]})
    content = TableContent(frame, ours=("ours",), intervals={"95 % interval": ("low", "high")})
    assert {FLAT_NOTE, WITHOUT_NOTE} <= set(notes_under(content, study_of_nothing()))
    usual = replace(content, frame=frame.iloc[:1])
    assert not {FLAT_NOTE, WITHOUT_NOTE} & set(notes_under(usual, study_of_nothing()))
    assert WITHOUT_NOTE not in notes_under(
        replace(content, frame=frame.iloc[2:].assign(ours=np.nan)), study_of_nothing()
    )


@pytest.mark.parametrize(("value", "note"), [(0.5, PUBLISHED_NOTE), (np.nan, NONE_PUBLISHED_NOTE)])
def test_a_table_whose_rows_the_paper_does_not_have_says_so(value, note):
    content = TableContent(pd.DataFrame({"published": [value], "ours": [0.4]}), published=("published",))
    assert {PUBLISHED_NOTE, NONE_PUBLISHED_NOTE} & set(notes_under(content, study_of_nothing())) == {note}


@pytest.mark.parametrize("value", [-9.25e-17, 3e-16, -0.0])
def test_what_is_left_of_equal_sums_is_zero_and_a_small_p_stays(value: float) -> None:
    frame = pd.DataFrame({"difference": [value], "p (Holm)": [abs(value)]})
    zero, p = as_csv(TableContent(frame)).splitlines()[1].split(",")
    assert zero == "0.0" and float(p) == pytest.approx(abs(value))


def test_notes_show_code_as_code_and_no_backticks() -> None:
    content = TableContent(pd.DataFrame({"a": [1]}), notes=["`n invalid` counts <them>."])
    entry = Table("s", "t", "T", "Caption", lambda _: content)
    results = StudyResults("s", {}, no_scores(), {}, pd.DataFrame())
    assert "<code>n invalid</code> counts &lt;them&gt;." in as_html(entry, content, results)
    assert r"\texttt{n invalid} counts" in as_latex(entry, content, results)


def test_a_workbook_holds_numbers_as_numbers_and_no_formula(tmp_path: Path) -> None:
    """Where the decimal sign is a comma, too: the file says what is a number."""
    openpyxl = pytest.importorskip("openpyxl")
    frame = pd.DataFrame({"model": ["=1+1", "Größe – ü"], "ours": [0.853, float("nan")], "n": [12, 3]})
    content = TableContent(frame, notes=["A `note`."])
    entry = Table("s", "t", "Title", "Caption", lambda _: content)
    results = StudyResults("s", {}, no_scores(), {}, pd.DataFrame())
    for attempt in ("a", "b"):
        write_table(entry, results, {"xlsx": tmp_path / f"{attempt}.xlsx"})
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()
    book = openpyxl.load_workbook(tmp_path / "a.xlsx")
    rows = list(book["table"].iter_rows(values_only=True))
    assert rows == [("model", "ours", "n"), ("=1+1", 0.853, 12), ("Größe – ü", None, 3)]
    assert book["table"]["A2"].data_type == "s" and book["table"]["B2"].data_type == "n"
    assert [row[0] for row in book["notes"].iter_rows(values_only=True)][:2] == ["Title", "A note."]


def test_own_rows_come_before_those_that_show_published_values_alone_and_a_key_stays_together():
    frame = pd.DataFrame(
        {
            "system": ["theirs", "theirs", "mine", "mine", "also mine"],
            "published": [0.1, 0.2, 0.3, 0.4, np.nan],
            "ours": [np.nan, np.nan, np.nan, 0.5, 0.6],
        }
    )
    content = TableContent(frame, published=("published",), ours=("ours",), keys=("system",))
    assert own_rows_first(content).frame["system"].tolist() == ["mine", "mine", "also mine", "theirs", "theirs"]
    assert own_rows_first(replace(content, keys=())).frame["published"].tolist()[:1] == [0.4]
    assert own_rows_first(replace(content, published=())).frame is frame


@pytest.mark.parametrize(
    "sign",
    "\u061c\xad\u034f\u115f\u180e\u200b\u200c\u200d\u200e\u2028\u2029\u202e\u2060\u2066\u3164\ufeff\ufffb\U000e0041\x00",
)
@pytest.mark.parametrize("form", [escaping.html, escaping.latex, escaping.markdown, escaping.csv_text])
def test_no_sign_that_nobody_sees_reaches_a_page(form: Callable[[object], str], sign: str) -> None:
    assert form(f"yes{sign}no") == "yesno"
    assert not form(f"{sign}=1+1").startswith("=1") or form is not escaping.csv_text
