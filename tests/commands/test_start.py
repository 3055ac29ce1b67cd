"""Test the command `moot` for a user without a name, as in a container run with `--user`."""

import getpass
import os
import sys
from collections.abc import Callable

import pytest

from moot.commands import start


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
