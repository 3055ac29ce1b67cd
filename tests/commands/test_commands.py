"""Test that Snakemake and moot accept the options, targets and keys of every command on a page."""

import re
import shlex

import pytest
import yaml
from snakemake.cli import get_argument_parser

from in_process import default_configuration
from moot.plan.plan import Plan
from project_copy import PROJECT, documented_pages

TESTED_PAGES = {"docs/extending.md"}
"""Pages whose commands another test runs."""
PAGES = [
    *sorted({*documented_pages()} - TESTED_PAGES),
    "config/README.md",
    "CONTRIBUTING.md",
    "profiles/README.md",
]
CODE_BLOCK = re.compile(r"^```(?:bash)?\n(.*?)^```", re.DOTALL | re.MULTILINE)
INLINE_COMMAND = re.compile(r"`((?:snakemake|moot) [^`]+)`")
TARGET = re.compile(r"(results|rehearsal)/\S+|[A-Z_]+")
RULES: set[str] = set()
for file in (PROJECT / "Snakefile", *PROJECT.glob("rules/*.smk")):
    RULES.update(re.findall(r'^ *(?:rule |")(\w+)"?:', file.read_text(), re.MULTILINE))
RULES_BY_NAME = {"export_inspect"}


def commands_of_page(page: str) -> list[str]:
    """Return the commands in blocks and lines of a page.

    A placeholder on a page is `...` or has capital letters.
    """
    text = (PROJECT / page).read_text("utf-8")
    lines: list[str] = []
    for block in CODE_BLOCK.findall(text):
        lines += block.replace("\\\n", " ").splitlines()
    command_lines = [line.removeprefix("$ ") for line in lines] + INLINE_COMMAND.findall(
        CODE_BLOCK.sub("", text)
    )
    return [
        command
        for command in command_lines
        if re.match(r"snakemake |moot (run|init|doctor|desk|preview) ", command)
    ]


@pytest.fixture(scope="module")
def targets() -> set[str]:
    plan = Plan.from_yaml(default_configuration({}), PROJECT)
    return (
        RULES
        | RULES_BY_NAME
        | {"comparison"}
        | {experiment.study for experiment in plan.experiments.values()}
    )


@pytest.mark.parametrize("page", PAGES)
def test_every_command_names_options_and_targets_that_exist(page: str, targets: set[str]) -> None:
    for command in commands_of_page(page):
        _, *words = shlex.split(command, comments=True)
        arguments = get_argument_parser().parse_args(
            [word for word in words if word not in ("...", "run", "desk")]
        )
        unknown_targets = [
            target
            for target in arguments.targets or ()
            if target not in targets and not TARGET.fullmatch(target)
        ]
        assert not unknown_targets, f"{command}: no target {unknown_targets}"
        for setting in arguments.config or ():
            assert str(setting).partition("=")[0] in PLAN_KEYS, command


PLAN_KEYS = set(yaml.safe_load((PROJECT / "config/schema.json").read_text())["properties"])


def test_there_are_commands_to_check() -> None:
    assert sum(len(commands_of_page(page)) for page in PAGES) > 50
