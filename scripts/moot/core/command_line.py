"""Checks before Snakemake starts: the configuration files of its command line, and its memory.

Snakemake itself reports an invalid file without name or line, and ends with a traceback if a file
does not exist. `profiles/default` calls this module.
"""

import atexit
import json
import os
import resource
import shlex
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

import yaml

from moot.core.errors import RunStoppedError, UserError, unknown_name
from moot.core.printed_commands import as_started, remember_start
from moot.core.shipped_files import SHIPPED, default_files
from moot.core.yaml_text import load_yaml

_INTERNAL_RULES = ("convert_to_", "figures_", "tables_")
_SCHEDULER_BYTES, _BYTES_PER_CORE = 450 * 2**20, 72 * 2**20
"""Bytes of address space: Snakemake's at the start of its first job, and one thread's stack and
heap.
"""


@contextmanager
def exit_without_traceback() -> Iterator[None]:
    """End with the faults and their remedies, one per line, instead of Snakemake's traceback."""
    try:
        yield
    except (UserError, RunStoppedError) as error:
        message = as_started(str(error))
        sys.exit("\n".join(f"moot: {line}" for line in message.splitlines()))


def prepend_python_path() -> None:
    """Let jobs import moot from the Snakefile's project, not another copy in the environment."""
    current_path = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, (str(SHIPPED / "scripts"), current_path))
    )


def check_folder() -> None:
    """Raise `UserError` if the working directory is not writable.

    All output of a run goes there.
    """
    if not os.access(".", os.W_OK):
        snakefile = shlex.quote(str(SHIPPED / "Snakefile"))
        raise UserError(
            f"{Path.cwd()}: this folder is not writable (read-only, or another user's). Start in "
            f"one of your folders: snakemake --snakefile {snakefile} --cores 2"
        )


def check_cores(cores: int | None) -> None:
    """Raise `UserError` for no cores: Snakemake would list its jobs and wait for ever."""
    if cores == 0:
        raise UserError("--cores 0: found 0, expected 1 or more, or all.")


def targets_of_command_line() -> list[str]:
    """Return the targets of Snakemake's command line, which a Snakefile does not see."""
    from snakemake.cli import get_argument_parser

    targets: list[str] = list(get_argument_parser().parse_known_args()[0].targets)
    return targets


def check_targets(targets: Iterable[str], rules: Iterable[str]) -> None:
    """Raise `UserError` for a target that is neither a path nor the name of a rule.

    Snakemake's own message names no other target.
    """
    names = {name for name in rules if not name.startswith(_INTERNAL_RULES)}
    for target in targets:
        if "/" not in target and target not in names and not target.startswith(_INTERNAL_RULES):
            raise unknown_name("target", target, names)


def use_writable_cache() -> None:
    """Let Snakemake's cache lie in the working directory if the user's home is not writable.

    Otherwise Snakemake ends with a traceback when it creates the cache's folder.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        is_writable = os.access(cache, os.W_OK)
    except OSError:
        is_writable = False
    if not is_writable:
        os.environ["XDG_CACHE_HOME"] = str(Path.cwd() / ".snakemake" / "cache")
        sys.stderr.write(
            f"moot: {cache} is not writable; XDG_CACHE_HOME is .snakemake/cache in this folder.\n"
        )


def link_python_without_spaces() -> None:
    """Link Python to a path without spaces, since Snakemake does not quote it in commands."""
    python = Path(sys.executable)
    if " " not in sys.executable:
        return
    folder = Path(mkdtemp(prefix="moot-python-"))
    atexit.register(rmtree, folder, ignore_errors=True)
    (folder / "environment").symlink_to(python.parents[1], target_is_directory=True)
    sys.executable = str(folder / "environment" / python.parent.name / python.name)


def check_memory_limit(cores: int) -> None:
    """Raise `UserError` if `ulimit -v` leaves too little memory for Snakemake's threads.

    Snakemake hangs if a thread cannot start.
    """
    limit_bytes = resource.getrlimit(resource.RLIMIT_AS)[0]
    required_bytes = _SCHEDULER_BYTES + cores * _BYTES_PER_CORE
    if limit_bytes != resource.RLIM_INFINITY and limit_bytes < required_bytes:
        raise UserError(
            "not enough memory for Snakemake itself: its address space is limited to"
            f" {limit_bytes // 1024} kB (`ulimit -v`); with --cores {cores} expected at least"
            f" {required_bytes // 1024}. Raise the limit, or give fewer cores."
        )


def config_files(arguments: Sequence[str]) -> list[Path]:
    """Return the files after `--configfile`.

    argparse reads every word up to the next option as a file.
    """
    parser = ArgumentParser(add_help=False, allow_abbrev=False)  # `--config` is a separate option
    parser.add_argument(
        "--configfile", "--configfiles", nargs="+", action="extend", default=[], type=Path
    )
    files: list[Path] = parser.parse_known_args(list(arguments))[0].configfile
    return files


def check_config_file(path: Path) -> None:
    """Require a file that Snakemake can read as a configuration.

    Raises:
        UserError: the file does not exist (or is a target that argparse read as a file), is not
            UTF-8, is neither JSON nor YAML (with the line), has no keys with values at its top
            level, or contains itself.
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
            f"{path}{place}: not YAML ({problem}). Correct the line, or the line above it. Indent "
            "with spaces instead of tabs, and quote text that contains a colon."
        ) from None
    except ValueError as fault:  # from a scalar that looks like a date or a number
        raise UserError(f"{path}: {fault}. Correct it, or quote it if it is text.") from None
    except yaml.YAMLError as fault:
        raise UserError(f"{path}: not YAML ({' '.join(str(fault).split())}). Correct it.") from None
    if not isinstance(content, dict):
        raise UserError(
            f"{path}: found {'nothing' if content is None else type(content).__name__} at the top"
            " level; expected keys with values, such as `run: [my-experiment]`."
        )
    try:
        json.dumps(content, default=str, skipkeys=True)
    except ValueError:  # Snakemake merges such a mapping without end
        raise UserError(
            f"{path}: an alias (*name) stands inside its own anchor (&name). Write its values out."
        ) from None


def read_content(text: str) -> object:
    """Return the content of a configuration file.

    It is read as JSON, or else as YAML, as Snakemake does.
    """
    try:
        return json.loads(text)
    except ValueError:
        return load_yaml(text)


def check_config_files(arguments: Sequence[str]) -> None:
    """Check every configuration file of a run, shipped ones first.

    On a fault, end with status 1 and one message.
    """
    faults = []
    for path in (*default_files(), *config_files(arguments)):
        try:
            check_config_file(path)
        except UserError as fault:
            faults.append(f"moot: {fault}")
    if faults:
        sys.exit("\n".join(faults))


def prepare_start(arguments: Sequence[str]) -> None:
    """Prepare a run before Snakemake reads its command line, which the profile calls."""
    use_writable_cache()
    remember_start(arguments)
    check_config_files(arguments)
