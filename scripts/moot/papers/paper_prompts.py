"""`snakemake prompts --config prompts_from=FILE`: the papers' own prompts, from the user's copy.

The file is a paper, or AgenticSimLaw's published code.

moot may not ship a paper's words, but a user may have the paper. The passages of
`data/published/prompts.csv` are found in it by their digests, and written into a copy of the
templates of `config/prompts_published`.
"""

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path

from moot.core.durable import write_atomically
from moot.core.errors import UserError
from moot.core.text_files import read_text
from moot.datasets.download import fetch_url
from moot.papers.items import items_file, read_papers
from moot.papers.paper_text import read_paper
from moot.papers.printed_passages import PaperText, PassageText, letters_of
from moot.papers.wording import (
    CODE_TABLE,
    PUBLISHED,
    TEMPLATES,
    WORDS_TABLE,
    read_rows,
    words_digest,
)

DOWNLOAD = "download"
"""The value of `prompts_from` that fetches the pinned program of AgenticSimLaw's authors."""
_TITLE_LETTERS = 5000
"""A paper's title is within this number of letters."""
_CODE_TITLE = "AgenticSimLaw's published code"
SLOTS: Mapping[str, str] = {
    "agent.role": "role",
    "agent.persona": "persona",
    "self.judge.persona": "persona",
    "COURTROOM_RULES": "rules",
    "self.selected_case['ntop_text_summary']": "summary",
    "self.selected_case[NTOP_SUMMARY_COL]": "summary",
    "self.selected_case['all_text_summary']": "background",
    "self.selected_case['age']": "age",
    "self.selected_case['numberofarrestsby2002']": "arrests",
    "chr(10).join(self.debate_history)": "history",
    "chr(10).join(agent.strategy_points)": "strategy",
    "speaker": "speaker",
    "latest_argument": "argument",
}
"""The slot for each expression in the program's f-strings."""
TASK_SLOT = "task"
"""The slot for the choice between the tasks of the first turn and of later turns."""


def read_code_texts(source: str, where: str) -> dict[str, str]:
    """Return the texts of a program with slots, by the digest of their words.

    A list of texts is one text, with a line for each.

    Args:
        source: the program.
        where: its path or address, for messages.

    Raises:
        UserError: The program is not Python.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise UserError(f"{where}: not a Python program ({error}).") from None
    texts = filter(None, map(_text_of, ast.walk(tree)))
    return {words_digest(text): text for text in texts}


def _text_of(node: ast.AST) -> str:
    """Return the text of a syntax node; "" if it is neither a string nor an f-string."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(map(_text_of, parts))
        case ast.FormattedValue(value=ast.IfExp()):
            return f"{{{TASK_SLOT}}}"
        case ast.FormattedValue(value=expression):
            name = ast.unparse(expression)
            return f"{{{SLOTS.get(name, name)}}}"
        case ast.List(elts=elements):
            return "\n".join(map(_text_of, elements))
    return ""


@dataclass(slots=True)
class WrittenPrompts:
    """The prompts written into the folders of one paper.

    Attributes:
        title: of the paper.
        folders: by folder, the files of words that were found.
        missing: by folder, the passages that were not found, with their places in the paper.
        inexact: files whose letters are the paper's, with other punctuation.
    """

    title: str
    folders: dict[Path, list[str]] = field(default_factory=dict)
    missing: dict[Path, list[str]] = field(default_factory=dict)
    inexact: list[Path] = field(default_factory=list)


def write_prompts(
    source: str, shipped: Path, target: Path, fetch: Callable[[str], bytes] = fetch_url
) -> str:
    """Write the prompts of a paper or of the published code, and return a description.

    Args:
        source: the file; "download" for the pinned program.
        shipped: the project's folder.
        target: the folder of the copies, such as config/prompts_published.
        fetch: returns the bytes at an address; tests replace it.

    Raises:
        UserError: The file is not readable or not a known paper, has other words than the known
            version, or would replace a file with different words.
    """
    if not source:
        raise UserError(
            "prompts: no file is given. Name your copy of a paper (PDF, HTML or text), or the "
            f"program of AgenticSimLaw's authors (.py, or '{DOWNLOAD}'): --config "
            "prompts_from=FILE."
        )
    if source == DOWNLOAD or Path(source).suffix == ".py":
        rows = read_rows(shipped / PUBLISHED / CODE_TABLE)
        url = rows[0]["url"]
        texts = _read_program(source, url, fetch)
        missing_files = [row["file"] for row in rows if row["sha256"] not in texts]
        if missing_files:
            raise UserError(
                f"{source}: not found {', '.join(missing_files)}; expected the program at {url}."
                " Nothing is written. Get this version."
            )
        result = WrittenPrompts(_CODE_TITLE)
        for row in rows:
            words = texts[row["sha256"]].strip("\n") + "\n"
            _write_passage(result, row, PassageText(words, True), shipped, target)
        return _describe([result], source)
    paper = PaperText(read_paper(Path(source)))
    rows = read_rows(shipped / PUBLISHED / WORDS_TABLE)
    papers = read_papers(items_file(shipped)).values()
    titles = {paper.prompts: paper.title for paper in papers}
    beginning = paper.letters[:_TITLE_LETTERS].casefold()
    results = []
    for key, title in titles.items():
        result = WrittenPrompts(title)
        for row in rows:
            if row["paper"] == key:
                _write_passage(result, row, paper.find(row), shipped, target)
        if result.folders or letters_of(title).casefold() in beginning:
            results.append(result)
    if not results:
        title_list = "; ".join(titles.values())
        raise UserError(
            f"{source}: found no prompt and no title of a known paper ({len(paper.letters)}"
            f" letters were searched); expected one of: {title_list}."
        )
    return _describe(results, source)


