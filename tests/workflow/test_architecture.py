"""The documentation of the architecture names every room and every module that there is, and no other."""

import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def test_the_page_names_every_module_of_every_room() -> None:
    page = (PROJECT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = {
        f"{room}/{module.rstrip('/')}"
        for room, text in re.findall(r"^### `(\w+)/`$(.*?)(?=^###|\Z)", page, re.MULTILINE | re.DOTALL)
        for module in re.findall(r"^\| `([\w/]+)` \|", text, re.MULTILINE)
    }
    package = PROJECT / "scripts" / "moot"
    modules = {
        str(path.relative_to(package).with_suffix("")).removesuffix("/__init__") for path in package.rglob("*/*.py")
    }
    rooms = {module for module in modules if "/" not in module}
    assert named == modules - rooms
