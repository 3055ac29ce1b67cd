"""Every command on a page is one that Snakemake and moot understand: its options, its targets, its
keys.
"""

import re
import shlex

import pytest
import yaml
from snakemake.cli import get_argument_parser

from in_process import default_configuration
from moot.commands.documented import documented_pages
from moot.plan.plan import Plan
from project_copy import PROJECT

WALKED = {"docs/extending.md"}
"""Pages whose commands another test runs."""
PAGES = [
    *sorted({*documented_pages(PROJECT)} - WALKED),
    "config/README.md",
    "CONTRIBUTING.md",
    "profiles/README.md",
]
FENCED = re.compile(r"^```(?:bash)?\n(.*?)^```", re.DOTALL | re.MULTILINE)
IN_LINE = re.compile(r"`((?:snakemake|moot) [^`]+)`")
TARGET = re.compile(r"(results|rehearsal)/\S+|[A-Z_]+")
RULES = {
    name
    for file in (PROJECT / "Snakefile", *PROJECT.glob("rules/*.smk"))
    for name in re.findall(r'^(?:rule |    ")(\w+)"?:', file.read_text(), re.MULTILINE)
}
BY_NAME = {"export_inspect", "export_croissant"}


def commands(page: str) -> list[str]:
    """The commands of a page, in blocks and in lines; what a page leaves out is `...`, or in
    capital letters.
    """
    text = (PROJECT / page).read_text("utf-8")
    lines = [
        line for block in FENCED.findall(text) for line in block.replace("\\\n", " ").splitlines()
    ]
    shown = [line.removeprefix("$ ") for line in lines] + IN_LINE.findall(FENCED.sub("", text))
    return [
        one for one in shown if re.match(r"snakemake |moot (run|init|doctor|desk|preview) ", one)
    ]


@pytest.fixture(scope="module")
def targets() -> set[str]:
    plan = Plan.from_yaml(default_configuration({}), PROJECT)
    return (
        RULES
        | BY_NAME
        | {"comparison"}
        | {experiment.study for experiment in plan.experiments.values()}
    )


@pytest.mark.parametrize("page", PAGES)
def test_every_command_names_options_and_targets_that_exist(page: str, targets: set[str]) -> None:
    for command in commands(page):
        _, *words = shlex.split(command, comments=True)
        given = get_argument_parser().parse_args(
            [word for word in words if word not in ("...", "run", "desk")]
        )
        unknown = [
            one for one in given.targets or () if one not in targets and not TARGET.fullmatch(one)
        ]
        assert not unknown, f"{command}: no target {unknown}"
        for setting in given.config or ():
            assert str(setting).partition("=")[0] in PLAN_KEYS, command


PLAN_KEYS = set(yaml.safe_load((PROJECT / "config/schema.json").read_text())["properties"])


def test_there_are_commands_to_check() -> None:
    assert sum(len(commands(page)) for page in PAGES) > 50
