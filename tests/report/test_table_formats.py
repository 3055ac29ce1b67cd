"""Test tables as CSV, LaTeX and HTML: escaping, intervals, repeated keys and notes."""

import csv
import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiled_latex import compile_tables, overfull_boxes
from moot.report import escaping
from moot.report.columns import DIFFERENCE, KEY, OURS, PUBLISHED, Columns
from moot.report.content import Table
from moot.report.latex import LatexColumn, latex_table
from moot.report.notes import EXPLORATORY
from moot.report.tables import (
    NO_INTERVAL_NOTE,
    ZERO_WIDTH_NOTE,
    as_csv,
    as_html,
    as_latex,
    notes_under,
    shown_columns,
    write_table,
)
from moot.report.workbook import write_tables
from results_on_disk import REARREST, case, experiment_view, prediction, study_of, write_results

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
    page = as_html(ENTRY, hostile_content(text), study_of())
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
        Columns()
        .plain("v")
        .difference("d")
        .table([{"v": 99.5, "d": -0.25}, {"v": 1530.25, "d": -469.0}])
    )
    cells = cells_by_heading(content)
    assert cells == {"v": ["99.500", "1530.2"], "d": ["−0.250", "−469.0"]}


def test_a_small_p_is_not_shown_as_zero_but_a_small_share_is():
    content = (
        Columns()
        .plain("FPR p", "p (Holm)", "share")
        .table([{"FPR p": 1e-4, "p (Holm)": 0.0005, "share": 1e-4}])
    )
    cells = cells_by_heading(content)
    assert list(cells.values()) == [["< 0.001"], ["0.001"], ["0.000"]]
    assert "&lt; 0.001" in as_html(ENTRY, content, study_of())


def test_notes_on_data_cover_only_data_sets_in_the_rows(tmp_path):
    task = replace(REARREST, notes=("an invented sample",))
    cases, answers = [case("a", "yes")], {"tiny": [prediction("a", "yes", "yes")]}
    experiments = []
    for name, dataset in (("first", "posts"), ("second", "posts"), ("third", "claims")):
        view = experiment_view("stance", dataset)
        experiments.append(write_results(tmp_path, cases, answers, None, task, name, view))
    results, columns = study_of(*experiments), Columns().plain("data")

    def noted_datasets(*cells):
        notes = "\n".join(notes_under(columns.table({"data": cell} for cell in cells), results))
        return re.findall(r"^Data set (.*?):", notes, re.MULTILINE)

    assert noted_datasets() == ["posts", "claims"], "each data set has one line"
    assert noted_datasets("posts (sample)") == ["posts"] == noted_datasets("second, a model")


def test_notes_explain_flat_and_missing_intervals():
    usual, zero_width, no_interval = (
        {"ours": (0.5, 0.2, 0.8)},
        {"ours": (1.0, 1.0, 1.0)},
        {"ours": 0.4},
    )

    def notes(*rows):
        return {ZERO_WIDTH_NOTE, NO_INTERVAL_NOTE} & set(
            notes_under(Columns().estimate("ours").table(rows), study_of())
        )

    assert notes(usual, zero_width, no_interval) == {ZERO_WIDTH_NOTE, NO_INTERVAL_NOTE}
    assert notes(usual) == notes({}) == set()


@pytest.mark.parametrize("value", [-9.25e-17, 3e-16, -0.0])
def test_rounding_errors_are_zero_and_a_small_p_is_kept(value: float) -> None:
    content = (
        Columns()
        .plain("difference", "p (Holm)")
        .table([{"difference": value, "p (Holm)": abs(value)}])
    )
    zero, p = as_csv(content).splitlines()[1].split(",")
    assert zero == "0.0" and float(p) == pytest.approx(abs(value))


