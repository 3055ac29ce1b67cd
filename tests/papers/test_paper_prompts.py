"""`snakemake prompts` finds passages of a paper, and texts of a program.

It finds passages by their letters, and texts in the program's syntax tree.
"""

import csv
import hashlib
import json
import re
import shutil
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from pypdf import PdfReader, PdfWriter

from messages import refusal
from moot.core.cases import Case
from moot.core.errors import UserError
from moot.llm.request import Request
from moot.papers.paper_prompts import DOWNLOAD, write_prompts
from moot.papers.paper_text import read_paper
from moot.papers.printed_passages import PaperText, letters_of
from moot.papers.wording import words_digest
from results_on_disk import REARREST
from scripted_model import PROJECT, hold
from small_pdf import small_pdf

TITLE = "The Harbour Panel: A Paper That No Author Wrote"
WORDS = {
    "first": (
        "You are 'Judge {judge}' of the harbour. Weigh the e\ufb03cient re-entry of ships, on a"
        " scale of 0-100, and say “stay” or “sail”."
    ),
    "second": "The labels are: {labels}. ONLY answer with one of them. The case: {background}",
}
PRINTED = {
    "first": WORDS["first"].replace("{judge}", "[x]"),
    "second": WORDS["second"]
    .replace("{labels}", '["Ship stays","Ship sails"]')
    .replace("{background}", "The brig Anna left port, and nobody saw her again."),
}
SLOTS = {
    "first": [("judge", "x")],
    "second": [("labels", "ShipstaysShipsails"), ("background", "")],
}
BODY = ["This paper is about ships and judges, and it has some text before its prompts."] * 4


def prompt_row(name: str, words: str, slots: list[tuple[str, str]]) -> dict[str, Any]:
    """A row of prompts.csv for words with slots, which the paper prints as other letters."""
    letters, printed_slots, position = "", [], 0
    for slot, printed in slots:
        start = words.index(f"{{{slot}}}")
        letters += letters_of(words[position:start])
        printed_slots.append(f"{slot}@{len(letters)}+{len(printed)}")
        letters, position = letters + printed, start + len(slot) + 2
    letters += letters_of(words[position:])
    return {
        "paper": "harbour",
        "section": f"appendix, {name} prompt",
        "protocol": "panel",
        "data": "ships",
        "file": f"words/{name}.txt",
        "slots": " ".join(slot for slot, _ in slots),
        "sha256": words_digest(words),
        "letters": len(letters),
        "letters_sha256": hashlib.sha256(letters.encode()).hexdigest(),
        "printed_slots": " ".join(printed_slots),
    }


ROWS = [prompt_row(name, WORDS[name], SLOTS[name]) for name in WORDS]


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    """A project with one paper that prints two prompts, one that prints none, and a program."""
    published = tmp_path / "shipped" / "data" / "published"
    write_rows(published / "prompts.csv", ROWS)
    code_rows = [
        {
            "paper": "harbour_code",
            "section": name,
            "protocol": "courtroom",
            "data": "ships",
            "file": f"words/{name}.txt",
            "sha256": words_digest(text),
            "url": "https://example.org/pinned/program.py",
        }
        for name, text in EXPECTED.items()
    ]
    write_rows(published / "prompts_code.csv", code_rows)
    empty = {"short": "", "source": "", "invalid": "", "studies": []}
    titles = {"harbour": TITLE, "mute": "A Paper Without a Prompt"}
    papers = {name: {**empty, "title": title} for name, title in titles.items()}
    items = yaml.safe_dump({"papers": papers, "items": {}})
    published.joinpath("items.yaml").write_text(items)
    template = tmp_path / "shipped/config/prompts_published/harbour/panel/panel/statement.jinja"
    template.parent.mkdir(parents=True)
    template.write_text('{% include "words/first.txt" %}')
    return tmp_path / "shipped"


def as_lines(text: str, width: int = 60, hyphen: str = "-") -> list[str]:
    """Lines of exactly this width, with a hyphen where a word is broken."""
    lines = []
    for start in range(0, len(text), width):
        line, following = text[start : start + width], text[start + width :]
        is_broken_word = line[-1].isalpha() and following[:1].isalpha()
        lines.append(line + (hyphen if is_broken_word else ""))
    return lines


