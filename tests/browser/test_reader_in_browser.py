"""Test the reader in a real browser, opened from disk.

Slow: only this test detects a page of the reader that a browser cannot use.
"""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from browser_pages import PHONE, violations
from debates_to_read import HOSTILE, conclusion, debates_to_read, write_calls
from moot.core.artifacts import describe, write_rows
from moot.core.cases import WITHOUT_TEXT
from moot.report.reader import render_reader
from recorded_runs import recorded_study
from results_on_disk import case, experiment_view, prediction, utterance, write_results

pytestmark = pytest.mark.slow

MANY_DEBATES = 600
LIST_ITEMS = "#list li"
INVISIBLE = {"\u202e": "⟨U+202E⟩", "\u202c": "⟨U+202C⟩", "\x1b": "⟨U+001B⟩"}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("reader")
    path = folder / "courtroom.html"
    path.write_text(
        "".join(render_reader("courtroom", debates_to_read(folder / "results"), folder)),
        encoding="utf-8",
    )
    return path.as_uri()


def load_page(page: Any, address: str) -> Any:
    page.goto("about:blank")  # else a change of the fragment alone loads nothing
    page.goto(address)
    page.wait_for_selector("body[data-ready]", state="attached")
    return page


def shown_text(text: str) -> str:
    for sign, symbol in INVISIBLE.items():
        text = text.replace(sign, symbol)
    return text


def wait_for_count(page: Any, words: str) -> None:
    page.wait_for_function(
        "words => document.querySelector('#count').textContent === words", arg=words
    )


def test_debates_with_a_change_to_a_wrong_verdict_are_two_clicks_away(
    open_pages: Any, address: str
) -> None:
    page = load_page(open_pages(), address)
    wait_for_count(page, "12 debates")
    page.get_by_role("button", name="judge changed its mind").click()
    page.get_by_role("button", name="wrong", exact=False).first.click()
    wait_for_count(page, "4 of 12 debates")
    assert re.search(r"#\?show=changed(%2C|,)wrong$", page.url)
    assert load_page(open_pages(), page.url).locator(LIST_ITEMS).count() == 4, (
        "the address restores the filters"
    )


def test_filters_and_search_find_debates_and_have_addresses(open_pages: Any, address: str) -> None:
    page = load_page(open_pages(), address)
    page.get_by_role("button", name="models disagree").click()
    wait_for_count(page, "2 of 12 debates")
    page.get_by_label("Attribute").select_option("sex: male")
    wait_for_count(page, "0 of 12 debates")
    page.get_by_role("link", name="Clear search and filters").click()
    page.get_by_label("Model").select_option("large")
    wait_for_count(page, "4 of 12 debates")
    page.get_by_label("Order").select_option("most confident mistakes first")
    assert "one" in page.locator(LIST_ITEMS).first.inner_text()
    page.get_by_role("link", name="Clear search and filters").click()
    page.get_by_label("Search all text").first.fill('"answers in two" LARGE')
    wait_for_count(page, "1 of 12 debates")
    page.locator(LIST_ITEMS).first.click()
    page.wait_for_selector(".debate mark")
    assert {"answers in two", "large"} <= set(page.locator(".debate mark").all_inner_texts())
    page.get_by_label("Search all text").first.fill("temperature nowhere")
    wait_for_count(page, "0 of 12 debates")
    page.get_by_label("Search all text").first.fill('"raw reply 3"')
    wait_for_count(page, "0 of 12 debates")
    page.get_by_label("prompts and raw replies too").check()
    wait_for_count(page, "8 of 12 debates")


def test_a_search_counts_debates_without_texts(open_pages: Any, tmp_path: Path) -> None:
    runs = {}
    answers = {"answers": "", "shipped": ""}
    for name, text in {"spoken": "The prosecution opens.", **answers}.items():
        verdict = utterance(
            "one#0", 1, "judge", text, kind="verdict", prediction="no", confidence=75.0, parsed="{}"
        )
        outcome = prediction("one", "no", "no", confidence=75.0, probability=0.88)
        is_shipped = name == "shipped"
        view = experiment_view(models=("m",), dataset="nyu" if is_shipped else "toy")
        runs[name] = write_results(
            tmp_path / "results",
            [replace(case("one", "no"), text=WITHOUT_TEXT if name in answers else "Facts.")],
            {"m": [outcome]},
            {"m": [verdict]},
            experiment=name,
            config=replace(view, download_adds_words=is_shipped),
        )
        write_calls(tmp_path / "results", name, "m", [verdict])
    path = tmp_path / "page.html"
    path.write_text("".join(render_reader("courtroom", runs, tmp_path)), encoding="utf-8")
    page = load_page(open_pages(), path.as_uri())
    no_texts, download = page.locator("p.note", has_text="texts").all_inner_texts()
    assert no_texts.endswith(
        "none of their debates: answers (data set toy), shipped (data set nyu)."
    )
    assert "which moot does not ship: nyu. With “source: download”" in download
    page.get_by_label("Search all text").first.fill("prosecution")
    wait_for_count(page, "1 of 3 debates; 2 have no texts")
    page.locator(LIST_ITEMS).first.click()
    page.wait_for_selector(".ending")
    assert (
        "stated confidence 75 %, as a probability 88 %"
        in page.locator(".ending").first.inner_text()
    )