def test_notes_show_code_without_backticks() -> None:
    content = Columns().plain("a").table([{"a": 1}], ["`n invalid` counts <them>."])
    entry = Table("s", "t", "T", "Caption", lambda _: content)
    assert "<code>n invalid</code> counts &lt;them&gt;." in as_html(entry, content, study_of())
    assert r"\texttt{n invalid} counts" in as_latex(entry, content, study_of())


def test_a_workbook_contains_numbers_and_no_formulas(tmp_path: Path) -> None:
    """Numbers are typed, so that a decimal comma in the locale does not matter."""
    openpyxl = pytest.importorskip("openpyxl")
    paths = [tmp_path / study / f"{'long' * 9}.csv" for study in ("one", "two")]
    for path in paths:
        path.parent.mkdir()
        path.write_text('"model","ours","n"\n"=1+1",0.853,12\n"Größe – ü",,3\n', encoding="utf-8")
    empty = tmp_path / "empty.csv"
    empty.write_text("model\n")
    for attempt in ("a", "b"):
        write_tables([*paths, empty], tmp_path / f"{attempt}.xlsx")
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()
    book = openpyxl.load_workbook(tmp_path / "a.xlsx")
    contents, first, second = book.worksheets
    rows = list(first.iter_rows(values_only=True))
    assert rows == [("model", "ours", "n"), ("=1+1", 0.853, 12), ("Größe – ü", None, 3)]
    assert first["A2"].data_type == "s" and first["B2"].data_type == "n"
    assert rows == list(second.iter_rows(values_only=True))
    assert contents["B2"].value == str(paths[0])


