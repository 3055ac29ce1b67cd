"""Fixtures for a browser: Playwright with the system's Chromium, and axe-core.

A skipped test states what is missing.
"""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser_pages import PHONE, WIDE
from patience import PATIENCE


@pytest.fixture(scope="module")  # Playwright's event loop would block the tests of other modules
def browser() -> Iterator[Any]:
    """The system's Chromium, driven by Playwright."""
    api = pytest.importorskip(
        "playwright.sync_api", reason="no Playwright: make env EXTRAS=browser"
    )
    names = ("chromium", "chromium-browser", "google-chrome")
    executable = next(filter(None, map(shutil.which, names)), None)
    if executable is None:
        pytest.skip(f"no browser: none of {', '.join(names)} is on the path (apt install chromium)")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture(params=[WIDE, PHONE], ids=["wide", "phone"])
def size(request: pytest.FixtureRequest) -> dict[str, int]:
    return request.param


def is_fault(message: Any) -> bool:
    """Return whether a console message is a fault of the page, not of a killed server."""
    return message.type == "error" and "net::ERR_CONNECTION" not in message.text


@pytest.fixture
def open_pages(browser: Any) -> Iterator[Any]:
    """Return a function that opens a page of a size; an error or a dialog fails the test."""
    contexts, faults = [], []

    def open_page(size: dict[str, int] = WIDE) -> Any:
        context = browser.new_context(viewport=size)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(1000 * PATIENCE)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on(
            "console", lambda message: faults.append(message.text) if is_fault(message) else None
        )
        page.on("dialog", lambda dialog: (faults.append(dialog.message), dialog.dismiss()))
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert faults == []


@pytest.fixture(scope="session")
def axe() -> str:
    """Return the code of axe-core from npm's global folder."""
    npm = shutil.which("npm")
    folder = (
        subprocess.run([npm, "root", "--global"], capture_output=True, text=True, check=True).stdout
        if npm
        else ""
    )
    code = Path(folder.strip(), "axe-core", "axe.min.js")
    if not folder or not code.is_file():
        pytest.skip("no axe-core: npm install --global axe-core")
    return code.read_text()
