"""Which code an artifact depends on: what its script imports, and what that does; not what is said
about it.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.core import code_digest as digests

DATASETS = [path.stem for path in sorted((digests.SCRIPTS / "moot" / "datasets").glob("[!_]*.py"))]


@pytest.fixture
def scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of scripts, with digests taken anew."""
    monkeypatch.setattr(digests, "SCRIPTS", tmp_path)
    (tmp_path / "moot").mkdir()
    (tmp_path / "moot" / "base.py").write_text("X = 1\n")
    (tmp_path / "moot" / "other.py").write_text("Y = 1\n")
    (tmp_path / "rule.py").write_text(
        "import os\n\ndef f():\n    from moot.base import X\n    return X\n"
    )
    yield tmp_path
    digests.code_digest.cache_clear()
    digests._digest_and_imports.cache_clear()
    digests._file_of.cache_clear()


def taken_anew(*modules: str) -> str:
    digests.code_digest.cache_clear()
    digests._digest_and_imports.cache_clear()
    digests._file_of.cache_clear()
    return digests.code_digest(*modules)


@pytest.mark.parametrize(
    ("file", "text", "counts"),
    [
        ("moot/base.py", "X = 2\n", True),
        ("moot/base.py", '"""What X is."""\n\n# Why.\nX   =   1\n"""More of it."""\n', False),
        ("moot/other.py", "Y = 2\n", False),
        ("moot/base.yaml", "what it reads: 1\n", True),
        ("rule.py", "from moot.base import X\n", True),
    ],
)
def test_a_digest_follows_what_code_does(scripts: Path, file: str, text: str, counts: bool) -> None:
    before = taken_anew("rule")
    (scripts / file).write_text(text)
    assert (taken_anew("rule") != before) is counts


def test_a_docstring_that_models_read_counts(scripts: Path) -> None:
    file = scripts / "moot" / "base.py"
    file.write_text('class Reply(BaseModel):\n    """A reply."""\n')
    before = taken_anew("rule")
    file.write_text('class Reply(BaseModel):\n    """What is replied."""\n')
    assert taken_anew("rule") != before


def test_a_script_that_is_not_there_is_an_error(scripts: Path) -> None:
    with pytest.raises(ValueError, match="no module 'nowhere'"):
        taken_anew("nowhere")


@pytest.mark.parametrize("name", DATASETS)
def test_cases_depend_on_no_code_of_language_models_or_protocols(name: str) -> None:
    covered = digests.modules_covered("cases", f"moot.datasets.{name}")
    assert f"moot.datasets.{name}" in covered
    assert not [
        module
        for module in covered
        if module.startswith(("moot.llm", "moot.protocols", "moot.plan.plan"))
    ]


def test_what_is_shown_depends_on_no_way_to_reach_a_model() -> None:
    covered = digests.modules_covered("table", "moot.studies.courtroom.tables")
    assert not [module for module in covered if module.startswith("moot.llm.endpoints.")]