def test_a_number_beside_words_is_a_number_in_a_workbook(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    values = ["0.6410", "-3", "2e-05", '"[[319, 0]]"', "007", "1234567890123456789", "None", "-"]
    (tmp_path / "mixed.csv").write_text("\n".join(['"Value"', *values]), "utf-8")
    write_tables([tmp_path / "mixed.csv"], tmp_path / "mixed.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "mixed.xlsx").worksheets[1]
    numbers, texts = [0.641, -3, 2e-05], ["[[319, 0]]", *values[4:]]
    assert [row[0].value for row in sheet] == ["Value", *numbers, *texts]


def test_a_column_of_identifiers_stays_as_it_is_in_a_workbook(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    (tmp_path / "ids.csv").write_text("case,model\n007,NA\n012,null\n", "utf-8")
    write_tables([tmp_path / "ids.csv"], tmp_path / "ids.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "ids.xlsx").worksheets[1]
    assert [*sheet.iter_rows(min_row=2, values_only=True)] == [("007", "NA"), ("012", "null")]


def test_a_wide_table_is_turned_and_a_long_one_continues() -> None:
    columns = [LatexColumn("model"), *(LatexColumn(f"v{n}", is_number=True) for n in range(15))]
    wide = latex_table(columns, [("a", *["[0.100, 0.200]"] * 15)], "Caption", "tab:x")
    assert wide.count(r"\begin{sidewaystable*}") == 1 and "rotating" in wide.splitlines()[0]
    assert [wide.count(rf"\{rule}rule") for rule in ("top", "mid", "bottom")] == [1, 1, 1]
    assert wide.count(" & ") == 2 * 15, "the heading and the row have all columns"
    assert "\n\n" not in wide.strip(), "an empty line starts another row"
    long = latex_table(columns[:2], [(f"m{n}", "0.5") for n in range(100)], "Caption", "tab:x")
    assert long.count(r"\begin{table}") == 3 and long.count("(continued)") == 2
    assert long.count(r"\label") == 1 and long.count("0.5") == 100
    assert long.count(r"\addtocounter{table}{-1}") == 2, "a part has the number of the first"
    assert long.count(r"\belowcaptionskip") == 3


def test_remarks_stand_after_the_table() -> None:
    source = latex_table([LatexColumn("text")], [("1",)], "C", "tab:t", ["note"], ["50 %", "long"])
    table, _, text = source.partition(r"\end{table}")
    assert "note" in table and text.count(r"\par}") == 2
    assert r"On Table~\ref{tab:t}. 50 \%" in text


def test_long_texts_wrap_and_headings_span_all_columns() -> None:
    rows = [("A heading " * 20,), ("word " * 40, "1"), ()]
    source = latex_table([LatexColumn("text"), LatexColumn("n", "of it", True)], rows, "C", "t")
    assert r"\begin{tabular}{@{}>{\raggedright\arraybackslash}p{" in source
    assert r"\multicolumn{2}{@{}p{" in source and r"\cmidrule(lr){2-2}" in source


@pytest.mark.slow
def test_tables_compile_within_the_page(tmp_path: Path) -> None:
    """Slow: only this test detects a table that LaTeX refuses or that is too wide."""
    columns = [LatexColumn("text"), *(LatexColumn(f"v{n}", is_number=True) for n in range(15))]
    rows = [("word " * 300, *["[0.100, 0.200]"] * 15), ("[x]", *["*"] * 15)] * 9
    sources = {"wide": latex_table(columns, rows, "Caption of 50 %", "tab:w", ["`n` − note"])}
    narrow = [row[:2] for row in rows]
    sources["narrow"] = latex_table(columns[:2], narrow, "Caption", "tab:n")
    for options in ("", "[twocolumn]"):
        assert not overfull_boxes(compile_tables(sources, tmp_path, options))


INVISIBLE = (
    "\u061c\xad\u034f\u115f\u180e\u200b\u200c\u200d\u200e\u2028\u2029\u202e\u2060\u2066\u3164\ufeff"
    "\ufffb\U000e0041\x00"
)


@pytest.mark.parametrize(
    "form", [escaping.html, escaping.latex, escaping.markdown, escaping.csv_text]
)
def test_invisible_characters_do_not_reach_a_page(form: Callable[[object], str]) -> None:
    for sign in INVISIBLE:
        assert form(f"yes{sign}no") == "yesno", hex(ord(sign))
        assert not form(f"{sign}=1+1").startswith("=1") or form is not escaping.csv_text


@pytest.mark.parametrize("word", ["می\u200cخواهم", "क्\u200dष", "👩\u200d👧"])
def test_a_joiner_is_kept_in_words_that_need_it(word: str) -> None:
    assert escaping.visible(word) == word
    assert escaping.visible(f"{word}\u200c {word}\u200d\u200d") == f"{word} {word}"


def test_numbers_formulas_bars_and_bold_text_in_cells() -> None:
    cells = ["-0.5", "=1+1", 2, True]
    assert [escaping.csv_cell(cell) for cell in cells] == ["-0.5", "'=1+1", 2, True]
    table = escaping.markdown_table(["a", "b"], [["x|y", "z"]])
    assert table.splitlines() == ["| a | b |", "| --- | --- |", r"| x\|y | z |"]
    content = Columns().plain("a").table([{"a": True}, {"a": False}, {"a": None}])
    assert cells_by_heading(content) == {"a": ["yes", "no", "–"]}


@pytest.mark.parametrize("is_rehearsal", [False, True])
def test_a_table_is_written_in_three_formats(is_rehearsal: bool, tmp_path: Path) -> None:
    content = Columns().plain("a").table([{"a": 1}], exploratory=True)
    entry = Table("courtroom", "t", "Title", "Caption", lambda _: content)
    paths = {kind: tmp_path / f"t.{kind}" for kind in ("csv", "tex", "html")}
    write_table(entry, study_of(is_rehearsal=is_rehearsal), paths)
    (row,) = csv.DictReader(io.StringIO(paths["csv"].read_text("utf-8-sig")))
    assert row == {**({"voices": "SIMULATED"} if is_rehearsal else {}), "a": "1"} | {
        "inference": EXPLORATORY
    }
    for kind, start in (("tex", "%"), ("html", "<!doctype")):
        text = paths[kind].read_text("utf-8")
        assert text.startswith(start) and ("SIMULATED. Caption" in text) == is_rehearsal
