"""Commands run on the machine where Snakemake was started, also under the profile of a cluster."""

import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def rules_of(file: str) -> set[str]:
    return set(re.findall(r"(?m)^rule (\w+):", (PROJECT / file).read_text(encoding="utf-8")))


def local_rules_of(file: str) -> set[str]:
    text = (PROJECT / file).read_text(encoding="utf-8")
    blocks = re.findall(r"(?m)^localrules:\n((?:    \w+,\n)+)", text)
    return set(re.findall(r"\w+", "".join(blocks)))


def test_every_command_is_a_local_rule_and_no_other_is() -> None:
    assert len(rules_of("rules/commands.smk")) > 9
    for path in (PROJECT / "rules").glob("*.smk"):
        file = f"rules/{path.name}"
        commands = rules_of(file) if path.name == "commands.smk" else set()
        assert local_rules_of(file) == commands, file
