"""The parts of pages that benchmarks write, each between two comments."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Part:
    """A part of a page between two comments; the first comment has the command that writes it.

    Attributes:
        name: the name in both comments.
        command: the benchmark that writes it, and its arguments except `--write`.
        page: the path of the page in the project.
    """

    name: str
    command: str
    page: str = "docs/results.md"

    def read(self) -> str:
        """Return the text between the comments."""
        return self._split()[1].strip()

    def write(self, text: str) -> None:
        """Replace the text between the comments."""
        head, _, rest = self._split()
        begin_mark, end_mark = self._marks
        page_text = f"{head}{begin_mark}\n{text}\n{end_mark}{rest}"
        (PROJECT / self.page).write_text(page_text, encoding="utf-8")

    def show(self, text: str, *, should_write: bool) -> None:
        """Print a text; with `--write` also write it into the page."""
        print(text)
        if should_write:
            self.write(text)

    def parser(self, description: str | None) -> argparse.ArgumentParser:
        """Return a parser of the benchmark's command line with the option `--write`."""
        parser = argparse.ArgumentParser(description=description)
        parser.add_argument("--write", action="store_true", help=f"write into {self.page}")
        return parser

    @property
    def _marks(self) -> tuple[str, str]:
        begin_mark = f"<!-- {self.name}: python benchmarks/run.py {self.command} --write -->"
        return begin_mark, f"<!-- end of {self.name} -->"

    def _split(self) -> tuple[str, str, str]:
        """Return the text before, between and after the comments."""
        begin_mark, end_mark = self._marks
        head, rest = (PROJECT / self.page).read_text(encoding="utf-8").split(begin_mark)
        part, tail = rest.split(end_mark, maxsplit=1)
        return head, part, tail


def run_simulation(
    part: Part,
    description: str | None,
    tabulate: Callable[[int], str],
    default_number: int,
    option: str = "--worlds",
) -> None:
    """Print the tables of a simulation; `--write` puts them into a part of a page.

    Args:
        part: the part of the page.
        description: the description of the benchmark, for `--help`.
        tabulate: returns the tables in Markdown from a number of worlds.
        default_number: the number of worlds of the part.
        option: the option that sets another number.
    """
    parser = part.parser(description)
    parser.add_argument(
        option, dest="number", type=int, default=default_number, help="simulated worlds a row"
    )
    arguments = parser.parse_args()
    part.show(tabulate(arguments.number), should_write=arguments.write)
