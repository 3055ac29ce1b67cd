"""Commands run on the machine where Snakemake was started, also under the profile of a cluster."""

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
OTHER_FILES = sorted(
    f"rules/{path.name}"
    for path in (PROJECT / "rules").glob("*.smk")
    if path.name != "commands.smk"
)


def rules_of(file: str) -> set[str]:
    return set(re.findall(r"(?m)^rule (\w+):", (PROJECT / file).read_text(encoding="utf-8")))


def local_rules_of(file: str) -> set[str]:
    text = (PROJECT / file).read_text(encoding="utf-8")
    blocks = re.findall(r"(?m)^localrules:\n((?:    \w+,\n)+)", text)
    return set(re.findall(r"\w+", "".join(blocks)))


def test_every_command_is_a_local_rule() -> None:
    assert len(rules_of("rules/commands.smk")) > 9
    assert local_rules_of("rules/commands.smk") == rules_of("rules/commands.smk")


@pytest.mark.parametrize("file", OTHER_FILES)
def test_rules_that_make_artifacts_are_jobs(file: str) -> None:
    assert not local_rules_of(file)