def test_a_debate_can_be_read_by_keyboard(open_pages: Any, address: str) -> None:
    page = load_page(open_pages(), f"{address}#trial/small/one/0")
    assert page.locator("h2").inner_text() == "one"
    assert page.locator(".turn").count() == 4 and page.locator("details.private[open]").count() == 0
    assert "only judge may read it" in page.locator("details.private summary").first.inner_text()
    assert (
        page.locator(".chart path title").first.text_content()
        == "Judge, turn 2: no, belief in yes 20 %"
    )
    page.keyboard.press("o")
    assert page.locator("details.private[open]").count() == 2
    page.keyboard.press("j")
    page.keyboard.press("c")
    page.wait_for_selector(".call pre")
    assert page.url.endswith("#trial/small/one/0/1?call")
    call_text = page.locator(".call").inner_text()
    assert "0.002" in call_text and "90" in call_text and "\n1.3\n" in call_text
    assert shown_text(HOSTILE) in page.locator(".call pre").nth(1).inner_text()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.querySelector('h2').textContent !== 'one'")
    assert "/three/0" in page.url or "/four/0" in page.url or "/two/0" in page.url
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("() => document.querySelector('h2').textContent === 'one'")
    page.keyboard.press("Escape")
    page.wait_for_selector("text=Debates on this page")
    page.go_back()
    page.wait_for_function("() => document.querySelector('h2').textContent === 'one'")


def test_short_addresses_and_two_debates_side_by_side(open_pages: Any, address: str) -> None:
    page = load_page(open_pages(), f"{address}#two/0/3")
    assert page.locator(".turn.here").get_attribute("data-turn") == "3"
    page.get_by_label("Side by side with").select_option(label="trial · large: yes")
    page.wait_for_selector(".panes.two")
    assert "with=trial%2Flarge%2Ftwo%2F0" in page.url
    second_page = load_page(open_pages(), page.url)
    assert [text.split(" · ")[1] for text in second_page.locator(".where").all_inner_texts()] == [
        "small",
        "large",
    ]
    page.get_by_label("Side by side with").select_option(label="nothing")
    page.wait_for_selector(".panes.two", state="detached")
    assert "with=" not in page.url
    missing = load_page(open_pages(), f"{address}#nowhere/1")
    assert "There is no debate nowhere/1" in missing.get_by_role("alert").inner_text()


def test_hostile_text_is_shown_literally(
    open_pages: Any, address: str, size: dict[str, int]
) -> None:
    page = load_page(open_pages(size), f"{address}#trial/small/one/0?q=%3C%2Fscript%3E")
    page.wait_for_selector(".debate mark")
    assert shown_text(HOSTILE) in page.locator(".turn .text").first.inner_text()
    assert page.evaluate(
        "[window.hacked, document.querySelectorAll('main img, main script').length]"
    ) == [None, 0]
    page = load_page(open_pages(), f"{address}#single/small/four/0")
    assert "UNKNOWN is no label" in page.locator(".notice").inner_text()
    hostile = load_page(
        open_pages(),
        f"{address}#%3Cimg%20src=x%20onerror=alert(1)%3E/1?q=<script>alert(1)</script>&show=alert",
    )
    assert "<img src=x onerror=alert(1)>" in hostile.get_by_role("alert").inner_text()


def test_the_page_can_be_used_by_everyone(
    open_pages: Any, address: str, axe: str, size: dict[str, int], tmp_path: Path
) -> None:
    page = open_pages(size)
    views = {
        "all": "",
        "debate": "#trial/small/one/0/2?call",
        "two": "#trial/small/two/0?with=trial/large/two/0",
    }
    for name, fragment in views.items():
        load_page(page, address + fragment)
        page.wait_for_timeout(200)
        page.screenshot(path=tmp_path / f"reader-{name}-{size['width']}.png", full_page=True)
        assert violations(page, axe) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
            "nothing is wider than the window"
        )


def test_a_printed_debate_includes_its_private_turns(
    open_pages: Any, address: str, tmp_path: Path
) -> None:
    page = load_page(open_pages(), f"{address}#trial/small/one/0")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert (
        not page.locator("nav").is_visible() and page.locator("details.private[open]").count() == 2
    )
    page.pdf(path=tmp_path / "reader.pdf")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details.private[open]").count() == 0


