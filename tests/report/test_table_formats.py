"""Test tables as CSV, LaTeX and HTML: escaping, intervals, repeated keys and notes."""

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.report import escaping
from moot.report.columns import DIFFERENCE, KEY, OURS, PUBLISHED, Columns
from moot.report.content import Table
from moot.report.paper_matches import PaperMatches
from moot.report.study_results import StudyResults
from moot.report.tables import (
    NO_INTERVAL_NOTE,
    NONE_PUBLISHED_NOTE,
    PUBLISHED_NOTE,
    ZERO_WIDTH_NOTE,
    as_csv,
    as_html,
    as_latex,
    notes_under,
    own_rows_first,
    short_form,
    shown_columns,
    write_table,
)
from moot.scores import no_scores
from uniform_scores import make_plan, make_study

HOSTILE = "<script>alert(1)</script> \\input{/etc/passwd} =cmd|' /C calc'!A0 $x_1$ 100% & ~^#"
ENTRY = Table("courtroom", "hostile", f"Title {HOSTILE}", f"Caption {HOSTILE}", lambda _: None)


def hostile_content(text):
    rows = [{f"name {text}": text, "value": -0.5, "n": 1}, {f"name {text}": text, "n": 2}]
    return (
        Columns().plain(f"name {text}").ours("value", digits=".2f").counts("n").table(rows, [text])
    )


@pytest.mark.parametrize(
    "text",
    [HOSTILE, "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1", '"; DROP', "a\nb", "\u202egnp.exe"],
)
def test_csv_cells_are_not_formulas_and_survive_the_round_trip(text):
    rows = list(csv.reader(io.StringIO(as_csv(hostile_content(text)))))
    assert len(rows) == 3 and {len(row) for row in rows} == {3}
    cell = rows[1][0]
    assert not re.match(r"^\s*[=+\-@\t\n＝＋－＠]", cell) or cell.startswith("'")
    assert rows[1][1:] == ["-0.5", "1"] and rows[2][1] == ""


@given(st.text(max_size=40))
def test_html_cells_contain_no_elements(text):
    page = as_html(ENTRY, hostile_content(text), study_of_nothing())
    body = page[page.index("<tbody>") : page.index("</tbody>")]
    assert set(re.findall(r"</?(\w+)", body)) <= {"tbody", "tr", "td"}


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=40))
def test_latex_cells_contain_no_commands(text):
    safe = escaping.latex(text)
    without_known = re.sub(
        r"\\(textbackslash\{\}|textasciitilde\{\}|textasciicircum\{\}|textless\{\}|textgreater\{\}|"
        r"textbar\{\}"
        r"|symbol\{34\}|textasciigrave\{\}|[{}$&%#_])|\$-\$|-\{\}|\{--\}",
        "",
        safe,
    )
    assert not re.search(r"[\\{}$&%#_~^\n]", without_known)


def study_of_nothing():
    return StudyResults(
        "courtroom", {}, no_scores(), {}, pd.DataFrame(columns=["table", "row", "metric", "value"])
    )


def test_latex_is_a_booktabs_table_whose_rows_have_all_columns():
    text = as_latex(ENTRY, hostile_content(HOSTILE), study_of_nothing())
    assert text.count("\\toprule") == text.count("\\midrule") == text.count("\\bottomrule") == 1
    body = text[text.index("\\midrule") : text.index("\\bottomrule")]
    assert [
        len(re.findall(r"(?<!\\)&", line)) for line in body.splitlines() if line.endswith("\\\\")
    ] == [2, 2]
    long_table = Columns().counts("n").table({"n": number} for number in range(60))
    pages = as_latex(ENTRY, long_table, study_of_nothing())
    rows = pages[pages.index("\\begin{longtable}") : pages.index("\\end{longtable}")]
    assert "\n\n" not in rows, "an empty line starts another row"


def cells_by_heading(content):
    return {column.heading: list(column.cells) for column in shown_columns(content)}


def test_intervals_are_one_column_and_keys_are_shown_once():
    rows = [
        {"model": "a", "v": (0.1234, 0.1, 0.2)},
        {"model": "a", "v": (-0.5, -1, 0)},
        {"model": "b", "v high": 1},
    ]
    spec = Columns().keys("model").ours("v", digits="+.2f").interval("v", "95 %", digits=".1f")
    content = spec.table(rows)
    columns = cells_by_heading(content)
    assert columns == {
        "model": ["a", "", "b"],
        "v": ["+0.12", "−0.50", "–"],
        "95 %": ["[0.1, 0.2]", "[−1.0, 0.0]", "–"],
    }


