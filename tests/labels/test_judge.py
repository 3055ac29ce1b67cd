"""Labels by a model whose replies come in a later run."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from moot.core.errors import DebatePausedError, RunStoppedError
from moot.labels import judge as judges


def test_a_judge_whose_replies_are_pending_stops_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def pause(*_: Any) -> None:
        raise DebatePausedError("batch 7 is open")

    monkeypatch.setattr(judges, "_judge_all", pause)
    label: Callable[..., Any] = judges.judge_statements
    named_judge = type("NamedJudge", (), {"name": "mine"})()
    with pytest.raises(RunStoppedError, match=r"labels by mine: .*batch 7.* again later"):
        label(named_judge, pd.DataFrame(), {})
