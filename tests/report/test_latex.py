"""Test that LaTeX tables fit on the page: compiled if TeX is present, else by arithmetic."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiled_latex import compile_tables, overfull_boxes
from moot.plan.as_published import compare_with_papers
from moot.report import TABLES
from moot.report.latex import choose_layout, latex_table
from moot.report.study_results import StudyResults
from moot.report.tables import as_latex, short_form
from moot.scores import no_scores
from moot.studies.appellate import tables
from moot.studies.appellate import tables_beyond as beyond
from results_on_disk import case, prediction, utterance, write_results
from uniform_scores import STUDIES, make_plan, make_study, unanimous_phases

MOST_COLUMNS = 10
"""The short form has at most eight columns, plus differences to a paper in both wordings."""
MOST_COMPILED = 40
"""Rows of a compiled table, at even distances, because TeX is slow for hundreds."""


@pytest.mark.slow
def test_every_table_of_every_study_compiles_within_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slow: only this test detects a table that LaTeX refuses or that is too wide."""
    for module in (tables, beyond):
        monkeypatch.setattr(module, "list_phases", unanimous_phases)
    plan = make_plan(paper=True)
    sources, shorts = {}, {}
    for study in STUDIES:
        results = make_study(plan, study, tmp_path / study, compare_with_papers(plan))
        for name in TABLES:
            if TABLES[name].study == study and not needs_transcripts(name):
                built = TABLES[name].build(results)
                content = replace(
                    built, frame=built.frame.iloc[:: 1 + len(built.frame) // MOST_COMPILED]
                )
                shorts[name] = short_form(content).columns
                for full in (False, True):
                    sources[f"{name}{' in full' * full}"] = as_latex(
                        TABLES[name], content, results, full=full
                    )
    talk = results_with_talk(tmp_path / "talk")
    for table_name in TABLES_OF_TALK:
        name = f"courtroom/{table_name}"
        content = TABLES[name].build(talk)
        assert len(content.frame) > 1
        shorts[name] = short_form(content).columns
        sources[name] = as_latex(TABLES[name], content, talk)
        sources[f"{name} in full"] = as_latex(TABLES[name], content, talk, full=True)
    assert len(sources) > 60
    for name, columns in shorts.items():
        assert len(columns) <= MOST_COLUMNS and "landscape" not in sources[name], name
    assert not overfull_boxes(compile_tables(sources, tmp_path))
    floats = {name: sources[name] for name in shorts if "longtable" not in sources[name]}
    assert len(floats) > 0.6 * len(shorts)
    assert not overfull_boxes(compile_tables(floats, tmp_path, "[twocolumn]"))
    for source in sources.values():
        first_line = source.splitlines()[0]
        assert ("Only for documents of one column" in first_line) == ("longtable" in source)


def needs_transcripts(name: str) -> bool:
    """Whether a table reads transcripts, which these results lack."""
    return name in NEED_TRANSCRIPTS or name.partition("/")[2] in TABLES_OF_TALK


TABLES_OF_TALK = ("panel_worth", "panel_rules", "record_check")
"""Tables of every study that read transcripts: compiled from the results below."""


def results_with_talk(folder: Path) -> StudyResults:
    """Results of panels of three who vote twice and quote the case."""
    cases, predictions, talk = [], [], []
    for number in range(40):
        name, target = f"c{number:02}", ("no", "yes")[number % 2]
        cases.append(case(name, target))
        predictions.append(prediction(name, target, target))
        words = f'The facts say "{cases[-1].text}" and 12 of 30.'
        for turn in range(6):
            vote = ("no", "yes")[(number + turn % 3 + number // 7) % 2]
            seat = {"kind": "vote", "prediction": vote, "round": turn // 3 + 1}
            talk.append(utterance(name, turn, f"judge_{turn % 3}", words, **seat))
    run = write_results(folder, cases, {"tiny": predictions}, {"tiny": talk})
    published: Any = None
    return StudyResults("courtroom", {"toy-courtroom": run}, no_scores(), {}, published)


NEED_TRANSCRIPTS = {
    "appellate/agreement",
    "appellate/changes_of_opinion",
    "conference/judge_difference",
    "feedback/components",
}

HARD = [
    ["before", "word " * 900, "x"],
    [
        "a heading of several words",
        "Donaudampfschifffahrtsgesellschaft" * 9,
        r"\input{/etc/passwd} & % $ # _ ~ ^ { }",
    ],
    [
        "model",
        "smollm2-135m-instruct-q4_k_m",
        "https://example.org/a/very/long/address?with=query&and=more",
    ],
    *([f"n {number}", "[−0.123, 0.456]", "1,234.5"] for number in range(14)),
]


@pytest.mark.parametrize("rows", [1, 60])
def test_prose_long_words_and_many_columns_fit_on_the_page(rows: int, tmp_path: Path) -> None:
    columns = [[cells[0], *cells[1:] * rows] for cells in HARD]
    numeric = [number > 2 for number in range(len(columns))]
    notes = ["A note with `code_in it` and a − sign. " * 9] * 12
    sources = {"hard": latex_table(columns, numeric, "Caption of 50 %", "tab:hard", notes)}
    sources["text"] = latex_table(columns[:3], numeric[:3], "Caption", "tab:text", notes)
    sources["small"] = latex_table(columns[3:6], [True] * 3, "Caption", "tab:small", notes[:1])
    log = compile_tables(sources, tmp_path)
    assert not overfull_boxes(log)
    assert (
        "passwd" not in re.sub(r"\\input.*", "", log)
        and "Long texts are shortened here" in sources["text"]
    )


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=60)


@given(st.lists(st.lists(WORDS, min_size=3, max_size=3), min_size=1, max_size=30))
@settings(max_examples=60)
def test_the_widths_of_columns_fit_on_the_page(columns: Sequence[Sequence[str]]) -> None:
    _, shares = choose_layout(columns)
    assert sum(shares) <= 1 + 1e-6 and min(shares) > 0


def test_a_narrow_table_is_in_portrait_and_a_wide_one_in_landscape() -> None:
    narrow = [["method", "zero-shot"], ["accuracy", "0.700"]]
    wide = [["accuracy", "[0.123, 0.456]"]] * 16
    assert not choose_layout(narrow)[0].is_sideways
    assert choose_layout(wide)[0].is_sideways
