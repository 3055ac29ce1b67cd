"""Which configuration may replace the pages of a folder."""

from pathlib import Path

import pytest

from moot.core.errors import UserError
from moot.workflow.folder import FolderConfiguration, claim_folder

FIRST = FolderConfiguration(("/my.yaml",), {"a": "1", "b": "2"})


@pytest.mark.parametrize(
    ("files", "experiments", "is_refused"),
    [
        (("/my.yaml",), {"a": "3"}, False),
        (("/my.yaml", "/more.yaml"), {"a": "3", "b": "2", "c": "1"}, False),
        (("/my.yaml", "/more.yaml"), {"c": "1"}, True),
        (("/other.yaml",), {"c": "1"}, True),
        (("/other.yaml",), {"a": "1", "b": "2"}, False),
    ],
)
def test_another_configuration_does_not_replace_a_page_silently(
    files: tuple[str, ...],
    experiments: dict[str, str],
    is_refused: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    claim_folder(FIRST, replace=False)
    second = FolderConfiguration(files, experiments)
    claim_folder(second, replace=False)  # nothing is built yet: a first job failed
    claim_folder(FIRST, replace=False)
    Path("results/index.html").write_text("a page of four answers")
    if is_refused:
        with pytest.raises(UserError, match="would replace them"):
            claim_folder(second, replace=False)
    claim_folder(second, replace=is_refused)
