"""Test which files change the digest of the code that a rule states."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.core import code_digest


@pytest.fixture
def scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make a folder of scripts and packages."""
    monkeypatch.setattr(code_digest, "SCRIPTS", tmp_path)
    for name in ("rule.py", "moot/core/base.py", "moot/core/schemas.yaml", "moot/llm/chat.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("X = 1\n")
    yield tmp_path
    forget_digests()


def forget_digests() -> None:
    code_digest.digest_of.cache_clear()
    code_digest._matching_files.cache_clear()
    code_digest._name_in_moot.cache_clear()
    code_digest._digest_of_file.cache_clear()


def compute_digest(*names: str) -> str:
    forget_digests()
    return code_digest.digest_of(*names)


@pytest.mark.parametrize(
    ("file", "text", "is_included"),
    [
        ("rule.py", "X = 2\n", True),
        ("moot/core/base.py", "X = 2\n", True),
        ("moot/core/schemas.yaml", "x: 2\n", True),
        ("moot/core/new.py", "X = 1\n", True),
        ("moot/core/tables.py", "X = 1\n", False),
        ("moot/core/__pycache__/base.pyc", "X", False),
        ("moot/llm/chat.py", "X = 2\n", False),
    ],
)
def test_only_the_stated_folders_change_the_digest(
    scripts: Path, file: str, text: str, is_included: bool
) -> None:
    names = ("rule.py", "core", "!core/tables*.py")
    old_digest = compute_digest(*names)
    (scripts / file).parent.mkdir(exist_ok=True)
    (scripts / file).write_text(text)
    assert (compute_digest(*names) != old_digest) is is_included


def test_a_name_without_a_file_is_an_error(scripts: Path) -> None:
    with pytest.raises(ValueError, match="no source file 'nowhere'"):
        compute_digest("core", "nowhere")


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("moot.studies.courtroom.protocol", "studies/courtroom"),
        ("moot.protocols.alone", "protocols/alone.py"),
        ("moot.datasets", "datasets"),
        ("moot.extensions.mine.trial", "/folder/mine"),
    ],
)
def test_the_source_of_a_module_is_its_folder_or_file(
    module: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(code_digest.FOLDERS, "moot.extensions.mine", Path("/folder/mine"))
    assert code_digest.source_of(module) == source
