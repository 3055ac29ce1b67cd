"""Few lines outside its folder name an analysis or a part of the client."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from project_copy import PROJECT

MAX_LINES_OF_ANALYSIS = 10
MAX_LINES_OF_PARTS = {"batches": 25, "the stand-in": 40}


@pytest.fixture(scope="module")
def line_counts() -> Mapping[str, int]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PROJECT / "benchmarks"))
        from house import lines_elsewhere

        return lines_elsewhere()


def test_few_lines_elsewhere_name_an_analysis(line_counts: Mapping[str, int]) -> None:
    folders = (PROJECT / "scripts" / "moot" / "analyses").glob("*/__init__.py")
    names = {f"analyses/{path.parent.name}" for path in folders}
    assert names and names == line_counts.keys() - MAX_LINES_OF_PARTS.keys()
    excess = {
        name: line_counts[name] for name in names if line_counts[name] > MAX_LINES_OF_ANALYSIS
    }
    assert excess == {}


@pytest.mark.parametrize("name", MAX_LINES_OF_PARTS)
def test_the_lines_elsewhere_that_name_a_part_grow_no_further(
    name: str, line_counts: Mapping[str, int]
) -> None:
    assert line_counts[name] <= MAX_LINES_OF_PARTS[name]


def test_lines_that_name_an_analysis_are_counted(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PROJECT / "benchmarks"))
        import house

        module = tmp_path / "module.py"
        module.write_text(
            "from moot.analyses.arms.controls import ARMS\n"
            'arms = entry["arms"]\n'
            "alarms, harm, arm_length = 1, 2, 3\n"
            "warm = entry.arms\n",
            encoding="utf-8",
        )
        pattern = house.pattern_of_analysis(house.ANALYSES / "arms")
        assert house.matching(pattern, [module]) == 4
        module.write_text("alarms, harm, swarm = 1, 2, 3\n", encoding="utf-8")
        assert house.matching(pattern, [module]) == 0
