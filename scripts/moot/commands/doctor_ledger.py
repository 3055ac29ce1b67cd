"""The part of `doctor` for the ledger: whether its database can be opened, written and locked."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import sqlalchemy as sa

from moot.core.errors import UserError
from moot.llm.ledger.database import explain_errors, open_engine

_WITHOUT_DEVICE = frozenset({"tmpfs", "ramfs", "rootfs", "overlay", "zfs", "btrfs"})
"""Local file systems that name no device."""
_MOUNTS = Path("/proc/self/mounts")
_REMEDY = "Name a local folder, or a PostgreSQL database, under `ledger`."
_ESCAPE = re.compile(r"\\([0-7]{3})")
_CONNECT_SECONDS = "10"


def check_ledger(ledger: str) -> str:
    """Open, write and lock a database next to the ledger, without changing the ledger.

    Returns:
        Why a run may damage the ledger; "" if there is no risk.

    Raises:
        UserError: no database can be opened or locked there; the message has cause and remedy.
    """
    if "://" in ledger:
        with explain_errors(lambda: _without_password(ledger)):
            _connect(_with_timeout(ledger))
        return ""
    folder = _existing_folder(Path(ledger))
    system = find_network_file_system(folder)
    try:
        with (
            explain_errors(lambda: ledger),
            TemporaryDirectory(prefix=".doctor-", dir=folder) as test_folder,
        ):
            _connect(test_folder)
    except UserError as error:
        if not system:
            raise
        raise UserError(f"{error} It is on a network file system ({system}). {_REMEDY}") from None
    if system:
        return (
            f"{ledger} is on a network file system ({system}), where SQLite's locks may not hold"
            f" and the ledger may be damaged. {_REMEDY}"
        )
    return ""


def find_network_file_system(folder: Path, mounts: str | None = None) -> str:
    """Return the type of the network file system that a folder is on; "" for any other.

    A local file system has a device in /dev, or is one of `_WITHOUT_DEVICE`.

    Args:
        folder: an existing folder.
        mounts: the text of `/proc/mounts`. Default: the text on this machine.
    """
    if mounts is None:
        mounts = _MOUNTS.read_text() if _MOUNTS.exists() else ""
    place, system_of_mount = folder.resolve(), dict[Path, str]()
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) > 2:
            device, mount_point, system = fields[:3]
            mount_point = _ESCAPE.sub(lambda match: chr(int(match[1], 8)), mount_point)
            is_local = device.startswith("/dev/") or system in _WITHOUT_DEVICE
            system_of_mount[Path(mount_point)] = "" if is_local else system.removeprefix("fuse.")
    systems_above = map(system_of_mount.get, (place, *place.parents))
    return next((system for system in systems_above if system is not None), "")


def _existing_folder(folder: Path) -> Path:
    """Return a folder, or the nearest one above it that exists."""
    return next(
        parent for parent in (folder.absolute(), *folder.absolute().parents) if parent.is_dir()
    )


def _connect(ledger: str) -> None:
    """Open a database; one in a folder is also written and locked."""
    engine = open_engine(ledger)
    try:
        with engine.begin() as connection:
            if engine.dialect.name == "sqlite":
                connection.execute(sa.text("CREATE TABLE test (number INTEGER)"))
    finally:
        engine.dispose()


def _with_timeout(ledger: str) -> str:
    url = sa.make_url(ledger)
    if url.get_backend_name() == "postgresql" and "connect_timeout" not in url.query:
        url = url.update_query_dict({"connect_timeout": _CONNECT_SECONDS})
    return url.render_as_string(hide_password=False)


def _without_password(ledger: str) -> str:
    return sa.make_url(ledger).render_as_string(hide_password=True)
