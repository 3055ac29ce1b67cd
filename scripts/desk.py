"""Open the desk: pages on this machine on which people sit as judges and label statements.

python scripts/desk.py                                                      answers wait for the next run
python scripts/desk.py snakemake --cores 2 debates --configfile my.yaml     the debates go on after each answer
python scripts/desk.py --conflicts                                          labels on which annotators differ
"""

import asyncio
import csv
import sys
from argparse import REMAINDER, ArgumentParser
from pathlib import Path

from aiohttp import web

from moot.core.errors import UserError
from moot.desk.pages import HOST, Desk, make_app
from moot.desk.runner import Runner
from moot.desk.settling import conflicts

OPEN = """\
The desk is open, for people on this machine alone:

  {address}

Ctrl-C closes it. Whatever a page calls saved is in a file below data/.
"""


async def open_desk(command: list[str], port: int) -> None:
    """Serve the desk until the process is stopped."""
    desk = Desk(Path.cwd(), Runner(command, Path.cwd()))
    server = web.AppRunner(make_app(desk), access_log=None)
    await server.setup()
    try:
        site = web.TCPSite(server, HOST, port)
        await site.start()
        port = server.addresses[0][1]
        sys.stdout.write(OPEN.format(address=f"http://{HOST}:{port}/{desk.token}/"))
        sys.stdout.flush()
        await asyncio.Event().wait()
    finally:
        await server.cleanup()


def main() -> None:
    """Read the command line."""
    parser = ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--port", type=int, default=0, help="the port; by default any that is free")
    parser.add_argument("--conflicts", action="store_true", help="print labels on which annotators differ")
    parser.add_argument("command", nargs=REMAINDER, help="what goes on with the debates after an answer")
    given = parser.parse_args()
    if given.conflicts:
        writer = csv.writer(sys.stdout)
        writer.writerow(["item", "annotator", "label"])
        for item, labels in conflicts(Path("data/annotation_sheets"), Path("data/annotations")):
            writer.writerows((item, annotator, label) for annotator, label in sorted(labels.items()))
        return
    asyncio.run(open_desk(given.command, given.port))


if __name__ == "__main__":
    try:
        main()
    except (UserError, OSError) as fault:
        sys.exit(f"desk: {fault}")
    except KeyboardInterrupt:
        sys.exit(0)
