"""`snakemake init` for items of the papers."""

from pathlib import Path

import pytest
import yaml

from moot.commands.init import write_configuration
from moot.core.config import InitConfig
from moot.core.errors import UserError

MODEL = "smollm2-135m"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "papers",
    [
        {"items": "courtroom/table4", "cases": 2},
        {"items": ["decision_conference", "feedback/table5"], "datasets": {"caselaw": "sample"}},
        {"items": "courtroom/table1"},
        {"items": "courtroom/table4", "models": ["qwen-2.5"]},
    ],
)
def test_the_file_contains_the_model_and_the_items(folder: Path, papers: dict[str, object]) -> None:
    report = write_configuration(InitConfig(model=MODEL, papers=papers), None)
    configuration = yaml.safe_load((folder / "my.yaml").read_text(encoding="utf-8"))
    assert configuration["papers"] == {"models": [MODEL], **papers}
    assert set(configuration["models"]) == {MODEL}
    assert "papers --cores 4 --configfile my.yaml" in report


@pytest.mark.parametrize(
    ("papers", "message"),
    [
        ({"items": "courtroom/table44"}, "courtroom/table4"),
        ({"items": "courtroom/table4", "models": ["nobody"]}, "unknown model 'nobody'"),
        ({"items": "courtroom/table4", "cases": 0}, "cases"),
        ({"items": "courtroom/table4", "size": 3}, "size"),
    ],
)
def test_wrong_answers_write_no_file(folder: Path, papers: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        write_configuration(InitConfig(model=MODEL, papers=papers), None)
    assert not (folder / "my.yaml").exists()
