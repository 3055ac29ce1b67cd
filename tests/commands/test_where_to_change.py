"""The page that names the files of each task names files and tests that exist."""

import re

from project_copy import PROJECT

PAGE = PROJECT / "docs" / "architecture.md"
PATH = re.compile(
    r"`((?:scripts|tests|config|docs|rules|data|benchmarks)/[\w./{}-]+|[A-Z]\w+\.md)`"
)


def section() -> str:
    _, _, rest = PAGE.read_text(encoding="utf-8").partition("## Where to change what\n")
    return rest.partition("\n## ")[0]


def test_each_path_exists() -> None:
    paths = PATH.findall(section())
    assert len(paths) > 20
    missing = []
    for path in paths:
        matches = list(PROJECT.glob(path.rstrip("/").replace("{name}", "*")))
        if not matches:
            missing.append(path)
    assert missing == []