def test_of_many_debates_few_are_in_the_list_and_all_are_searched(
    open_pages: Any, tmp_path: Path
) -> None:
    names = [f"case-{number:04d}" for number in range(MANY_DEBATES // 2)]
    utterances, answers = [], []
    for name, repeat in product(names, (0, 1)):
        debate_id, text = f"{name}#{repeat}", f"Statement of {name}. " * 20
        utterances += [
            utterance(debate_id, 1, "expert", text, repeat=repeat),
            conclusion(debate_id, 2, "no") | {"repeat": repeat},
        ]
        answers.append(prediction(name, "no", "no", repeat=repeat))
    results = write_results(
        tmp_path, [case(name, "no") for name in names], {"tiny": answers}, {"tiny": utterances}
    )
    write_rows(tmp_path / "calls" / "toy-courtroom" / "tiny.parquet", "calls", [], describe())
    file = tmp_path / "many.html"
    file.write_text(
        "".join(render_reader("many", {"toy-courtroom": results}, tmp_path)), encoding="utf-8"
    )
    page = load_page(open_pages(PHONE), file.as_uri())
    wait_for_count(page, "600 debates")
    assert page.locator(LIST_ITEMS).count() < 40
    page.evaluate("document.querySelector('#scroll').scrollTop = 1e9")
    page.wait_for_selector("text=case-0299 #1")
    page.get_by_label("Search all text").first.fill('"statement of case-0121."')
    wait_for_count(page, "2 of 600 debates")


def test_debates_in_files_next_to_the_page_are_read_and_searched_from_the_disk(
    open_pages: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.report.reader.MOST_TURNS", 1)
    monkeypatch.setattr("moot.report.reader.MOST_CHARACTERS", 2000)
    parts, file = tmp_path / "courtroom_parts", tmp_path / "courtroom.html"
    parts.mkdir()
    file.write_text(
        "".join(render_reader("courtroom", debates_to_read(tmp_path), parts)), encoding="utf-8"
    )
    page = open_pages()
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(Path(request.url).stem))
    load_page(page, f"{file.as_uri()}#trial/small/one/0/1?call")
    page.wait_for_selector(".call pre")
    assert shown_text(HOSTILE) in page.locator(".turn .text").first.inner_text()
    loaded_before_search = len(loaded)
    page.get_by_label("Search all text").first.fill('"single ans"')
    wait_for_count(page, "3 of 12 debates")
    opened_by_search = {
        name for name in loaded[loaded_before_search:] if name.startswith("debates-")
    }
    assert "words" in loaded[loaded_before_search:] and len(opened_by_search) < len(
        list(parts.glob("debates-*"))
    )
    page.get_by_label("Search all text").first.fill("nowhere-to-be-found")
    wait_for_count(page, "0 of 12 debates")


def test_fast_key_presses_are_all_followed(open_pages: Any, address: str) -> None:
    page = load_page(open_pages(), f"{address}#trial/small/one/0")
    keys = (
        "for (const key of ['j', 'j', 'c']) document.body.dispatchEvent(new"
        " KeyboardEvent('keydown', {key, bubbles: true}))"
    )
    page.evaluate(f"() => {{ {keys} }}")
    page.wait_for_selector(".call pre")
    assert page.url.endswith("#trial/small/one/0/2?call")


def test_the_answers_of_a_group_are_shown_at_its_messages(
    open_pages: Any, axe: str, tmp_path: Path
) -> None:
    turns = [
        ("host", "Begin.", ""), ("Kim", "", "b"), ("Lee", "", "a"), ("Kim", "It is b.", ""),
        ("Lee", HOSTILE, ""), ("Lee", "", "b"),
    ]  # fmt: skip
    table = pd.DataFrame(turns, columns=["speaker", "text", "now"]).assign(debate="same")
    rows = table.to_dict("records")
    rows += [{**row, "debate": "apart"} for row in rows[:4]]
    pd.DataFrame(rows).to_csv(tmp_path / "chat.csv", index=False)
    dataset = {
        "loader": "transcripts",
        "path": str(tmp_path / "chat.csv"),
        "columns": {"answer": "now"},
        "truth": "b",
    }
    with ThreadPoolExecutor() as pool:  # Playwright's own loop runs in this thread
        study = pool.submit(
            recorded_study, tmp_path, dataset, {"talk": "debate"}, {"people": "recorded"}
        ).result()
    (tmp_path / "page.html").write_text(
        "".join(render_reader("talk", study.experiments, tmp_path)), encoding="utf-8"
    )
    page = load_page(open_pages(), (tmp_path / "page.html").as_uri())
    wait_for_count(page, "2 debates")
    page.get_by_role("button", name="judges disagree").click()
    wait_for_count(page, "1 of 2 debates")
    page.get_by_role("button", name="judges disagree").click()
    page.locator(LIST_ITEMS).filter(has_text="same").locator("a").click()
    page.wait_for_selector(".answers")
    answer_texts = page.locator(".answers").all_inner_texts()
    assert [" ".join(text.split()) for text in answer_texts] == [
        "Answers now Kim: b ✓ right Lee: a ✗ wrong", "Answers now Kim: b ✓ right Lee: b ✓ right",
        "Answers at the end Kim: b ✓ right Lee: b ✓ right",
    ]  # fmt: skip
    assert page.locator(".answers .changed").all_inner_texts()[-1].startswith("Lee: b")
    assert page.locator(".verdicts tr").all_inner_texts() == ["Kim\tb ✓ right", "Lee\tb ✓ right"]
    assert violations(page, axe) == []