def paper_lines(width: int = 60, hyphen: str = "-") -> list[str]:
    return [
        TITLE,
        *BODY,
        *as_lines(f"“{PRINTED['first']}”", width, hyphen),
        "And further:",
        *as_lines(PRINTED["second"], width, hyphen),
        *BODY,
    ]


def read_words(folder: Path, name: str) -> str:
    return (folder / "harbour" / "panel" / "words" / f"{name}.txt").read_text("utf-8")


def message_contents(request: Request) -> list[str]:
    """Return the contents of the messages of a request."""
    return [message.content for message in request.messages]


def check_words(folder: Path) -> None:
    for name, words in WORDS.items():
        assert words_digest(read_words(folder, name)) == words_digest(words), name


@pytest.mark.parametrize(
    ("kind", "width"),
    [
        *(("text", width) for width in (40, 200)),
        *((kind, 73) for kind in ("soft hyphen", "html", "pdf", "straight", "utf-16")),
    ],
)
def test_passages_are_found_in_each_form_of_a_paper(
    kind: str, width: int, shipped: Path, tmp_path: Path
) -> None:
    path, target = tmp_path / "paper", tmp_path / "out"
    lines = paper_lines(width, "\u00ad" if kind == "soft hyphen" else "-")
    if kind == "html":
        body = "".join(f"<p>{line.replace('&', '&amp;')}</p>\n" for line in paper_lines(9999))
        script = "<script>var first = 'You are Judge';</script>"
        path.write_text(f"<!DOCTYPE html><html><head>{script}</head><body>{body}</body></html>")
    elif kind == "pdf":
        plain_lines = [line.replace("\ufb03", "ffi") for line in lines]
        pages = [
            ["A running head", *plain_lines[start : start + 6], str(start)]
            for start in range(0, len(lines), 6)
        ]
        path.write_bytes(small_pdf(pages))
    elif kind == "straight":
        path.write_text(
            "\n".join(lines).replace("“", '"').replace("”", '"').replace("\ufb03", "ffi")
        )
    elif kind == "utf-16":
        path.write_bytes("\n".join(lines).encode("utf-16"))
    else:
        path.write_text("\n".join(lines), "utf-8")
    message = write_prompts(str(path), shipped, target)
    check_words(target)
    assert "(words/first.txt, words/second.txt)" in message
    assert (target / "harbour/panel/panel/statement.jinja").is_file()
    assert write_prompts(str(path), shipped, target) == message, "a second run changes nothing"


def test_a_sentence_of_a_passage_has_no_blank_line(shipped: Path, tmp_path: Path) -> None:
    """A PDF separates the lines of a sentence by blank lines at a page's end."""
    path, target = tmp_path / "paper", tmp_path / "out"
    text = "\n".join(paper_lines(999)).replace("of ships", "of\n \n\nships")
    path.write_text(text.replace("ONLY answer", "\n\nONLY answer"), "utf-8")
    write_prompts(str(path), shipped, target)
    check_words(target)
    assert "re-entry of\nships" in read_words(target, "first")
    assert "\n\nONLY answer" in read_words(target, "second"), "another sentence may be apart"


def test_a_passage_is_taken_from_where_its_punctuation_is_right() -> None:
    passage = {key: str(value) for key, value in ROWS[0].items()}
    misprint = PRINTED["first"].replace(",", ";")
    match = PaperText(f"{misprint}\n\n{PRINTED['first']}").find(passage)
    assert match is not None and match.is_exact
    assert words_digest(match.words) == words_digest(WORDS["first"])
    inexact = PaperText(misprint).find(passage)
    assert inexact is not None and not inexact.is_exact
    assert "{judge}" in inexact.words and ";" in inexact.words


def test_different_punctuation_is_reported(shipped: Path, tmp_path: Path) -> None:
    path = tmp_path / "paper.txt"
    path.write_text("\n".join(paper_lines(200)).replace("ONLY answer", "ONLY, answer"))
    message = write_prompts(str(path), shipped, tmp_path / "out")
    assert re.search(
        r"second\.txt: its letters match the paper, but its punctuation does not", message
    )
    assert "first.txt: the letters" not in message


