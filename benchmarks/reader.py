"""Measure the reader's page of many debates: its size, its start, and the delay of a search.

    python benchmarks/run.py reader.py 10000     debates of nine turns and their calls

The script needs the extra `browser`.
"""

import json
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from debates_to_read import belief, call, conclusion, speech
from moot.core.artifacts import describe, write_rows
from moot.report.reader import render_reader
from results_on_disk import case, prediction, write_results

DEBATES, SPEECHES, WORDS = 10_000, 6, 100
VOCABULARY = [
    "".join(random.Random(number).choices("aeinorstldu", k=3 + number % 7))
    for number in range(5000)
]


def write_page(folder: Path, debates: int) -> Path:
    """Write a page of a number of invented courtroom debates."""
    draw = random.Random(1)
    names = [f"case-{number:05d}" for number in range(debates)]
    utterances: list[dict[str, Any]] = []
    for name in names:
        debate, turn = f"{name}#0", 0
        for number in range(SPEECHES):
            words = " ".join(draw.choices(VOCABULARY, k=WORDS))
            utterances.append(
                speech(debate, turn := turn + 1, ("prosecutor", "defense")[number % 2], words)
            )
            if number % 2:
                utterances.append(belief(debate, turn := turn + 1, draw.choice(("yes", "no"))))
        utterances.append(conclusion(debate, turn + 1, draw.choice(("yes", "no"))))
    answers = [prediction(name, "no", draw.choice(("yes", "no"))) for name in names]
    results = write_results(
        folder, [case(name, "no") for name in names], {"tiny": answers}, {"tiny": utterances}
    )
    rows = (
        _call(row, utterances[:place][-SPEECHES:])
        for place, row in enumerate(utterances)
        if row["call_id"]
    )
    write_rows(folder / "calls" / "toy-courtroom" / "tiny.parquet", "calls", rows, describe())
    page = folder / "many.html"
    with page.open("w", encoding="utf-8") as file:
        file.writelines(render_reader("many", {"toy-courtroom": results}, folder))
    return page


def _call(row: dict[str, Any], earlier_rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the call of a turn, whose prompt contains the earlier statements."""
    earlier_texts = [
        earlier["text"] for earlier in earlier_rows if earlier["debate_id"] == row["debate_id"]
    ]
    request = {
        "messages": [["system", "Rules."], ["user", "\n".join(earlier_texts)]],
        "model": "tiny",
        "parameters": {},
    }
    return {**call(row, "tiny"), "request": json.dumps(request), "reply": row["text"]}


def look(page: Any, address: str) -> dict[str, float]:
    """Open the page and search in it, and return milliseconds.

    They are the time until the page can be used, that of the search, and its longest delay.
    """
    page.goto(address)
    page.wait_for_selector("body[data-ready]", state="attached")
    ready = float(page.locator("body").get_attribute("data-ready"))
    page.evaluate(
        "() => { window.longest = 0; new PerformanceObserver((list) => { for (const task of"
        " list.getEntries()) window.longest = Math.max(window.longest, task.duration); }).observe({"
        " entryTypes: ['longtask'] }); }"
    )
    began = time.perf_counter()
    page.get_by_label("Search all text").first.fill('"words that nobody said"')
    page.wait_for_function(
        "() => document.querySelector('#count').textContent.startsWith('0 of')", timeout=120_000
    )
    return {
        "ready_ms": ready,
        "search_ms": 1000 * (time.perf_counter() - began),
        "longest_ms": float(page.evaluate("window.longest")),
    }


def measure(folder: Path, debates: int) -> str:
    """Return one line with the measurements; without a browser, only of the page's size."""
    began = time.process_time()
    page = write_page(folder, debates)
    line = (
        f"reader: {debates:,} debates, {page.stat().st_size / 1e6:.1f} MB,"
        f" {time.process_time() - began:.1f} s to write"
    )
    chromium = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    try:
        from playwright.sync_api import sync_playwright  # an extra
    except ImportError:
        chromium = None
    if chromium is None:
        return f"{line}; no browser: make env EXTRAS=browser"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        timings = look(browser.new_page(), page.as_uri())
        browser.close()
    return line + "".join(f", {name} {value:.0f}" for name, value in timings.items())


def main() -> None:
    """Measure a page of the given size."""
    with tempfile.TemporaryDirectory() as folder:
        print(measure(Path(folder), int(sys.argv[1]) if len(sys.argv) > 1 else DEBATES))


if __name__ == "__main__":
    main()
