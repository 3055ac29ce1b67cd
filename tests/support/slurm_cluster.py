"""A Slurm cluster of one node on loopback, for the time of a test.

It is munged, slurmctld and slurmd in a folder of their own. Snakemake's jobs call Slurm's commands
without options, so the configuration must lie at /etc/slurm/slurm.conf: this needs root, a machine
without a cluster of its own, and puts back what was there.
"""

import fcntl
import importlib.util
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from patience import PATIENCE

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol")
CONFIGURATION = Path("/etc/slurm/slurm.conf")
_TEMPLATE = """\
ClusterName=moot
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort={controller}
SlurmdPort={daemon}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=20
NodeName={host} NodeAddr=127.0.0.1 CPUs=16 RealMemory=64000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def _skip_where_it_cannot_run() -> None:
    if importlib.util.find_spec("snakemake_executor_plugin_slurm") is None:
        pytest.skip("the extra [cluster] is not installed (make test EXTRAS=cluster)")
    if missing := [name for name in PROGRAMS if shutil.which(name) is None]:
        pytest.skip(
            f"Slurm is not installed: no {', '.join(missing)} (Debian: apt install slurm-wlm munge"
            " postgresql)"
        )
    if os.geteuid() != 0:
        pytest.skip(
            f"needs root, since Snakemake's jobs read {CONFIGURATION}; in a container, for example"
        )
    if (
        CONFIGURATION.exists()
        and subprocess.run(["squeue"], capture_output=True, check=False).returncode == 0
    ):
        pytest.skip(f"a cluster runs by {CONFIGURATION} already")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _configured(text: str) -> Iterator[None]:
    """Replace the machine's configuration, and restore it at the end."""
    original = CONFIGURATION.read_bytes() if CONFIGURATION.exists() else b"ClusterName=moot"
    CONFIGURATION.write_text(text)
    try:
        yield
    finally:
        if original.startswith(b"ClusterName=moot"):  # none, or left by a test that was killed
            CONFIGURATION.unlink()
        else:
            CONFIGURATION.write_bytes(original)


@contextmanager
def _running(folder: Path, *command: str | Path) -> Iterator[None]:
    """Run a daemon in the foreground, and end it with its children; its log is FOLDER/NAME.log."""
    with (folder / f"{Path(command[0]).name}.log").open("wb") as log:
        daemon = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    try:
        yield
    finally:
        daemon.terminate()
        try:
            daemon.wait(10)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()


@contextmanager
def slurm_cluster() -> Iterator[Path]:
    """Run a cluster and return its folder with the daemons' logs; skip if none can run."""
    _skip_where_it_cannot_run()
    with ExitStack() as stack:
        lock = stack.enter_context(Path("/tmp/moot-slurm.lock").open("w"))
        fcntl.flock(lock, fcntl.LOCK_EX)  # one cluster a machine
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="moot-slurm-", dir="/tmp")))
        for name in ("munge", "state", "spool"):
            (folder / name).mkdir(mode=0o700)
        folder.chmod(0o755)
        (folder / "munge").chmod(0o711)
        key = folder / "munge" / "key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        host = socket.gethostname().partition(".")[0]
        ports = {"controller": _free_port(), "daemon": _free_port()}
        stack.enter_context(_configured(_TEMPLATE.format(host=host, folder=folder, **ports)))
        files = [f"--{name}-file={folder}/munge/{name}" for name in ("key", "pid", "log", "seed")]
        munged = ["munged", "--foreground", "--force", f"--socket={folder}/munge/socket", *files]
        stack.enter_context(_running(folder, *munged))
        _wait_for((folder / "munge" / "socket").exists, folder)
        stack.enter_context(_running(folder, "slurmctld", "-D"))
        stack.enter_context(_running(folder, "slurmd", "-D"))
        _wait_for(lambda: "idle" in slurm("sinfo", "--noheader", "--format=%t"), folder)
        try:
            yield folder
        finally:
            slurm("scancel", "--full", "--signal=KILL", "--user=root")
            _wait_for(lambda: not slurm("squeue", "--noheader"), folder)


def slurm(*command: str) -> str:
    """Return the output of one of Slurm's commands."""
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def _wait_for(condition: object, folder: Path, seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            logs = "\n".join(
                f"{log.name}: {log.read_text()[-1000:]}" for log in folder.glob("*.log")
            )
            pytest.fail(
                f"the cluster does not come up, or does not end, within {seconds} s\n{logs}"
            )
        time.sleep(0.2)
