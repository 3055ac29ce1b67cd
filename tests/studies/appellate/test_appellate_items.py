"""The paper's tables, figures and numbers in the text, from panels whose course is known."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from drawn_diagrams import draw
from moot.jobs.papers import find_designs
from moot.papers.parts import Clauses, Fact, OwnRow, Series
from moot.plan.papers_of_run import paper_plan, view_paper
from moot.report.study_results import PaperMatch, PaperMatches, StudyResults
from moot.studies.appellate.legal.rubric import EXAMPLES_OF_LABELS, HALLUCINATION, RUBRIC
from moot.studies.appellate.legal.rubric_rules import label_statement
from panel_results import panel, statement, study
from paper_items import ITEMS, PAPERS, fill, own_values
from project_copy import PROJECT


@pytest.fixture
def phases(tmp_path: Path) -> StudyResults:
    """The three phases: three, one and two debates about two cases."""
    late = statement("c2#0", 50, "judge_1", 4, "a", kind="overrun")
    fourth = statement("c2#0", 51, "judge_4", 3, "a", kind="extra")
    alone = {"c1#0": "aar aaa nnn", "c1#1": "rra aaa raa", "c2#0": "nra aar rrr"}
    people = {"c1#0": "rra aaa aaa", "c2#0": "aar ara arr"}
    results = study(
        [
            panel(tmp_path, people, "human_panel", "people"),
            panel(tmp_path, alone, "synthetic_panel", "alone", [late, fourth]),
            panel(tmp_path, {"c1#0": "aar arr rnr"}, "panel", "agents"),
        ]
    )
    match = PaperMatch(("paper-synthetic-panel",), our_wording=True)
    matches = PaperMatches({("alone", "tiny"): match})
    of_any_model = results.published.assign(model="")
    return replace(results, paper_matches=matches, published=of_any_model)


COUNTED = ("debates", "debates_per_case", "steps", "steps_per_debate")


def test_table_1_counts_debates_and_steps_in_the_order_of_the_phases(
    phases: StudyResults,
) -> None:
    rows = [row for row in fill("appellate/table1", phases) if isinstance(row, OwnRow)]
    people = {f"debates_human_{stance}affirms": 1 for stance in ("", "not_")}
    people |= {f"{name}_per_case": 1 for name in people}
    counts = [(3, 1, 27, 9), (1, 1, 9, 9), (2, 1, 18, 9)]
    values = [dict(zip(COUNTED, of_phase, strict=True)) for of_phase in counts]
    assert [own_values(row) for row in rows] == [*values[:2], values[2] | people]
    assert [(*row.heads, row.source, row.row, row.cases, row.answers.n) for row in rows] == [
        ("synthetic, tiny", "alone", "synthetic", 2, 27),
        ("multi-agent, tiny", "agents", "", 1, 9),
        ("human-AI, tiny", "people", "", 2, 18),
    ]


def test_table_2_counts_the_first_judges_first_positions(phases: StudyResults) -> None:
    (row,) = fill("appellate/table2", phases)
    places = ("total", "case1", "case2")
    counts = {"code1": (1, 1, 0), "code0": (1, 1, 0), "code3": (1, 0, 1)}
    expected: dict[str, float] = {}
    for code, of_code in counts.items():
        expected |= {f"{code}/{place}": of_code[index] for index, place in enumerate(places)}
    assert isinstance(row, OwnRow) and own_values(row) == expected
    assert [row.cells["code1", place].n for place in places] == [3, 2, 1]
    described = (row.source, row.row, row.cases, row.answers.n, row.answers.noun)
    assert described == ("alone, tiny", "judge1_step1_affirm(1)", 2, 3, "statement")


def test_a_failed_call_is_no_step(tmp_path: Path) -> None:
    results = panel(tmp_path, {"c1#0": "nnn nnn nnn"}, "synthetic_panel")
    (path,) = (tmp_path / "transcripts" / results.experiment).rglob("*.parquet")
    table = pq.read_table(path)
    texts = pa.array([""] * len(table))
    pq.write_table(table.set_column(table.column_names.index("text"), "text", texts), path)
    (steps,), (positions,) = (fill(f"appellate/table{number}", study([results])) for number in "12")
    assert own_values(steps) == dict.fromkeys(COUNTED, 0)
    assert own_values(positions) == {f"code{code}/total": 0 for code in (1, 0, 3)}
    assert isinstance(positions, OwnRow)
    assert positions.answers.description == "1 of 1 statement missing"


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        ("figure6", {"affirm: tiny, all cases": "110100000"}),
        (
            "figure7",
            {
                "affirm: tiny, all cases": "...1.11..",
                "affirm: tiny, case 1": "001111111",
                "affirm: tiny, case 2": "110101100",
                "not affirm: tiny, all cases": "...0.00..",
                "not affirm: tiny, case 1": "110000000",
                "not affirm: tiny, case 2": "001010011",
            },
        ),
    ],
)
def test_a_figure_shows_the_share_of_a_position_by_step(
    figure: str, expected: dict[str, str], phases: StudyResults
) -> None:
    """All, none or (a dot) half of the debates; the human affirms in one of two."""
    lines = [line for line in fill(f"appellate/{figure}", phases) if isinstance(line, Series)]
    shown = {}
    for line in lines:
        assert [point.x for point in line.points] == list(range(1, 10))
        marks = [{0: "0", 0.5: ".", 1: "1"}[point.y.value] for point in line.points]
        shown[f"{line.panel}: {line.name}"] = "".join(marks)
    assert shown == expected
    assert lines[0].cases == (1 if figure == "figure6" else 2)


def facts_of(results: StudyResults) -> dict[str, str]:
    parts = fill("appellate/text", results)
    return {part.row: part.text for part in parts if isinstance(part, Fact)}


def test_changes_of_opinion_stand_beside_those_of_the_paper(
    phases: StudyResults, tmp_path: Path
) -> None:
    facts = facts_of(phases)
    assert {row: text for row, text in facts.items() if row.startswith("synthetic")} == {
        "synthetic/opinion_changes": (
            "8 of 14 between two positions, 12 of 18 with those to or from none (alone, tiny)"
        ),
        "synthetic/debates_overrunning_three_rounds": "1 of 3 (alone, tiny)",
        "synthetic_round1_judge1/affirm_share": "0.33 (alone, tiny)",
        "synthetic_round1_judge2/affirm_share": "0.33 (alone, tiny)",
        "synthetic_round1_judge3/affirm_share": "0.67 (alone, tiny)",
    }
    assert len(facts) == 3 * 5
    silent = facts_of(study([panel(tmp_path / "n", {"c1": "nnn nnn nnn"})]))
    assert "multiagent/opinion_changes" not in silent
    assert "nan" not in str(silent)
    rubric = fill("appellate/text", phases)[-1]
    assert isinstance(rubric, Clauses) and len(rubric.clauses) == len(RUBRIC.labels)
    assert rubric.clauses[1][0] == "REVERSE (explicit)"


@pytest.mark.parametrize("label", RUBRIC.labels)
def test_the_rubric_has_an_example_that_its_rules_label_so(label: str) -> None:
    example = EXAMPLES_OF_LABELS[label]
    facts = "A nurse appeals her conviction." if label == HALLUCINATION else ""
    assert label_statement(example, facts).label == label


def test_a_prompt_by_clause_has_no_code_of_templates() -> None:
    run = view_paper(paper_plan(PROJECT), PAPERS["appellate"])
    designs = find_designs(run, ITEMS["appellate/figure2"])
    (clauses,) = fill("appellate/figure2", study([]), *designs)
    assert isinstance(clauses, Clauses)
    text = " ".join(text for _, text in clauses.clauses)
    assert "AFFIRM, REVERSE or REMAND" in text
    assert not any(mark in text for mark in ("{", "}", "%", "task."))


@pytest.mark.parametrize(
    ("figure", "protocol", "speakers"),
    [
        ("figure1", "panel", ("judge 1", "judge 2")),
        ("figure3", "synthetic_panel", ("one model",)),
        ("figure4", "human_panel", ("judge 1", "human judge")),
    ],
)
def test_a_phase_is_drawn_with_its_speakers(
    figure: str, protocol: str, speakers: tuple[str, ...]
) -> None:
    assert draw(f"appellate/{figure}", protocol, {"judges": 2}).seats == ("memory", *speakers)
