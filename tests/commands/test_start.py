"""Test the command `moot` for a user without a name, as in a container run with `--user`."""

import getpass
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from moot.commands import start
from moot.core.printed_commands import STARTED_BY
from moot.core.shipped_files import SHIPPED


@pytest.fixture(autouse=True)
def command_of_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore how the tests were started; `main` sets it for the command that it becomes."""
    monkeypatch.setenv(STARTED_BY, "snakemake")


def _raise(error: Exception) -> Callable[[], str]:
    def get_user() -> str:
        raise error

    return get_user


@pytest.mark.parametrize("error", [KeyError("getpwuid(): uid not found: 4711"), OSError("none")])
def test_a_user_without_a_name_gets_one(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(getpass, "getuser", _raise(error))
    monkeypatch.delenv("USER", raising=False)
    monkeypatch.setattr(os, "execv", lambda _, command: commands.append(command))
    monkeypatch.setattr(sys, "argv", ["moot", "run"])
    start.main()
    assert os.environ["USER"] == f"user-{os.getuid()}"
    assert "snakemake" in commands[0]


def test_a_user_with_a_name_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "execv", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["moot", "run"])
    monkeypatch.setenv("LOGNAME", "someone")
    monkeypatch.setenv("USER", "someone")
    start.main()
    assert os.environ["USER"] == "someone"


def test_a_user_without_an_entry_gets_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without HOME and without an entry in the list of users nothing may ask for either."""

    def refuse(uid: object) -> object:
        raise KeyError(f"getpwuid(): uid not found: {uid}")

    for variable in ("HOME", "USER", "LOGNAME", "LNAME", "USERNAME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", refuse)
    monkeypatch.setattr(os, "execv", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["moot", "run"])
    start.main()
    assert Path.home().is_dir()
    assert os.environ["HOME"] == tempfile.gettempdir()
    assert getpass.getuser() == f"user-{os.getuid()}"


def test_snakemake_starts_for_a_user_without_an_entry(tmp_path: Path) -> None:
    """As root, with the number of another user, the command reaches Snakemake."""
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        command = [sys.executable]
    else:
        identity = ["--reuid=4711", "--regid=4711", "--clear-groups"]
        rights = ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"]
        command = ["setpriv", *identity, *rights, sys.executable]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SHIPPED / "scripts")}
    process = subprocess.run(
        [*command, "-m", "moot.commands.start", "run", "--help"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    assert "--snakefile" in process.stdout
