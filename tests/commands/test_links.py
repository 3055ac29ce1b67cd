"""Test that the files, headings, folders and modules that a page names exist."""

import re
from itertools import chain
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
MOOT = PROJECT / "scripts" / "moot"
PATTERNS = (
    "*.md",
    "docs/*.md",
    "config/**/*.md",
    "data/*/README.md",
    "benchmarks/*.md",
    "scripts/moot/**/*.md",
)
PAGES = sorted(chain.from_iterable(PROJECT.glob(pattern) for pattern in PATTERNS))
ROOMS = "|".join(path.parent.name for path in MOOT.glob("*/__init__.py"))
CODE_BLOCK = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?![a-z]+:)([^)\s#]*)#?([^)\s]*)\)")
MODULE = re.compile(rf"`(?:moot\.)?((?:{ROOMS})[./][\w./]+)`")
PATH = re.compile(r"`((?:scripts|tests|config|docs|rules|benchmarks)/[\w./{}-]+|[A-Z]\w+\.md)`")


def headings(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub makes them."""
    lines = re.findall(
        r"^#+ (.*)$", CODE_BLOCK.sub("", page.read_text(encoding="utf-8")), re.MULTILINE
    )
    return {re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in lines}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(PROJECT).as_posix())
def test_links_paths_and_modules_of_a_page_exist(page: Path) -> None:
    text = CODE_BLOCK.sub("", page.read_text(encoding="utf-8"))
    for link, anchor in LINK.findall(text):
        target = page.parent / link if link else page
        assert target.exists(), f"{link}: no such file"
        assert not anchor or anchor in headings(target), f"{link}#{anchor}: no such heading"
    for path in PATH.findall(text):
        pattern = re.sub(r"\{\w+\}|NAME", "*", path.rstrip("/"))
        assert any(PROJECT.glob(pattern)), f"{path}: no such file"
    for name in MODULE.findall(text):
        path = name.rstrip("/") if "/" in name else name.replace(".", "/")
        places = [
            MOOT / path,
            MOOT / f"{path}.py",
            (MOOT / path).parent.with_suffix(".py"),
            PROJECT / path,
        ]
        places += [PROJECT / "config" / "prompts" / f"{path}.jinja"]
        is_package_member = (
            "." in name and (MOOT / path).parent.is_dir()
        )  # such as `moot.report.table`
        assert is_package_member or any(place.exists() for place in places), (
            f"{name}: no such module"
        )
