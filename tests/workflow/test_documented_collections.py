"""The collection that a documented configuration alone reads, through the workflow, on the
real files.

Slow: only this test detects a documented configuration that Snakemake does not complete.
"""

import re
from pathlib import Path

import pandas as pd
import pytest

from project_copy import PROJECT, Workflow, unedited_copy

pytestmark = pytest.mark.slow

PAGE = PROJECT / "scripts" / "moot" / "studies" / "recorded" / "README.md"
MOST_LINES = 15
DISCUSSIONS = "results/tables/recorded/discussions.csv"


def configured(folder: Path, first_line: str, data: Path, raw: str) -> Workflow:
    """A working directory with the page's configuration that begins so, and the collection where
    the page says.
    """
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (block,) = (candidate for candidate in blocks if candidate.startswith(first_line))
    assert len(block.splitlines()) <= MOST_LINES
    workflow = Workflow(folder, "", project=unedited_copy())
    (workflow.work / "my.yaml").write_text(block, encoding="utf-8")
    (workflow.work / raw).symlink_to(data)
    return workflow


def built(workflow: Workflow, table: str) -> pd.DataFrame:
    process = workflow.run(table)
    assert process.returncode == 0, process.stdout[-4000:]
    return pd.read_csv(workflow.work / table)


def test_groups_of_people_come_in_by_the_documented_configuration(
    shared_data: Path, tmp_path: Path
) -> None:
    """Members of groups are right more often after they talked than before."""
    workflow = configured(tmp_path, "run: [talk", shared_data / "recorded" / "delidata", "delidata")
    table = built(workflow, DISCUSSIONS).set_index("method").loc["debate"]
    assert table[["members", "groups"]].tolist() == [962, 249]
    assert table[["right before", "right after"]].tolist() == pytest.approx(
        [0.0998, 0.2744], abs=1e-4
    )
