"""Test downloads: checksums, archives, and that user files are never overwritten."""

import hashlib
import io
import re
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from pathlib import Path

import pandas as pd
import pytest

from messages import refusal
from moot.core.errors import UserError
from moot.datasets import LOADERS
from moot.datasets import download as download_module
from moot.datasets.download import (
    COLUMNS,
    download,
    fetch_url,
    matches,
    read_versions,
    write_record,
)

PROJECT = Path(__file__).resolve().parents[2]
CONTENT = b"id,answer\n1,yes\n"
SHA256 = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"
MAX_BYTES = 5_000_000
LONG = b"x" * (MAX_BYTES + 1)
GIT_BLOB = f"git:{hashlib.sha1(b'blob 16' + bytes(1) + CONTENT).hexdigest()}"


def zip_bytes(content: bytes, member: str = "inside/table.csv", declared_size: int = 0) -> bytes:
    """Return a zip file with one member, which can declare a wrong size."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, content)
        archive.infolist()[0].file_size = declared_size or len(content)
    return stream.getvalue()


class Server:
    """A local web server that records the requested paths."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes] = {}
        self.content_lengths: dict[str, int] = {}
        self.requested_paths: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.requested_paths.append(self.path)
                content = outer.pages.get(self.path, b"")
                self.send_response(200 if self.path in outer.pages else 404)
                if self.path in outer.content_lengths:
                    self.send_header("Content-Length", str(outer.content_lengths[self.path]))
                self.end_headers()
                self.wfile.write(content)

            # The base class has the parameter `format`.
            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def server() -> Iterator[Server]:
    web_server = Server()
    thread = threading.Thread(target=web_server.server.serve_forever, daemon=True)
    thread.start()
    yield web_server
    web_server.server.shutdown()
    web_server.server.server_close()


def write_versions(folder: Path, *rows: str) -> Path:
    path = folder / "versions.csv"
    path.write_text("\n".join([",".join(COLUMNS), *rows]) + "\n")
    return path


def version_row(
    server: Server, page: str, checksum: str = SHA256, role: str = "primary", member: str = ""
) -> str:
    return f"mine,mine/table.csv,{role},{server.url}{page},{checksum},{member},free,a table"


@pytest.mark.parametrize("checksum", [SHA256, GIT_BLOB])
def test_a_file_is_fetched_checked_and_not_fetched_again(
    server: Server, tmp_path: Path, checksum: str
) -> None:
    server.pages["/a"] = CONTENT
    version_list = write_versions(tmp_path, version_row(server, "/a", checksum))
    (fetched,) = download("mine", tmp_path / "raw", version_list)
    assert fetched.path.read_bytes() == CONTENT
    assert fetched.url == f"{server.url}/a"
    assert f"sha256:{fetched.sha256}" == SHA256
    write_record(tmp_path / "record.csv", [fetched])
    assert (tmp_path / "record.csv").read_text().splitlines()[0] == "path,url,sha256"
    (second_result,) = download("mine", tmp_path / "raw", version_list)
    assert second_result == fetched
    assert server.requested_paths == ["/a"]
    names = sorted(path.name for path in fetched.path.parent.iterdir())
    assert names == ["table.csv", "table.csv.url"]