def _write_passage(
    result: WrittenPrompts,
    row: Mapping[str, str],
    text: PassageText | None,
    shipped: Path,
    target: Path,
) -> None:
    """Write a passage with the templates around it, and add it to the result."""
    folder = Path(row["paper"]) / row["protocol"]
    if text is None:
        place = f"{row['file']} ({row['section']})"
        result.missing.setdefault(target / folder, []).append(place)
        return
    _copy_templates(shipped / TEMPLATES / folder, target / folder)
    _write_words(target / folder / row["file"], text.words)
    result.folders.setdefault(target / folder, []).append(row["file"])
    if not text.is_exact:
        result.inexact.append(target / folder / row["file"])


def _read_program(source: str, url: str, fetch: Callable[[str], bytes]) -> dict[str, str]:
    if source == DOWNLOAD:
        return read_code_texts(_fetch_program(url, fetch), url)
    return read_code_texts(read_text(Path(source), get=f"fetch it from {url}"), source)


def _fetch_program(url: str, fetch: Callable[[str], bytes]) -> str:
    try:
        return fetch(url).decode("utf-8")
    except (OSError, ValueError, HTTPException) as error:
        reason = str(getattr(error, "reason", "") or error) or type(error).__name__
        raise UserError(
            f"{url}: could not be downloaded ({reason}). Check the network, or fetch the file by"
            " hand and name it: --config prompts_from=FILE.py."
        ) from None


def _copy_templates(source: Path, target: Path) -> None:
    """Copy the templates around the words if the target does not have them."""
    for path in sorted(source.rglob("*.jinja")):
        copy = target / path.relative_to(source)
        if not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(copy, path.read_text(encoding="utf-8"))


def _write_words(path: Path, words: str) -> None:
    """Write a file of words; a file with the same words is not changed.

    Raises:
        UserError: The file has other words.
    """
    if path.exists():
        if words_digest(path.read_text(encoding="utf-8", errors="replace")) == words_digest(words):
            return
        raise UserError(
            f"{path}: found other words, which are not overwritten. Move the file away to write"
            " the paper's."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, words)


def _describe(results: Sequence[WrittenPrompts], source: str) -> str:
    """Describe what was written.

    Raises:
        UserError: A recognised paper lacks passages. The message lists the found and the missing
            ones.
    """
    lines: list[str] = []
    faults: list[str] = []
    for prompts in results:
        lines.append(f"{source}: {prompts.title}")
        if not prompts.folders and not prompts.missing:
            lines.append("  The paper prints no prompts, so its runs use moot's own wording.")
        for folder, files in prompts.folders.items():
            if folder not in prompts.missing:
                lines.append(f"  prompts: {folder.as_posix()}  ({', '.join(files)})")
        lines += [_warn_of_punctuation(path) for path in prompts.inexact]
        for folder, places in prompts.missing.items():
            file_list = ", ".join(prompts.folders.get(folder, [])) or "none"
            faults.append(f"{folder.as_posix()}: found {file_list}; not found {', '.join(places)}")
    text = "\n".join(lines)
    if faults:
        raise UserError(
            f"{text}\nThe file has other words than the known version: {'; '.join(faults)}. The"
            " found passages are written. Get the version that docs/papers.md names, or type the"
            " missing words (config/prompts_published/README.md)."
        )
    if any(prompts.folders for prompts in results):
        text += "\nName a folder in an experiment: `prompts: FOLDER`."
    return text + "\n"


def _warn_of_punctuation(path: Path) -> str:
    return (
        f"  {path.as_posix()}: its letters match the paper, but its punctuation does not. Compare "
        "it with the paper. Until then it counts as another wording."
    )