def test_columns_define_names_headings_and_roles():
    columns = (
        Columns()
        .keys("model")
        .published("published")
        .estimate("ours", digits=".1f")
        .difference("difference")
    )
    columns = columns.interval("gap", "of the difference", role=PUBLISHED).counts("n")
    content = columns.table(
        [{"model": "a", "ours": (0.5, 0.25, 0.75), "n": 3, "unknown": 1}, {"model": "b"}], ["Note."]
    )
    names = [
        "model",
        "published",
        "ours",
        "95 % low",
        "95 % high",
        "difference",
        "gap low",
        "gap high",
        "n",
    ]
    assert list(content.frame.columns) == names and content.frame["n"].dtype == "Int64"
    assert (
        content.frame.iloc[0, 2:5].tolist() == [0.5, 0.25, 0.75]
        and content.frame.iloc[1, 1:].isna().all()
    )
    headings = [
        "model",
        "published",
        "ours",
        "95 % interval",
        "difference",
        "of the difference",
        "n",
    ]
    assert list(cells_by_heading(content)) == headings and content.notes == ["Note."]
    assert (content.names(KEY), content.names(OURS)) == (
        ["model"],
        ["ours", "95 % low", "95 % high"],
    )
    assert (content.names(PUBLISHED), content.names(DIFFERENCE)) == (
        ["published", "gap low", "gap high"],
        ["difference"],
    )
    assert columns.table([]).frame.empty and list(columns.table([]).frame.columns) == names


def test_large_numbers_have_one_decimal():
    content = (
        Columns().plain("v").difference("d").table([{"v": (99.5, -0.25)}, {"v": (1530.25, -469.0)}])
    )
    cells = cells_by_heading(content)
    assert cells == {"v": ["99.500", "1530.2"], "d": ["−0.250", "−469.0"]}


def test_a_small_p_is_not_shown_as_zero_but_a_small_share_is():
    content = Columns().plain("FPR p", "p (Holm)", "share").table([{"FPR p": (1e-4, 0.0005, 1e-4)}])
    cells = cells_by_heading(content)
    assert list(cells.values()) == [["< 0.001"], ["0.001"], ["0.000"]]
    assert "&lt; 0.001" in as_html(ENTRY, content, study_of_nothing())


def test_notes_on_data_cover_only_data_sets_in_the_rows(tmp_path):
    results = make_study(make_plan(paper=True), "stance", tmp_path, PaperMatches())
    columns = Columns().plain("data")

    def noted_datasets(*cells):
        notes = "\n".join(notes_under(columns.table({"data": cell} for cell in cells), results))
        return re.findall(r"^Data set (.*?):", notes, re.MULTILINE)

    all_datasets = noted_datasets()
    assert {"paper-vast", "paper-claim-stance"} < set(all_datasets)
    assert len(set(all_datasets)) == len(all_datasets), "each data set has one line"
    assert (
        noted_datasets("paper-vast (sample)")
        == ["paper-vast"]
        == noted_datasets("paper-stance-vast-whole, a model")
    )


def test_notes_explain_flat_and_missing_intervals():
    usual, zero_width, no_interval = (
        {"ours": (0.5, 0.2, 0.8)},
        {"ours": (1.0, 1.0, 1.0)},
        {"ours": 0.4},
    )

    def notes(*rows):
        return {ZERO_WIDTH_NOTE, NO_INTERVAL_NOTE} & set(
            notes_under(Columns().estimate("ours").table(rows), study_of_nothing())
        )

    assert notes(usual, zero_width, no_interval) == {ZERO_WIDTH_NOTE, NO_INTERVAL_NOTE}
    assert notes(usual) == notes({}) == set()


@pytest.mark.parametrize(("value", "note"), [(0.5, PUBLISHED_NOTE), (np.nan, NONE_PUBLISHED_NOTE)])
def test_a_table_without_published_rows_has_a_note(value, note):
    content = Columns().published("published").plain("ours").table([{"published": (value, 0.4)}])
    assert {PUBLISHED_NOTE, NONE_PUBLISHED_NOTE} & set(
        notes_under(content, study_of_nothing())
    ) == {note}


@pytest.mark.parametrize("value", [-9.25e-17, 3e-16, -0.0])
def test_rounding_errors_are_zero_and_a_small_p_is_kept(value: float) -> None:
    content = Columns().plain("difference", "p (Holm)").table([{"difference": (value, abs(value))}])
    zero, p = as_csv(content).splitlines()[1].split(",")
    assert zero == "0.0" and float(p) == pytest.approx(abs(value))


def test_notes_show_code_without_backticks() -> None:
    content = Columns().plain("a").table([{"a": 1}], ["`n invalid` counts <them>."])
    entry = Table("s", "t", "T", "Caption", lambda _: content)
    results = StudyResults("s", {}, no_scores(), {}, pd.DataFrame())
    assert "<code>n invalid</code> counts &lt;them&gt;." in as_html(entry, content, results)
    assert r"\texttt{n invalid} counts" in as_latex(entry, content, results)


def test_a_workbook_contains_numbers_and_no_formulas(tmp_path: Path) -> None:
    """Numbers are typed, so that a decimal comma in the locale does not matter."""
    openpyxl = pytest.importorskip("openpyxl")
    rows = [{"model": "=1+1", "ours": 0.853, "n": 12}, {"model": "Größe – ü", "n": 3}]
    content = Columns().plain("model").ours("ours").counts("n").table(rows, ["A `note`."])
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


COLUMNS_WITH_SHORT_FORM = (
    Columns()
    .keys("study", "run")
    .plain("question")
    .estimate("difference")
    .plain("p", "verdict", "remark")
    .counts("n")
    .short_form("question", "difference", "95 % interval", "verdict", "remark")
)