def test_a_file_that_the_user_put_there_has_no_address(server: Server, tmp_path: Path) -> None:
    version_list = write_versions(tmp_path, version_row(server, "/a"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "table.csv").write_bytes(CONTENT)
    assert download("mine", tmp_path, version_list)[0].url == ""
    assert server.requested_paths == []


def test_the_archive_is_requested_when_the_primary_fails_or_serves_other_content(
    server: Server, tmp_path: Path
) -> None:
    server.pages["/archive"] = CONTENT
    version_list = write_versions(
        tmp_path, version_row(server, "/primary"), version_row(server, "/archive", role="archive")
    )
    (fetched,) = download("mine", tmp_path / "one", version_list)
    assert fetched.url.endswith("/archive")
    server.pages["/primary"] = CONTENT[:-3]  # cut short
    (fetched,) = download("mine", tmp_path / "two", version_list)
    assert fetched.url.endswith("/archive")
    assert server.requested_paths == ["/primary", "/archive"] * 2


def test_wrong_content_from_all_addresses_is_reported_and_not_stored(
    server: Server, tmp_path: Path
) -> None:
    server.pages["/primary"] = b"<html>log in</html>"
    version_list = write_versions(
        tmp_path, version_row(server, "/primary"), version_row(server, "/archive", role="archive")
    )
    with pytest.raises(UserError, match="could not be downloaded") as raised:
        download("mine", tmp_path / "raw", version_list)
    message = str(raised.value)
    assert "/primary: found other content (sha256 " in message
    assert "/archive: the server answered 404" in message
    assert "by hand" in message
    assert "\n" not in message
    assert not (tmp_path / "raw").exists()


def test_a_file_of_the_user_is_never_overwritten(server: Server, tmp_path: Path) -> None:
    server.pages["/a"] = CONTENT
    user_file = tmp_path / "mine" / "table.csv"
    user_file.parent.mkdir()
    user_file.write_text("id,answer\n1,no\n")
    with refusal():
        download("mine", tmp_path, write_versions(tmp_path, version_row(server, "/a")))
    assert user_file.read_text() == "id,answer\n1,no\n"
    with refusal():
        download("mine", tmp_path, write_versions(tmp_path, version_row(server, "/a", checksum="")))
    assert server.requested_paths == []


def test_without_a_published_checksum_the_first_download_sets_it(
    server: Server, tmp_path: Path
) -> None:
    server.pages["/z.zip"] = zip_bytes(CONTENT)
    version_list = write_versions(
        tmp_path, version_row(server, "/z.zip", checksum="", member="inside/table.csv")
    )
    (fetched,) = download("mine", tmp_path, version_list)
    assert fetched.path.read_bytes() == CONTENT
    record = fetched.path.with_name("table.csv.sha256")
    assert record.read_text() == f"{fetched.sha256}  table.csv\n"
    assert download("mine", tmp_path, version_list) == [fetched]
    fetched.path.unlink()
    assert download("mine", tmp_path, version_list)[0].url.endswith("/z.zip")
    fetched.path.unlink()
    server.pages["/z.zip"] = zip_bytes(CONTENT + b"3,no\n")
    with refusal():
        download("mine", tmp_path, version_list)
    assert not fetched.path.exists()
    fetched.path.write_bytes(CONTENT + b"2,no\n")
    with refusal():
        download("mine", tmp_path, version_list)


@pytest.mark.parametrize(
    "make_page",
    [
        lambda: b"no zip",
        lambda: zip_bytes(CONTENT, "other.csv"),
        lambda: zip_bytes(b"  \n"),
        lambda: zip_bytes(LONG),
        lambda: zip_bytes(LONG, declared_size=3_000_000),
        lambda: zip_bytes(CONTENT)[:-9],
    ],
)
def test_a_faulty_zip_file_is_refused(
    server: Server,
    tmp_path: Path,
    make_page: Callable[[], bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(download_module, "_MAX_BYTES", MAX_BYTES)
    server.pages["/z.zip"] = make_page()
    with refusal():
        download(
            "mine",
            tmp_path,
            write_versions(
                tmp_path, version_row(server, "/z.zip", checksum="", member="inside/table.csv")
            ),
        )


def test_an_incomplete_download_is_discarded(server: Server, tmp_path: Path) -> None:
    version_list = write_versions(tmp_path, f"mine,t.csv,primary,{server.url}/t.csv,,,,")
    server.pages["/t.csv"], server.content_lengths["/t.csv"] = CONTENT[:5], len(CONTENT)
    with refusal():
        download("mine", tmp_path / "raw", version_list)
    assert not list((tmp_path / "raw").rglob("*.*"))


def test_unreachable_and_unusable_addresses_are_named(tmp_path: Path) -> None:
    version_list = write_versions(
        tmp_path,
        "mine,t.csv,primary,http://127.0.0.1:9/a,,,,",
        "mine,t.csv,archive,file:///etc/hostname,,,,",
    )
    with pytest.raises(
        UserError, match=r"127.0.0.1:9/a: .*refused.*; file:///etc/hostname: not an http address"
    ):
        download("mine", tmp_path, version_list)
    with pytest.raises(ValueError, match="not an http address"):
        fetch_url("ftp://example.org/a")


@pytest.mark.parametrize(
    "line",
    [
        "mine,../table.csv,primary,http://x,,,,",
        "mine,/table.csv,primary,http://x,,,,",
        "mine,t.csv,mirror,http://x,,,,",
        "mine,,primary,http://x,,,,choose by hand",
        "yours,t.csv,primary,http://x,,,,",
    ],
)
def test_a_faulty_list_of_versions_is_refused(tmp_path: Path, line: str) -> None:
    with refusal():
        download("mine", tmp_path, write_versions(tmp_path, line))


def test_an_unsupported_kind_of_checksum_is_refused() -> None:
    with refusal():
        matches(CONTENT, "md5:1234")


def test_the_shipped_list_names_a_pinned_address_and_an_archive_for_every_file() -> None:
    version_list = read_versions(PROJECT / "data" / "versions.csv")
    assert set(version_list) - {"opinions"} <= set(LOADERS)
    assert (
        pd.read_csv(PROJECT / "data" / "versions.csv")
        .query("role == 'primary'")["licence"]
        .notna()
        .all()
    )
    for files in version_list.values():
        for file in files:
            if not file.path:
                continue
            primary, archive = file.addresses
            assert primary.checksum == archive.checksum
            if primary.checksum:
                kind, digest = primary.checksum.split(":")
                assert len(digest) == {"sha256": 64, "git": 40}[kind]
                assert digest in archive.url
            if "github" in primary.url:
                assert re.search(r"/[0-9a-f]{40}(/|\.zip$)", primary.url), (
                    "a commit pins the content"
                )
                assert primary.checksum or primary.url.endswith(".zip"), (
                    "GitHub packs an archive for each download"
                )


def test_unchanged_files_in_shared_data_match_their_checksums(shared_data: Path) -> None:
    version_list = read_versions(PROJECT / "data" / "versions.csv")
    for path in (
        "nlsy97/nlsy97_full.csv",
        "caselaw/trial_prediction.jsonl",
    ):
        listed_files = chain.from_iterable(version_list.values())
        (file,) = (file for file in listed_files if file.path == path)
        assert matches((shared_data / path).read_bytes(), file.addresses[0].checksum)


@pytest.mark.parametrize(("loader", "files"), [("agenticsimlaw", 8), ("nyu_debates", 632)])
def test_published_records_match_their_checksums(
    loader: str, files: int, shared_data: Path
) -> None:
    version_list = read_versions(PROJECT / "data" / "versions.csv")[loader]
    local_files = [file for file in version_list if (shared_data / file.path).exists()]
    assert len(version_list) == files
    assert len(local_files) > files / 2
    for file in local_files:
        assert matches((shared_data / file.path).read_bytes(), file.addresses[0].checksum), (
            file.path
        )