@pytest.mark.parametrize(
    ("old", "new", "match", "missing"),
    [
        ("harbour. Weigh", "haven. Weigh", "words/second.txt", "words/first.txt"),
        ("ship", "vessel", "none", "words/first.txt"),
    ],
)
def test_a_version_with_other_words_says_which_passages_were_found(
    old: str, new: str, match: str, missing: str, shipped: Path, tmp_path: Path
) -> None:
    text = "\n".join(paper_lines(9999))
    changed = text.replace(old, new)
    if old == "ship":
        changed = re.sub("(?i)(?<=\\W)ship", "vessel", text)
    assert changed != text
    (tmp_path / "paper.txt").write_text(changed)
    with pytest.raises(UserError) as error:
        write_prompts(str(tmp_path / "paper.txt"), shipped, tmp_path / "out")
    message = str(error.value)
    assert re.search(
        rf"panel: found {match}; not found {missing} \(appendix, \w+ prompt\)", message
    )
    if match != "none":
        assert words_digest(read_words(tmp_path / "out", Path(match).stem))


def test_a_paper_without_prompts_is_reported(shipped: Path, tmp_path: Path) -> None:
    path = tmp_path / "paper.txt"
    path.write_text("A Paper\nWith\u00adout a Prompt\n" + "\n".join(BODY))
    message = write_prompts(str(path), shipped, tmp_path / "out")
    assert "The paper prints no prompts" in message
    assert not (tmp_path / "out").exists()


def encrypted_pdf() -> bytes:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(small_pdf([paper_lines()[:5]]))))
    writer.encrypt("secret", algorithm="RC4-128")
    content = BytesIO()
    writer.write(content)
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, r"no such file"),
        (encrypted_pdf(), r"the PDF is encrypted"),
        (small_pdf([[], [], []]), r"the PDF has no text \(3 pages, 0 letters\)"),
        (b"%PDF-1.7\nnothing of the kind", r"not a readable PDF"),
        (small_pdf([BODY])[:300], r"not a readable PDF|has no text"),
        (b"", r"empty"),
        (b"<html><body><p>short</p></body></html>", r"found 5 letters"),
        ("\n".join(BODY * 3).encode(), r"found no prompt and no title of a known paper"),
        (b"\x00\xff\xfe" * 300, r"byte 0xff is not UTF-8"),
    ],
)
def test_files_that_are_not_papers(
    content: bytes | None, expected: str, shipped: Path, tmp_path: Path
) -> None:
    path = tmp_path / "paper"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError, match=expected):
        write_prompts(str(path), shipped, tmp_path / "out")
    with pytest.raises(UserError, match="--config prompts_from=FILE"):
        write_prompts("", shipped, tmp_path)


def test_other_words_of_the_user_are_not_overwritten(shipped: Path, tmp_path: Path) -> None:
    words = tmp_path / "out/harbour/panel/words/first.txt"
    words.parent.mkdir(parents=True)
    words.write_text("My own words.")
    (tmp_path / "paper.txt").write_text("\n".join(paper_lines()))
    with refusal():
        write_prompts(str(tmp_path / "paper.txt"), shipped, tmp_path / "out")
    assert words.read_text() == "My own words."


def test_stray_tags_and_code_fences_of_a_text_are_not_words(tmp_path: Path) -> None:
    (tmp_path / "paper.txt").write_text(
        "<p>Ships</p> a < b <YES|NO>\n```yaml\nkey\n```\n" + "x " * 300
    )
    text = read_paper(tmp_path / "paper.txt")
    assert "Ships" in text and "<YES|NO>" in text and "a < b" in text
    assert "<p>" not in text and "yaml" not in text


# The program of a paper's authors

PROGRAM = (PROJECT / "tests/data/program_of_agents.txt").read_text(encoding="utf-8")
STATEMENT = """ROLE: {role} {persona}
{rules}
Facts: {summary} / {background}
Age {age}, arrests {arrests}
{history}
Points: {strategy}
{task}
{
    "content": "what you say"
}"""
EXPECTED = {
    "statement": STATEMENT,
    "persona_prosecutor": "You accuse.\n- Sternly",
    "persona_defense": "You defend.",
    "persona_judge": "You judge.",
    "rules": "1. Be brief\n2. Be fair",
    "strategy_prosecutor": "Count arrests\nName risks",
    "strategy_defense": "Name hopes",
    "task_first": "Open the case",
    "task_later": "Answer the case",
    "belief": "{summary} ({speaker}): {argument}\n{history}",
    "verdict": "{persona} {summary}\n{history}",
}


