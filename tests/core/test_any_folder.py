"""Test that scripts start in a folder whose name has spaces and letters of any alphabet."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from moot.core.command_line import check_folder
from moot.core.errors import UserError
from moot.core.extensions import load_extensions

PROJECT = Path(__file__).resolve().parents[2]
PROGRAM = """
import subprocess, sys
from moot.core.command_line import link_python_without_spaces
from moot.core.errors import UserError
from moot.core.extensions import load_extensions
link_python_without_spaces()
code = "import os, sys; print(os.path.realpath(sys.prefix))"
subprocess.run(f"{sys.executable} -c '{code}'", shell=True, check=True)
"""


def test_a_command_without_quotes_reaches_the_environments_python(tmp_path: Path) -> None:
    folder = tmp_path / "Prüf Ordner 試験" / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    paths = f"{PROJECT / 'scripts'}:{sysconfig.get_paths()['purelib']}"
    environment = {"PYTHONPATH": paths, "PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path)}
    command = [folder / "bin" / "python", "-c", PROGRAM]
    prefix = subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True
    ).stdout.strip()
    assert Path(prefix) == folder.resolve()
    assert not list(tmp_path.glob("moot-python-*")), "nothing is left behind"


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="a folder that even root cannot write")
def test_a_folder_that_cannot_be_written_is_reported_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/proc/self")
    monkeypatch.setattr("moot.core.command_line.SHIPPED", Path("/a folder"))
    with pytest.raises(
        UserError, match=r"not writable .* --snakefile '/a folder/Snakefile' --cores"
    ):
        check_folder()


@pytest.mark.parametrize(
    ("name", "line", "fault"), [("one", "X.y", "AttributeError"), ("two", ")", "SyntaxError")]
)
def test_a_mistake_in_an_extension_is_named_by_its_line(
    name: str, line: str, fault: str, tmp_path: Path
) -> None:
    folder = tmp_path / f"broken_extension_{name}"
    folder.mkdir()
    (folder / "mine.py").write_text(f"X = 1\n{line}\n")
    with pytest.raises(UserError, match=rf"^{folder}/mine\.py, line 2: {fault}"):
        load_extensions([str(folder)])
