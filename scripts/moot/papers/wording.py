"""The wording of an experiment's prompts: the paper's, moot's own, or another.

moot may not ship the words of papers. `data/published/prompts.csv` has the sha256 of each printed
prompt, and `config/prompts_published` has the templates around them. `snakemake prompts` fills
these with the words of a paper that the user has. `prompts_code.csv` has the same for the prompts
of AgenticSimLaw's published code.
"""

import csv
import hashlib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from moot.core.shipped_files import prompt_folders
from moot.llm.prompts import Prompts

PAPER_WORDING, CODE_WORDING = "the paper's wording", "the authors' code's wording"
MOOT_WORDING, OTHER_WORDING = "moot's own prompts", "own wording"
PUBLISHED_WORDINGS = (PAPER_WORDING, CODE_WORDING)
_QUOTES = str.maketrans("“”„‘’`", "\"\"\"'''")
PUBLISHED = Path("data/published")
TEMPLATES = Path("config/prompts_published")
WORDS_TABLE, CODE_TABLE = "prompts.csv", "prompts_code.csv"


def words_digest(text: str) -> str:
    """Return the sha256 of a prompt's words.

    White space is removed, quotation marks become straight, and characters have one form.

    >>> words_digest("“Is it  so?”") == words_digest('"Is it\\nso?"')
    True
    """
    plain = unicodedata.normalize("NFKC", text.translate(_QUOTES))
    return hashlib.sha256("".join(plain.split()).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class PrintedPrompts:
    """The prompts of one protocol on one data set, as a paper or its authors' code prints them.

    Attributes:
        templates: moot's templates around the words, by name.
        words: the sha256 of each file of words.
    """

    templates: Mapping[str, str]
    words: dict[str, str]


class Wordings:
    """Tells in whose words prompts are.

    Args:
        shipped: the project's folder.
    """

    def __init__(self, shipped: Path) -> None:
        self._ours = Prompts(*prompt_folders(shipped))
        self.classify = cache(self._classify)
        self.printed = _read_printed(shipped, WORDS_TABLE)
        self._in_code = _read_printed(shipped, CODE_TABLE)

    def _classify(self, prompts: Prompts, protocol: str, data: str, *names: str) -> str:
        """Return whose words the templates of a protocol have.

        `names` are their prefixes, `data` is a loader of cases.
        """
        our_sources, sources = self._ours.sources(*names), prompts.sources(*names)
        if sources == our_sources:
            return MOOT_WORDING
        for wording, table in ((PAPER_WORDING, self.printed), (CODE_WORDING, self._in_code)):
            printed = table.get((protocol, data))
            if printed and _has_words_of(sources, printed, our_sources):
                return wording
        return OTHER_WORDING


def _has_words_of(
    sources: Mapping[str, str], printed: PrintedPrompts, our_sources: Mapping[str, str]
) -> bool:
    """Return whether moot's own templates contain the printed words."""
    digests = {
        name: words_digest(source) for name, source in sources.items() if name in printed.words
    }
    frame_sources = {name: source for name, source in sources.items() if name not in printed.words}
    expected = {**our_sources, **printed.templates}
    is_frame_equal = all(expected.get(name) == source for name, source in frame_sources.items())
    return is_frame_equal and digests == printed.words


def _read_printed(shipped: Path, table: str) -> dict[tuple[str, str], PrintedPrompts]:
    """Return the prompts of a table by protocol and data set."""
    prompts: dict[tuple[str, str], PrintedPrompts] = {}
    for row in read_rows(shipped / PUBLISHED / table):
        folder = shipped / TEMPLATES / row["paper"] / row["protocol"]
        printed = prompts.setdefault(
            (row["protocol"], row["data"]), PrintedPrompts(_templates(folder), {})
        )
        printed.words[row["file"]] = row["sha256"]
    return prompts


def read_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table of prompts, by column."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def _templates(folder: Path) -> dict[str, str]:
    files = sorted(folder.rglob("*.jinja"))
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in files}
