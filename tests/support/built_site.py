"""Build the site of the documentation without warnings."""

import subprocess
import sys
from pathlib import Path

from project_copy import PROJECT


def build_site(folder: Path, project: Path = PROJECT) -> None:
    """Build the site of a project into a folder."""
    process = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=project,
        env={"PYTHONPATH": str(PROJECT / "scripts"), "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