def make_short_form(*rows):
    return short_form(COLUMNS_WITH_SHORT_FORM.table(rows, ["A note."]))


def list_headings(content):
    return [column.name for column in content.columns]


def test_a_short_form_of_numbers_alone_keeps_the_keys_that_distinguish_rows():
    columns = Columns().keys("study", "run").estimate("share").short_form("share")
    row = {"study": "s", "share": (0.5, 0.4, 0.6)}
    rows = [{**row, "run": "a"}, {**row, "run": "b"}]
    assert list_headings(short_form(columns.table(rows, []))) == ["run", "share"]
    assert list_headings(short_form(columns.table(rows[:1], []))) == ["share"]


def test_a_short_form_fits_on_a_page_and_drops_empty_columns():
    row = {
        "study": "s",
        "question": "Q?",
        "difference": (0.1, 0.0, 0.2),
        "p": 0.5,
        "verdict": "no",
        "n": 3,
    }
    content = make_short_form(
        {**row, "run": "a", "remark": ""}, {**row, "run": "a", "question": "R?"}
    )
    assert list_headings(content) == ["question", "difference", "95 % interval", "verdict"]
    assert content.notes == ["All rows: study `s`, run `a`.", "A note."]
    assert len(make_short_form(row, {"question": "never tested"}).frame) == 1
    assert list_headings(make_short_form({**row, "run": "a"}, {**row, "run": "b"}))[:2] == [
        "run",
        "question",
    ], "else alike"
    assert list_headings(make_short_form()) == [
        "question",
        "difference",
        "95 % interval",
        "verdict",
        "remark",
    ]
    with pytest.raises(ValueError, match="no column verdikt"):
        COLUMNS_WITH_SHORT_FORM.short_form("verdikt")


def test_pages_show_the_short_form_and_data_files_all_columns(tmp_path):
    rows = [
        {
            "study": "s",
            "question": "Q?",
            "difference": (0.1, 0.0, 0.2),
            "p": 0.5,
            "verdict": "no",
            "n": 3,
        }
    ]
    entry = Table(
        "s",
        "t",
        "Title",
        "Caption",
        lambda _: COLUMNS_WITH_SHORT_FORM.table([*rows, {"question": "R?"}]),
    )
    paths = {ending: tmp_path / f"t.{ending}" for ending in ("csv", "tex", "full.tex", "html")}
    write_table(entry, study_of_nothing(), paths)
    texts = {ending: path.read_text(encoding="utf-8") for ending, path in paths.items()}
    assert (
        "run" not in texts["tex"]
        and "t.full.tex has 5 more columns and 1 more rows" in texts["tex"]
    )
    assert (
        "R?" not in texts["tex"]
        and "R?" in texts["full.tex"]
        and r"\label{tab:s:t:full}" in texts["full.tex"]
    )
    heads = re.findall(r'<th scope="col" class="([^"]*)">([^<]*)', texts["html"])
    short_headings = [name for roles, name in heads if "more" not in roles]
    assert short_headings == ["question", "difference", "95 % interval", "verdict"]
    assert texts["html"].count('type="checkbox"') == 1 and len(heads) == 9


def test_own_rows_precede_rows_with_only_published_values():
    rows = [
        {"system": "theirs", "published": 0.1},
        {"system": "theirs", "published": 0.2},
        {"system": "mine", "published": 0.3},
        {"system": "mine", "published": 0.4, "ours": 0.5},
        {"system": "also mine", "ours": 0.6},
    ]
    values = Columns().published("published").ours("ours")
    content = Columns().keys("system").join(values).table(rows)
    assert own_rows_first(content).frame["system"].tolist() == [
        "mine",
        "mine",
        "also mine",
        "theirs",
        "theirs",
    ]
    content = Columns().plain("system").join(values).table(rows)
    assert own_rows_first(content).frame["published"].tolist()[:1] == [0.4]
    content = Columns().keys("system").ours("ours").table(rows)
    assert own_rows_first(content) is content


@pytest.mark.parametrize(
    "sign",
    "\u061c\xad\u034f\u115f\u180e\u200b\u200c\u200d\u200e\u2028\u2029\u202e\u2060\u2066\u3164\ufeff"
    "\ufffb\U000e0041\x00",
)
@pytest.mark.parametrize(
    "form", [escaping.html, escaping.latex, escaping.markdown, escaping.csv_text]
)
def test_invisible_characters_do_not_reach_a_page(form: Callable[[object], str], sign: str) -> None:
    assert form(f"yes{sign}no") == "yesno"
    assert not form(f"{sign}=1+1").startswith("=1") or form is not escaping.csv_text


@pytest.mark.parametrize("word", ["می\u200cخواهم", "क्\u200dष", "👩\u200d👧"])
def test_a_joiner_is_kept_in_words_that_need_it(word: str) -> None:
    assert escaping.visible(word) == word
    assert escaping.visible(f"{word}\u200c {word}\u200d\u200d") == f"{word} {word}"
