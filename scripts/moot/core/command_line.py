"""What is checked before Snakemake starts: the configuration files that its command line names, and
its memory.

Snakemake itself says that some file is not valid, without its name or the line, and ends with a
traceback where a file does not exist. `profiles/default` calls this.
"""

import atexit
import json
import os
import resource
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

import yaml

from moot.core.errors import RunStoppedError, UserError
from moot.core.shipped_files import SHIPPED, default_files
from moot.core.yaml_text import load_yaml

_SCHEDULER_BYTES, _BYTES_PER_CORE = 450 * 2**20, 72 * 2**20
"""Of address space: what Snakemake has mapped when its first job starts; and the stack and heap of
one job's thread.
"""


@contextmanager
def exit_without_traceback() -> Iterator[None]:
    """End with what the user is to mend, a line each, where Snakemake would add a trace."""
    try:
        yield
    except (UserError, RunStoppedError) as error:
        sys.exit("\n".join(f"moot: {line}" for line in str(error).splitlines()))


def prepend_python_path() -> None:
    """Have jobs import moot of the Snakefile's project, and no other copy that the environment
    names.
    """
    current_path = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, (str(SHIPPED / "scripts"), current_path))
    )


def check_folder() -> None:
    """Raise `UserError` where the working directory cannot be written: all that a run makes is kept
    in it.
    """
    if not os.access(".", os.W_OK):
        raise UserError(
            f"{Path.cwd()}: this folder cannot be written (read-only, or another user's). Start"
            f" from one of your own: snakemake --snakefile {SHIPPED / 'Snakefile'} --cores 2"
        )


def link_python_without_spaces() -> None:
    """Reach Python by a path without spaces: Snakemake writes it into a script's command without
    quotes.
    """
    python = Path(sys.executable)
    if " " not in sys.executable:
        return
    folder = Path(mkdtemp(prefix="moot-python-"))
    atexit.register(rmtree, folder, ignore_errors=True)
    (folder / "environment").symlink_to(python.parents[1], target_is_directory=True)
    sys.executable = str(folder / "environment" / python.parent.name / python.name)


def check_memory_limit(cores: int) -> None:
    """Raise `UserError` where `ulimit -v` leaves no room for Snakemake's threads: it hangs when one
    cannot start.
    """
    limit_bytes, required_bytes = (
        resource.getrlimit(resource.RLIMIT_AS)[0],
        _SCHEDULER_BYTES + cores * _BYTES_PER_CORE,
    )
    if limit_bytes != resource.RLIM_INFINITY and limit_bytes < required_bytes:
        raise UserError(
            "not enough memory for Snakemake itself: its address space is limited to"
            f" {limit_bytes // 1024} kB (`ulimit -v`); with --cores {cores} expected at least"
            f" {required_bytes // 1024}. Raise the limit, or give fewer cores."
        )


def config_files(arguments: Sequence[str]) -> list[Path]:
    """Return the files after `--configfile`, where argparse reads every word up to the next option
    as a file.
    """
    parser = ArgumentParser(
        add_help=False, allow_abbrev=False
    )  # `--config` is an option of its own
    parser.add_argument(
        "--configfile", "--configfiles", nargs="+", action="extend", default=[], type=Path
    )
    files: list[Path] = parser.parse_known_args(list(arguments))[0].configfile
    return files


def check_config_file(path: Path) -> None:
    """Require a file that Snakemake can read as a configuration.

    Raises:
        UserError: no such file (a target that argparse took for one), no UTF-8, no JSON or YAML
            (with the line), or anything but keys with values at its top level.
    """
    if not path.is_file():
        raise UserError(
            f"--configfile: there is no file '{path}'. If it is a target, write it before the"
            f" options, since every word after --configfile is read as a file: snakemake {path}"
            " --cores 4 --configfile my.yaml"
        )
    try:
        text = path.read_text(encoding="utf-8")
        content = read_content(text)
    except UnicodeDecodeError as fault:
        line = fault.object.count(b"\n", 0, fault.start) + 1
        raise UserError(
            f"{path}: line {line}: not UTF-8; expected a text file in UTF-8. Save it as such."
        ) from None
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        place = f": line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        problem = " ".join(part for part in (fault.problem, fault.context) if part)
        raise UserError(
            f"{path}{place}: not YAML ({problem}). Correct the line, or one just above it; indent"
            " with spaces, never with tabs, and quote text that holds a colon."
        ) from None
    except ValueError as fault:  # of a scalar that looks like a date or a number
        raise UserError(f"{path}: {fault}. Correct it, or quote what is text.") from None
    except yaml.YAMLError as fault:
        raise UserError(f"{path}: not YAML ({' '.join(str(fault).split())}). Correct it.") from None
    if not isinstance(content, dict):
        raise UserError(
            f"{path}: found {'nothing' if content is None else type(content).__name__} at the top"
            " level; expected keys with values, such as `run: [my-experiment]`."
        )


def read_content(text: str) -> object:
    """What a configuration file holds, read as JSON and else as YAML, as Snakemake reads it."""
    try:
        return json.loads(text)
    except ValueError:
        return load_yaml(text)


def check_config_files(arguments: Sequence[str]) -> None:
    """Look at every configuration file of a run, the shipped ones first; end with status 1 and one
    message.
    """
    faults = []
    for path in (*default_files(), *config_files(arguments)):
        try:
            check_config_file(path)
        except UserError as fault:
            faults.append(f"moot: {fault}")
    if faults:
        sys.exit("\n".join(faults))