@pytest.mark.parametrize("source", ["file", "download"])
def test_the_texts_of_the_pinned_program_are_written_and_it_never_runs(
    source: str, shipped: Path, tmp_path: Path
) -> None:
    requests = []

    def fetch(url: str) -> bytes:
        requests.append(url)
        return PROGRAM.encode()

    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    name = DOWNLOAD if source == "download" else str(path)
    message = write_prompts(name, shipped, tmp_path / "out", fetch)
    url = "https://example.org/pinned/program.py"
    assert requests == ([url] if source == "download" else [])
    for file, text in EXPECTED.items():
        words = (tmp_path / "out/harbour_code/courtroom/words" / f"{file}.txt").read_text()
        assert words.strip() == text
    assert "harbour_code/courtroom" in message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("You defend.", "You attack."),
        ("({speaker})", "({speaker_name})"),
        ("class Manager:", "class Manager"),
    ],
)
def test_a_pinned_program_that_changed_is_an_error(
    old: str, new: str, shipped: Path, tmp_path: Path
) -> None:
    changed = PROGRAM.replace(old, new)
    assert changed != PROGRAM
    with refusal():
        write_prompts(DOWNLOAD, shipped, tmp_path / "out", lambda _: changed.encode())
    assert not (tmp_path / "out").exists()


def test_the_message_on_an_unavailable_program_gives_the_remedy(
    shipped: Path, tmp_path: Path
) -> None:
    def fetch(url: str) -> bytes:
        raise OSError("no route to host")

    with refusal():
        write_prompts(DOWNLOAD, shipped, tmp_path / "out", fetch)


async def test_the_templates_around_a_program_send_its_texts(tmp_path: Path) -> None:
    folder = tmp_path / "courtroom"
    shutil.copytree(
        PROJECT / "config/prompts_published/agenticsimlaw_code/courtroom",
        folder,
        ignore=shutil.ignore_patterns("words"),
    )
    (folder / "words").mkdir()
    for name, text in EXPECTED.items():
        (folder / "words" / f"{name}.txt").write_text(text)
    summary = "number of arrests so far is 2."
    everything = "sex is male; age is 22; number of arrests so far is 2."
    text = f"{summary}\n\n{everything}"
    case = Case("c1", "toy", "test", text, "yes", ("no", "yes"))

    def reply(request: Request) -> str:
        prompt = request.messages[-1].content
        if "what you say" in prompt:
            return "Two arrests." if "You accuse" in prompt else "A second chance."
        return json.dumps({"prediction": "YES", "confidence": 70, "content": "So it is."})

    answer, debate, model = await hold(
        "courtroom",
        case,
        REARREST,
        reply,
        wording=folder,
        strategy="none",
        beliefs="after_turn",
    )
    assert len(model.requests) == 13, "six statements, six opinions and a verdict"
    assert answer is not None and answer.prediction == "yes"
    beliefs = [item for item in debate.utterances if item.kind == "belief"]
    assert [item.prediction for item in beliefs] == ["yes"] * 6
    requests = [message_contents(request) for request in model.requests]
    system_prompt, first_prompt = requests[0]
    assert system_prompt == EXPECTED["persona_prosecutor"]
    facts = f"Facts: {summary} / {everything}"
    for text in (facts, "Age 22, arrests 2", "ROLE: Prosecutor You accuse.", "1. Be brief",
                 "Points: Count arrests\nName risks", "Open the case"):  # fmt: skip
        assert text in first_prompt
    assert "Two arrests" not in first_prompt
    assert requests[1][0] == "You judge."
    assert f"{summary} (Prosecutor): Two arrests." in requests[1][1], "judges read the summary"
    assert everything not in requests[1][1] + requests[-1][1]
    assert "ROLE: Defense Attorney You defend." in requests[2][1]
    rebuttal = requests[4][1]
    assert "Answer the case" in rebuttal and "Open the case" not in rebuttal
    assert "Prosecutor: Two arrests.\nDefense: A second chance." in rebuttal
    assert "You judge." in requests[-1][1]
    assert not re.search(r"\{[a-z]+\}", str(requests))
