"""What a maintainer rests on: one version, and commands of workflows and pages that exist."""

import json
import re
from pathlib import Path

import pytest
import yaml

from moot import __version__
from project_copy import PROJECT

MAKE = set(re.findall(r"^(\w+)[ \w]*:(?!=)", (PROJECT / "Makefile").read_text(), re.MULTILINE)) | {
    "test"
}
PAGES = [
    PROJECT / "CONTRIBUTING.md",
    PROJECT / "README.md",
    *PROJECT.glob(".github/**/*.*"),
    *PROJECT.glob("docs/**/*.md"),
]


def test_the_version_is_the_same_everywhere() -> None:
    cited = yaml.safe_load((PROJECT / "CITATION.cff").read_text())
    software, record = (
        json.loads((PROJECT / name).read_text()) for name in ("codemeta.json", ".zenodo.json")
    )
    assert cited["version"] == software["version"] == record["version"] == __version__
    assert str(cited["date-released"]) == software["datePublished"] == record["publication_date"]
    assert (
        re.findall(r"^## (\S+)", (PROJECT / "CHANGELOG.md").read_text(), re.MULTILINE)[0]
        == __version__
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(PROJECT).as_posix())
def test_the_targets_of_make_that_a_page_names_exist(page: Path) -> None:
    targets = re.findall(r"(?:^|`|run: |&& )make ([a-z]+)", page.read_text("utf-8"), re.MULTILINE)
    assert set(targets) <= MAKE


def test_the_container_is_built_from_files_that_exist() -> None:
    copied = re.findall(r"^COPY (.*) \S+$", (PROJECT / "Dockerfile").read_text(), re.MULTILINE)
    assert all((PROJECT / name).exists() for name in " ".join(copied).split())


def test_the_catalogue_finds_the_keys_of_the_configuration() -> None:
    assert (PROJECT / "workflow/schemas/config.schema.json").samefile(
        PROJECT / "config/schema.json"
    )
