"""Each rule states all code that its script imports, and debates depend on no other study."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from declared_jobs import PROJECT, declared_jobs
from moot.core.code_digest import source_files
from moot.plan.plan import Plan
from moot.protocols import PROTOCOLS
from moot.report import FIGURES, TABLES
from moot.workflow import targets

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


BOUNDARY = ("moot.plan.", "moot.workflow.")
"""Packages that are not followed: options and digests cover what jobs take from them."""


def imported_files(*modules: str) -> set[Path]:
    """Return the files of modules (`moot.core.cases`) or scripts (`cases`) and their imports."""
    files: set[Path] = set()
    remaining = list(modules)
    while remaining:
        module = remaining.pop()
        path = _file_of(module)
        if path and path not in files and not module.startswith(BOUNDARY):
            files.add(path)
            remaining += _imports(path, module)
    return files


@cache
def _file_of(module: str) -> Path | None:
    stem = SCRIPTS.joinpath(*module.split("."))
    for path in (stem.with_name(f"{stem.name}.py"), stem / "__init__.py"):
        if path.is_file():
            return path
    return None


@cache
def _imports(path: Path, module: str) -> list[str]:
    package = module if path.stem == "__init__" else module.rpartition(".")[0]
    names: list[str] = []
    for node in _executed(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            if node.level:
                source = resolve_name("." * node.level + source, package)
            names += [source, *(f"{source}.{alias.name}" for alias in node.names)]
    return [name for name in names if name.startswith("moot.")]


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all nodes in it, without imports that are only for type checkers."""
    match node:
        case ast.If(test=ast.Name("TYPE_CHECKING")):
            return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _executed(child)


MODELS = {"small": {"model": "small", "base_url": "http://127.0.0.1:9/v1"}}
PROTOCOLS_OF_STUDIES = {"trial": "courtroom", "panel": "panel", "meeting": "conference"}
SHARED = re.compile(r"moot/(\w+/)?__init__\.py")
"""Packages hold registries alone."""


@pytest.fixture(scope="module")
def plan() -> Plan:
    experiments: dict[str, Any] = {
        name: {"protocol": protocol, "dataset": "nlsy97", "models": ["small"]}
        for name, protocol in PROTOCOLS_OF_STUDIES.items()
    }
    experiments["panel"]["dataset"] = experiments["meeting"]["dataset"] = "opinions"
    experiments["panel"]["labelers"] = ["rules", "judge:small"]
    experiments["published"] = {
        "source": "recorded",
        "dataset": "nyu-debates",
        "models": "human-judge",
        "params": {"method": "AI consult"},
    }
    return Plan.from_yaml(
        {
            "seed": 1,
            "models": {**MODELS, "human-judge": {"endpoint": "recorded", "model": "human judge"}},
            "datasets": {
                "nlsy97": {"source": "synthetic"},
                "opinions": {"source": "sample"},
                "nyu-debates": {"loader": "nyu_debates", "source": "shipped"},
            },
            "experiments": experiments,
        },
        PROJECT,
    )


@pytest.fixture(scope="module")
def files_of_rules(plan: Plan) -> dict[str, set[Path]]:
    """The source files that each rule states, by the name of the rule."""
    rule_files: dict[str, set[Path]] = {}

    def keep_names(*names: str) -> frozenset[Path]:
        return frozenset(source_files(*names))

    jobs = declared_jobs(plan, digest_of=keep_names)
    for name, rule in jobs.rules.items():
        for experiment in plan.experiments:
            dataset = plan.experiments[experiment].config.dataset
            wildcards = {"experiment": experiment, "model": "small", "dataset": dataset}
            files = rule["code"](SimpleNamespace(**wildcards))
            assert isinstance(files, frozenset)
            key = f"{name} {experiment}" if name == "run_debates" else name
            rule_files[key] = rule_files.get(key, set()) | files
    return rule_files


def script_of(files: set[Path]) -> str:
    (script,) = {path.stem for path in files if path.parent == SCRIPTS}
    return script


def test_each_rule_states_the_code_that_its_script_imports(
    files_of_rules: dict[str, set[Path]],
) -> None:
    missing: dict[str, list[str]] = {}
    for name, rule_files in files_of_rules.items():
        imported = imported_files(script_of(rule_files))
        names = sorted(str(path.relative_to(SCRIPTS)) for path in imported - rule_files)
        if unstated := [path for path in names if not SHARED.fullmatch(path)]:
            missing[name] = unstated
    assert missing == {}, "\n".join(f"{name}: {paths}" for name, paths in missing.items())


def test_tables_and_figures_state_the_code_of_their_builders(
    plan: Plan, files_of_rules: dict[str, set[Path]]
) -> None:
    for word, registry in (("tables", TABLES), ("figures", FIGURES)):
        study = {"tables": "courtroom", "figures": "recorded"}[word]
        paths = files_of_rules[f"{word}_{study}"]
        builders = {
            registry[name].build.__module__ for name in targets.names_by_job(plan, registry)[study]
        }
        imported = imported_files(*builders)
        names = {str(path.relative_to(SCRIPTS)) for path in imported - paths}
        assert {name for name in names if not SHARED.fullmatch(name)} == set()


def test_the_protocol_of_a_study_is_code_of_only_its_debates(
    files_of_rules: dict[str, set[Path]],
) -> None:
    file = SCRIPTS / "moot" / "studies" / "courtroom" / "protocol.py"
    assert PROTOCOLS["courtroom"].run.__module__ == "moot.studies.courtroom.protocol"
    debates = {name for name in files_of_rules if name.startswith("run_debates")}
    assert {name for name in debates if file in files_of_rules[name]} == {"run_debates trial"}
    for name in ("load_cases", "train_baselines", "label_statements"):
        assert file not in files_of_rules[name]
