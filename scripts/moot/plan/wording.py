"""Whose words an experiment's prompts are: the paper's, moot's own, or others.

The words of papers are not moot's to ship. `data/published/prompts.csv` has the sha256 of each
printed prompt, and `config/prompts_published` the templates around them, into which a user types
the words.
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

PAPERS, OURS, OTHERS = "the paper's", "ours", "others"
_QUOTES = str.maketrans("“”„‘’`", "\"\"\"'''")
NONE_PRINTED = "The paper prints no prompts of this protocol on these data."


def words_digest(text: str) -> str:
    """The sha256 of a prompt's words: white space taken out, quotation marks straight, characters
    in one form.

    >>> words_digest("“Is it  so?”") == words_digest('"Is it\\nso?"')
    True
    """
    plain = unicodedata.normalize("NFKC", text.translate(_QUOTES))
    return hashlib.sha256("".join(plain.split()).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Printed:
    """The prompts that a paper prints of one protocol on one data set.

    Attributes:
        templates: moot's templates around the words, by name.
        words: file of words to their sha256.
    """

    templates: Mapping[str, str]
    words: dict[str, str]


class Wordings:
    """Tells whose words prompts are.

    Args:
        shipped: the project's folder.
    """

    def __init__(self, shipped: Path) -> None:
        published = shipped / "data" / "published"
        self._ours = Prompts(*prompt_folders(shipped))
        self.whose = cache(self._whose)
        self.printed: dict[tuple[str, str], Printed] = {}
        self._departures: dict[tuple[str, str], list[str]] = {}
        for row in _rows(published / "prompts.csv"):
            folder = shipped / "config" / "prompts_published" / row["paper"] / row["protocol"]
            printed = self.printed.setdefault(
                (row["protocol"], row["data"]), Printed(_templates(folder), {})
            )
            printed.words[row["file"]] = row["sha256"]
        for row in _rows(published / "departures.csv"):
            self._departures.setdefault((row["protocol"], row["data"]), []).append(row["departure"])

    def _whose(self, prompts: Prompts, protocol: str, data: str, *names: str) -> str:
        """Whose words the templates of a protocol are;
        `names` are their prefixes, `data` a loader of cases.
        """
        ours, used = self._ours.sources(*names), prompts.sources(*names)
        if used == ours:
            return OURS
        printed = self.printed.get((protocol, data))
        if printed is None:
            return OTHERS
        typed = {
            name: words_digest(source) for name, source in used.items() if name in printed.words
        }
        around = {name: source for name, source in used.items() if name not in printed.words}
        expected = {**ours, **printed.templates}
        same = all(expected.get(name) == source for name, source in around.items())
        return PAPERS if same and typed == printed.words else OTHERS

    def departures(self, protocol: str, data: str) -> tuple[str, ...]:
        """What of moot's own wording is known to matter, in sentences."""
        none_printed = [] if (protocol, data) in self.printed else [NONE_PRINTED]
        return (*none_printed, *self._departures.get((protocol, data), ()))


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def _templates(folder: Path) -> dict[str, str]:
    files = sorted(folder.rglob("*.jinja"))
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in files}
