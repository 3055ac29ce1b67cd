"""Open the desk: pages on which people take seats and label, on this machine.

python scripts/desk.py                                    answers wait for the next run
python scripts/desk.py snakemake --cores 2 debates        the debates continue after each answer
"""

import asyncio
import socket
import sys
from argparse import ArgumentParser
from pathlib import Path

from aiohttp import web

from moot.core.errors import UserError
from moot.desk.pages import HOST, Desk, make_app
from moot.desk.runner import Runner
from moot.labels.sheet_names import key_file

OPEN_MESSAGE = """\
The desk is open, only for people on this machine:

  {address}

Ctrl-C closes it. All saved answers and labels are in files below data/.
"""
KEY_MESSAGE = """\
{key} has the experiment of each sheet. Do not show it to annotators.
"""


async def open_desk(command: list[str], port: int) -> None:
    """Serve the desk until the process is stopped.

    Args:
        command: continues the debates after an answer.
        port: 0 for any free port.
    """
    folder = Path.cwd()
    listener = socket.create_server((HOST, port))
    desk = Desk(folder, Runner(command, folder))
    server = web.AppRunner(make_app(desk), access_log=None)
    await server.setup()
    try:
        await web.SockSite(server, listener).start()
        port = listener.getsockname()[1]
        message = OPEN_MESSAGE.format(address=f"http://{HOST}:{port}/{desk.token}/")
        if (key := key_file(folder / "data" / "annotation_sheets")).exists():
            message += KEY_MESSAGE.format(key=key.relative_to(folder))
        sys.stdout.write(message)
        sys.stdout.flush()
        await asyncio.Event().wait()
    finally:
        await server.cleanup()


def main() -> None:
    """Read the command line and serve the desk.

    All arguments that are not the desk's form the command that continues the debates.
    """
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0], allow_abbrev=False)
    parser.add_argument("--port", type=int, default=0, help="the port; default: any free port")
    options, command = parser.parse_known_args()
    asyncio.run(open_desk(command, options.port))


if __name__ == "__main__":
    try:
        main()
    except (UserError, OSError) as fault:
        sys.exit(f"desk: {fault}")
    except KeyboardInterrupt:
        sys.exit(0)
