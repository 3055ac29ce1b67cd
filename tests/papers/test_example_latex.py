"""The example of Debate-Feedback as LaTeX: all texts of the paper, and shortened texts of this run.

Slow: LaTeX. Only this test detects a source that does not compile or does not fit on a page.
"""

import re
from pathlib import Path

import pytest

from compiled_latex import compile_tables, overfull_boxes
from moot.papers.examples import build_example
from moot.papers.items import items_file, read_papers
from moot.papers.paper_latex import MAX_OWN_CHARS, example_latex
from moot.papers.parts import Example, ExampleRow
from project_copy import PROJECT

PAPER = read_papers(items_file(PROJECT))["feedback"]
ITEM = next(item for item in PAPER.items if item.key == "table4")
HOSTILE = r"\input{x} 50 % of $x_1 & <b>#1</b> ~ ^ {"
STEPS = ("1. Initial step", "2. Debate step", "3. Verification step", "4. Output step")


def source_of(debaters: int, text: str, title: str = "mine, a_model, case 1") -> str:
    seats = [f"debater {number}" for number in range(1, debaters + 1)]
    rows = [ExampleRow(step, {"judge": text}) for step in STEPS]
    rows += [ExampleRow(STEPS[1], dict.fromkeys(seats, text)) for _ in range(2)]
    parts = [Example(title, tuple(rows))] if debaters else []
    return example_latex(PAPER, ITEM, build_example(ITEM, {}, parts), ["A note."])


def test_texts_of_the_paper_are_complete_and_texts_of_a_run_are_cut() -> None:
    source = source_of(2, "word " * 400)
    for step in ITEM.entry["steps"]:
        for texts in step["paper"]:
            for text in [texts] if isinstance(texts, str) else texts:
                assert " ".join(text.split()) in source.replace("\\", "")
    assert source.count("word " * 20) and "word " * (MAX_OWN_CHARS // 5 + 1) not in source
    assert source.count(" ...") == 4 + 2 * 2
    assert "Long texts are cut." in source


def test_every_row_has_a_cell_for_each_debater() -> None:
    for debaters in (0, 1, 3, 5):
        source = source_of(debaters, "yes")
        columns = max(debaters, 3) + 1
        for line in source.splitlines():
            if line.endswith(r"\\") and r"\multicolumn" not in line:
                assert len(re.findall(r"(?<!\\)&", line)) == columns - 1
        assert ("This run" in source) == bool(debaters)


def test_paragraphs_in_one_line_are_separated() -> None:
    source = source_of(3, "one\n\ntwo words\nmore\n\n\n\nlast")
    assert source.count("one; two words more; last") == 4 + 2 * 3


def test_hostile_texts_are_escaped() -> None:
    source = source_of(3, HOSTILE, title=HOSTILE)
    assert r"\input{x}" not in source and "50 % of $" not in source


@pytest.mark.slow
@pytest.mark.parametrize("options", ["", "[twocolumn]"])
def test_the_example_compiles_in_one_and_two_columns(tmp_path: Path, options: str) -> None:
    sources = {"published": source_of(0, "")}
    for debaters in (1, 2, 3, 5):
        sources[f"{debaters} debaters"] = source_of(debaters, "The plaintiff wins. " * 100)
    sources["hostile"] = source_of(3, HOSTILE * 5)
    assert not overfull_boxes(compile_tables(sources, tmp_path, options))
