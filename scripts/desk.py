"""Open the desk: pages on which people take seats and label, on this or other machines.

python scripts/desk.py                                    answers wait for the next run
python scripts/desk.py snakemake --cores 2 debates        the debates continue after each answer
python scripts/desk.py --conflicts                        labels on which annotators differ

Options of the desk may be anywhere among Snakemake's options; docs/colleagues.md describes them.
"""

import asyncio
import csv
import socket
import ssl
import sys
from argparse import ArgumentParser, Namespace
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

from aiohttp import web
from yarl import URL

from moot.core.errors import UserError
from moot.desk.colleagues import Colleagues, load_tokens
from moot.desk.pages import HOST, Desk, make_app
from moot.desk.runner import Runner
from moot.desk.settling import conflicts
from moot.labels.sheet_names import key_file

OPEN_MESSAGE = """\
The desk is open, only for people on this machine:

  {address}

Ctrl-C closes it. All saved answers and labels are in files below data/.
"""
KEY_MESSAGE = """\
{key} has the experiment of each sheet. Do not show it to annotators.
"""
COLLEAGUES_MESSAGE = """\
The desk is open. Send each person their own link: it opens that person's seats.

{links}

Ctrl-C closes it; the links stay the same. All saved answers and labels are in files below data/.
"""


UNENCRYPTED = """\
others on the network could read every answer and the links to people's seats, because the \
connection would not be encrypted. Give a certificate (--cert FILE --key FILE). If a tunnel or a \
proxy encrypts the connection to this address, use --behind-tunnel --address https://..."""


async def open_desk(command: list[str], options: Namespace) -> None:
    """Serve the desk until the process is stopped."""
    folder, host, port = Path.cwd(), options.host or HOST, options.port
    certificate = open_certificate(options.cert, options.key)
    public_address(
        host, port, options.address, bool(certificate), options.behind_tunnel
    )  # before anything is opened
    listener = socket.create_server(
        (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET
    )
    port = listener.getsockname()[1]
    desk = Desk(folder, Runner(command, folder))
    message = OPEN_MESSAGE.format(address=f"http://{HOST}:{port}/{desk.token}/")
    if options.host or options.people or options.address or certificate or options.behind_tunnel:
        address = public_address(
            host, port, options.address, bool(certificate), options.behind_tunnel
        )
        names = [name for name in options.people.split(",") if name.strip()]
        colleagues = Colleagues(address, load_tokens(folder, names))
        desk = Desk(folder, desk.runner, "desk", colleagues)
        links = colleagues.links
        message = COLLEAGUES_MESSAGE.format(
            links="\n".join(f"  {name}  {link}" for name, link in links.items())
        )
    server = web.AppRunner(make_app(desk), access_log=None)
    await server.setup()
    try:
        await web.SockSite(server, listener, ssl_context=certificate).start()
        if (key := key_file(folder / "data" / "annotation_sheets")).exists():
            message += KEY_MESSAGE.format(key=key.relative_to(folder))
        sys.stdout.write(message)
        sys.stdout.flush()
        await asyncio.Event().wait()
    finally:
        await server.cleanup()


def public_address(host: str, port: int, address: str, is_https: bool, behind_tunnel: bool) -> URL:
    """Return the address at which colleagues reach a server that listens at `host`.

    Raises:
        UserError: the connection would not be encrypted, or the address is missing.
    """
    listen_address, public_url = _parse_addresses(host, address)
    if not (listen_address.is_loopback or is_https or behind_tunnel):
        raise UserError(f"--host {host}: {UNENCRYPTED}")
    if public_url is None and (listen_address.is_unspecified or behind_tunnel):
        raise UserError(
            "state the address at which colleagues reach the desk: --address"
            " https://desk.example.org"
        )
    if public_url is None:
        return URL.build(scheme="https" if is_https else "http", host=host, port=port)
    if public_url.scheme != "https" and (is_https or not listen_address.is_loopback):
        raise UserError(f"--address {address}: {UNENCRYPTED}")
    return public_url


def _parse_addresses(host: str, address: str) -> tuple[IPv4Address | IPv6Address, URL | None]:
    """Parse the IP address of a server, and the public address if there is one."""
    try:
        return ip_address(host), URL(address).origin() if address else None
    except ValueError as fault:
        raise UserError(
            f"{fault}. Expected --host 192.168.1.5 and --address https://desk.example.org"
        ) from None


def open_certificate(cert: Path | None, key: Path | None) -> ssl.SSLContext | None:
    """Return the TLS context of a certificate and its key; None without a certificate.

    Raises:
        UserError: one of the files is missing or cannot be used.
    """
    if cert is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(cert, key)
    except (OSError, ssl.SSLError) as fault:
        raise UserError(
            f"--cert {cert} --key {key}: {fault}. Expected a certificate (chain) and its key, PEM."
        ) from None
    return context


def main() -> None:
    """Read the command line and serve the desk.

    All arguments that are not the desk's form the command that continues the debates.
    """
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0], allow_abbrev=False)
    parser.add_argument("--host", help=f"the address of this machine to listen at; default: {HOST}")
    parser.add_argument("--port", type=int, default=0, help="the port; default: any free port")
    parser.add_argument(
        "--people", default="", help="the names of the people; default: all who have had a link"
    )
    parser.add_argument(
        "--address",
        default="",
        help="the address for browsers, such as https://desk.example.org",
    )
    parser.add_argument("--cert", type=Path, help="a certificate (chain) for https, PEM")
    parser.add_argument(
        "--key", type=Path, help="the certificate's key, PEM; default: it is in the file of --cert"
    )
    parser.add_argument(
        "--behind-tunnel",
        action="store_true",
        help="a tunnel or proxy encrypts the connection to the desk",
    )
    parser.add_argument(
        "--conflicts", action="store_true", help="print labels on which annotators differ"
    )
    options, command = parser.parse_known_args()
    if options.conflicts:
        writer = csv.writer(sys.stdout)
        writer.writerow(["item", "annotator", "label"])
        for item, labels in conflicts(Path("data/annotation_sheets"), Path("data/annotations")):
            writer.writerows(
                (item, annotator, label) for annotator, label in sorted(labels.items())
            )
        return
    asyncio.run(open_desk(command, options))


if __name__ == "__main__":
    try:
        main()
    except (UserError, OSError) as fault:
        sys.exit(f"desk: {fault}")
    except KeyboardInterrupt:
        sys.exit(0)
