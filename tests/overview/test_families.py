"""Holm's correction: a family is all tests of a table that answer one question."""

from pathlib import Path

import pandas as pd
import pytest

from moot.stats.paired import holm
from moot.studies.recorded.tables import groups
from recorded_runs import recorded_study


def test_error_rates_of_recorded_runs_form_one_family(tmp_path: Path) -> None:
    models = {"small": "gpt-4.1-mini", "mini": "gpt-4o-mini"}
    dataset = {"loader": "agenticsimlaw", "source": "shipped"}
    content = groups(recorded_study(tmp_path, dataset, {"talk": "debate"}, models))
    frame = content.frame
    raw, adjusted = ([*frame[f"FPR p{end}"], *frame[f"FNR p{end}"]] for end in ("", ", Holm"))
    assert adjusted == pytest.approx(holm(raw), nan_ok=True) and frame["model"].nunique() == 2
    assert f"Holm: over the {pd.notna(raw).sum()} tests of this table" in content.notes[1]
