"""The two collections that a documented configuration alone reads, through the workflow, on the
real files.

Slow: only this test detects a documented configuration that Snakemake does not complete.
"""

import re
from pathlib import Path

import pandas as pd
import pytest

from moot.studies.recorded.tables_agreement import ASKED_AGAIN, JUDGE, RUN
from project_copy import PROJECT, Workflow, unedited_copy

pytestmark = pytest.mark.slow

PAGE = PROJECT / "scripts" / "moot" / "studies" / "recorded" / "README.md"
MOST_LINES = 15
DISCUSSIONS, AGREEMENT = (
    f"results/tables/recorded/{name}.csv" for name in ("discussions", "agreement")
)


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


def test_jurors_come_in_by_the_documented_configuration(shared_data: Path, tmp_path: Path) -> None:
    """Votes on the same record agree most where the same model is merely asked again."""
    workflow = configured(
        tmp_path, "run: [models", shared_data / "recorded" / "juror_replays", "jurors"
    )
    table = built(workflow, AGREEMENT).query("judges.isna() and data == 'models'")
    same_answers = table.set_index("what differs")["same answer"]
    assert same_answers[[ASKED_AGAIN, RUN, JUDGE]].tolist() == pytest.approx(
        [0.804, 0.771, 0.741], abs=1e-3
    )
