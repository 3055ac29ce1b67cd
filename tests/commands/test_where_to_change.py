"""The page that names the files of each task names files and tests that exist."""

import re
import tomllib

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


def test_the_functions_of_the_page_exist() -> None:
    files = [*(PROJECT / "rules").glob("*.smk")]
    for folder in ("scripts/moot", "tests/support"):
        files += (PROJECT / folder).rglob("*.py")
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    for name in re.findall(r"`(_?[a-z]+(?:_[a-z]+)+|[A-Z][a-z]+[A-Z]\w+)`", section()):
        assert re.search(rf"\b(?:def|class) {name}\b|^    {name}: ", text, re.MULTILINE), name


def test_the_diagram_has_the_layers_that_imports_keep_to() -> None:
    _, diagram, _ = PAGE.read_text(encoding="utf-8").split("```", 2)
    lines = re.findall(r"^\w[\w ,]*?(?=\s{2,}|$)", diagram, re.MULTILINE)
    contracts = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = contracts["tool"]["importlinter"]["contracts"][0]["layers"]
    assert [line.strip().replace(" , ", " | ") for line in lines] == layers
