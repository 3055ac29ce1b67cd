"""Test a listening desk with several people: access, separation and refusals."""

import http.client
import json
import re
import socket
import ssl
import stat
import subprocess
import sys
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import forks
from at_the_desk import SHEET, write_sheet
from certificates import self_signed
from fault_server import FaultServer
from people_in_debates import answer_file, hold, open_questions, plan_debates
from project_copy import PROJECT

SCRIPT = PROJECT / "scripts" / "desk.py"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    return self_signed(tmp_path_factory.mktemp("certificate"))


class OpenDesk:
    """A desk in its own process, and the links that it printed."""

    def __init__(self, *options: str) -> None:
        command = [sys.executable, str(SCRIPT), *options]
        self.process: Any = subprocess.Popen(
            command,
            text=True,
            encoding="utf-8",
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.links: dict[str, str] = {}
        for line in self.process.stdout:
            if line.startswith("Ctrl-C"):
                return
            if "://" in line and len(line.split()) == 2:
                self.links.update([line.split()])
        raise AssertionError(self.process.stderr.read())

    def token(self, name: str) -> str:
        return self.links[name].partition("#")[2]


@pytest.fixture
def desks() -> Iterator[Any]:
    open_desks: list[OpenDesk] = []

    def open_desk(*options: str) -> OpenDesk:
        open_desks.append(OpenDesk(*options))
        return open_desks[-1]

    yield open_desk
    for desk in open_desks:
        desk.process.kill()
        desk.process.communicate()


class Browser:
    """The requests of a browser to one address, with its cookie."""

    def __init__(self, link: str, port: int | None = None, cert: str = "") -> None:
        self.url = urllib.parse.urlsplit(link)
        self.port = port or self.url.port
        self.cert, self.cookie = cert, ""
        self.origin = f"{self.url.scheme}://{self.url.netloc}"

    def ask(
        self, path: str, method: str = "GET", body: str = "", **headers: str
    ) -> tuple[int, str, Any]:
        if self.cert:
            context = ssl.create_default_context(cafile=self.cert)
            line: Any = http.client.HTTPSConnection("127.0.0.1", self.port, context=context)
        else:
            line = http.client.HTTPConnection("127.0.0.1", self.port)
        request_headers = {
            "Host": self.url.netloc,
            **({"Cookie": self.cookie} if self.cookie else {}),
        }
        request_headers |= ({"Origin": self.origin, **FORM} if method == "POST" else {}) | headers
        line.request(
            method,
            path,
            body.encode(),
            {name: value for name, value in request_headers.items() if value},
        )
        answer = line.getresponse()
        text = answer.read().decode()
        line.close()
        return answer.status, text, answer

    def send(self, path: str, fields: dict[str, str], **headers: str) -> tuple[int, str, Any]:
        return self.ask(path, "POST", urllib.parse.urlencode(fields), **headers)

    def enter(self, token: str) -> str:
        status, text, answer = self.send("/desk/enter", {"token": token})
        assert status == 303, text
        assert answer.headers["Location"] == "/desk/"
        cookie_header = answer.headers["Set-Cookie"]
        self.cookie = cookie_header.partition(";")[0]
        return cookie_header


def test_two_colleagues_take_different_seats_over_https(
    server: FaultServer, desks: Any, folder: Path, certificate: tuple[str, str]
) -> None:
    seats = {"participant_1": "person:Жанна", "participant_2": "person:李"}
    hold(
        plan_debates(
            server.url,
            "conference",
            seats,
            dataset="conference",
            params={"rounds": 1, "evaluator": False},
        )
    )
    write_sheet(folder, 2)
    cert, key = certificate
    desk = desks("--people", "Жанна,李", "--cert", cert, "--key", key)
    assert list(desk.links) == ["жанна", "李"] and all(
        link.startswith("https://") for link in desk.links.values()
    )
    tokens = folder / "data" / "desk-tokens.json"
    assert stat.S_IMODE(tokens.stat().st_mode) == 0o600
    browsers = {name: Browser(link, cert=cert) for name, link in desk.links.items()}
    for name, browser in browsers.items():
        cookie_header = browser.enter(desk.token(name))
        assert all(
            part in cookie_header
            for part in ("__Host-desk-", "HttpOnly", "Secure", "SameSite=Strict", "Path=/")
        )
    first, second = browsers.values()
    [question] = open_questions()
    status, _, seat_response = first.ask("/desk/seat")
    page = seat_response.headers["Location"]
    assert status == 303 and "You are participant 1" in first.ask(page)[1]
    assert second.ask(page)[0] == 400 and "participant 1" not in second.ask(page)[1], (
        "a page never shows another person's seat"
    )
    assert "No question is open" in second.ask(f"/desk/seat?as={urllib.parse.quote('жанна')}")[1]
    [seen_digest] = re.findall(r'name="seen" value="(\w+)"', first.ask(page)[1])
    fields = {"seen": seen_digest, "statement": "I am for it."}
    assert second.send(page, fields)[0] == 400 and not answer_file(question).exists()
    assert first.send(page, fields)[0] == 303 and answer_file(question).exists()

    status, _, label_response = second.send("/desk/label", {"sheet": SHEET, "annotator": "жанна"})
    address = label_response.headers["Location"]
    assert urllib.parse.unquote(address) == f"/desk/label/{SHEET}/李", "the sent name is ignored"
    [item] = re.findall(r'name="item" value="([^"]+)"', second.ask(address)[1])
    other_address = f"/desk/label/{SHEET}/{urllib.parse.quote('жанна')}"
    for number, path in enumerate((address, other_address)):
        second.send(path, {"item": item, "label": ("AFFIRM", "REVERSE")[number]})
    annotations = {
        path.name: path.read_text() for path in (folder / "data" / "annotations").glob("*.csv")
    }
    assert (
        list(annotations) == [f"desk-{SHEET}-李.csv"]
        and f"{item},AFFIRM,李" in annotations[f"desk-{SHEET}-李.csv"]
    )


def test_strangers_and_other_sites_are_refused(
    server: FaultServer, desks: Any, folder: Path
) -> None:
    hold(plan_debates(server.url, "courtroom", {"judge": "person"}))
    desk = desks("--people", "ann,bob")
    ann, stranger = Browser(desk.links["ann"]), Browser(desk.links["ann"])
    cookie_header = ann.enter(desk.token("ann"))
    assert "HttpOnly" in cookie_header and "Secure" not in cookie_header, (
        "browsers do not return secure cookies over http"
    )
    assert ann.ask("/desk/")[0] == 200 and "Take the seat" in ann.ask("/desk/")[1]
    status, _, seat_response = ann.ask("/desk/seat")
    page = seat_response.headers["Location"]
    for path in ("/desk/", "/desk/seat", page, f"/desk/label/{SHEET}/ann"):
        status, text, answer = stranger.ask(path)
        assert status == 403 and "You need a link" in text and "arrest" not in text
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    for path in ("/", f"/{desk.token('ann')}/", "/Desk/"):
        assert ann.ask(path)[0] == 404
    for token in ("", "x", desk.token("ann")[:-1], desk.token("ann") + "x", "é"):
        assert stranger.send("/desk/enter", {"token": token})[0] == 403
        stranger.cookie = ann.cookie.partition("=")[0] + "=" + token.encode().decode("latin-1")
        assert stranger.ask("/desk/")[0] == 403
    stranger.cookie = ann.cookie + "\xff"
    assert stranger.ask("/desk/")[0] == 403
    stranger.cookie = ""
    assert ann.ask("/%ff/")[0] == 404
    assert stranger.send(page, {"seen": "x", "statement": "Mine."})[0] == 403
    for host in ("evil.example", "localhost", "127.0.0.1", f"evil.example:{ann.port}"):
        assert ann.ask("/desk/", Host=host)[0] == 404
    for origin in ("http://evil.example", f"https://{ann.url.netloc}", "null", ""):
        assert ann.send(page, {"seen": "x"}, Origin=origin)[0] == 403
    assert ann.ask(page, "POST", "statement=" + "x" * 30_000_000)[0] in (400, 413)
    assert ann.send(page, {"seen": "x"}, **{"Content-Type": "text/plain"})[0] == 400
    assert not list((folder / "data").rglob("*.txt"))
    desk.process.terminate()
    file_texts = "\n".join(
        path.read_text(errors="replace") for path in (folder / "data").rglob("*") if path.is_file()
    )
    printed = "".join(desk.process.communicate())
    assert file_texts.count(desk.token("ann")) == 1 and desk.token("ann") not in printed


def test_links_are_permanent_and_only_for_the_named_people(desks: Any, folder: Path) -> None:
    first = desks("--people", "ann,bob")
    assert desks().links == {}, "a desk without colleagues prints no links"
    assert desks("--people", "ann").token("ann") == first.token("ann")
    desk = desks("--host", "127.0.0.1")
    assert {name: desk.token(name) for name in desk.links} == {
        name: first.token(name) for name in ("ann", "bob")
    }
    second_desk = desks("--people", "ann")
    bob = Browser(second_desk.links["ann"])
    assert bob.send("/desk/enter", {"token": first.token("bob")})[0] == 403, (
        "a person who is no longer named has no access"
    )


def test_a_desk_behind_a_tunnel_uses_its_public_address(desks: Any) -> None:
    desk = desks(
        "--people",
        "ann",
        "--behind-tunnel",
        "--address",
        "https://Desk.Example.org:443",
        "--port",
        "0",
    )
    assert desk.links["ann"].startswith("https://desk.example.org/desk/#")
    port = listening_port(desk.process.pid)
    ann = Browser(desk.links["ann"], port)
    assert "Secure" in ann.enter(desk.token("ann")) and ann.ask("/desk/")[0] == 200
    assert ann.ask("/desk/", Host=f"127.0.0.1:{port}")[0] == 404
    assert ann.send("/desk/label", {}, Origin=f"http://127.0.0.1:{port}")[0] == 403


def listening_port(process: int) -> int:
    inodes = {
        str(link.readlink()) for link in Path(f"/proc/{process}/fd").iterdir() if link.is_symlink()
    }
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    [port] = [
        int(row[1].rpartition(":")[2], 16)
        for row in rows
        if f"socket:[{row[9]}]" in inodes and row[3] == "0A"
    ]
    return port


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--host", "0.0.0.0"], "others on the network could read every answer"),
        (["--host", "0.0.0.0", "--behind-tunnel"], "the address at which colleagues reach"),
        (
            ["--host", "0.0.0.0", "--behind-tunnel", "--address", "http://desk.example.org"],
            "others on the network could read every answer",
        ),
        (["--host", "desk"], "'desk' does not appear to be"),
        (["--host", "127.0.0.1"], "no person is named"),
        (["--people", "../ann"], "cannot be a name"),
        (["--people", "ann", "--cert", "none.pem"], "none.pem"),
        (["--people", "ann", "--address", "desk.example.org"], "--address"),
    ],
)
def test_unencrypted_access_and_invalid_options_are_refused_with_the_reason(
    options: list[str], message: str, tmp_path: Path
) -> None:
    process = forks.run(SCRIPT, *options, cwd=tmp_path, project=PROJECT)
    assert process.returncode == 1
    assert process.stdout.startswith("desk: ") and message in process.stdout
    assert "Traceback" not in process.stdout and "://127" not in process.stdout


def test_options_of_the_desk_can_be_mixed_with_the_command(desks: Any, folder: Path) -> None:
    program = "import sys, pathlib; pathlib.Path('arguments').write_text(' '.join(sys.argv[1:]))"
    desk = desks(
        sys.executable,
        "-c",
        program,
        "--cores",
        "2",
        "--people",
        "ann",
        "--configfile",
        "my.yaml",
        "--port",
        "0",
    )
    while not (folder / "arguments").exists() or not (folder / "arguments").read_text():
        assert desk.process.poll() is None
    assert (folder / "arguments").read_text() == "--cores 2 --configfile my.yaml" and list(
        desk.links
    ) == ["ann"]
    assert json.loads((folder / "data" / "desk-tokens.json").read_text()).keys() == {"ann"}


def test_a_port_in_use_is_reported(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        process = subprocess.run(
            [sys.executable, str(SCRIPT), "--port", port],
            capture_output=True,
            text=True,
            check=False,
        )
    assert (
        process.returncode == 1
        and "Address already in use" in process.stderr
        and "Traceback" not in process.stderr
    )
