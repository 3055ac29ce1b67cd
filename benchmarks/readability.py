"""Measure how readable the source is: names, density of lines, comprehensions and branches.

`LIMITS` are targets for the whole tree, which are printed. `FILE_LIMITS` hold for each file:
`--check`, which `make lint` runs, fails above them and names the places, so that whoever changes a
file can mend it there. `--worst` lists the places of all measures.
"""

import argparse
import ast
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
FOLDERS = ("scripts", "tests", "benchmarks")
COLUMNS = 100

# A name that is one of these words alone does not say what it holds: participles, pronouns,
# adverbs and quantifiers. Nouns that are also participles ("setting") are not in the list.
UNREADABLE_NAMES = frozenset(
    """
    found said told one ones other others those these that this it they who whom whose what which
    whoever nobody somebody known unknown named shown hidden held kept left made done given taken
    read written drawn asked answered spoken heard seen meant chosen owned own opened closed sent
    got gone come became begun ended paid spent lost won put set_aside stated listed counted used
    unused needed wanted wrong right alike same different alone together apart beside besides
    between within without above below before after again also still already yet then now here
    there where when while once twice ever never always rest each every some any none much many
    more most less least few several enough big small long short good bad better best worse worst
    whole at_once at_hand puts_off told_alone by_hand so thus further instead begin beyond toward
    towards checked joined split merged sorted_ grouped matched marked masked cleaned numbered
    filled refused allowed planned waited waiting working opening closing stopped started resumed
    skipped dropped tried retried
    """.split()
) - {"rest", "any"}

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Function = ast.FunctionDef | ast.AsyncFunctionDef
BRANCHES = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.match_case)

LIMITS = {
    "unreadable names, per cent": 1.0,
    "characters a line": 48.0,
    "lines over 100 columns": 0.0,
    "comprehensions per 100 lines": 4.0,
    "nested comprehensions": 0.0,
    "comprehensions with two for clauses": 0.0,
    "functions with more than 12 branches": 0.0,
    "mean lines of a function": 15.0,
}
FILE_LIMITS = {
    "unreadable names": 3,
    "lines over 100 columns": 0,
    "nested comprehensions": 0,
    "comprehensions with two for clauses": 0,
    "functions with more than 12 branches": 0,
    "lines": 500,
}
MAX_BRANCHES = 12


@dataclass
class Readability:
    """Counts over a set of Python files, and the places that exceed a limit."""

    names: int = 0
    lines: int = 0
    characters: int = 0
    comprehensions: int = 0
    functions: int = 0
    function_lines: int = 0
    documented_functions: int = 0
    unreadable_names: Counter[str] = field(default_factory=Counter)
    places: dict[str, list[str]] = field(default_factory=dict)

    def add_place(self, measure: str, path: Path, line: int, text: str = "") -> None:
        """Remember a place that counts towards a measure."""
        place = f"{path.relative_to(PROJECT)}:{line} {text}".rstrip()
        self.places.setdefault(measure, []).append(place)

    def count(self, measure: str) -> int:
        """Return how many places count towards a measure."""
        return len(self.places.get(measure, []))

    def values(self) -> dict[str, float]:
        """Return each limited measure."""
        return {
            "unreadable names, per cent": 100 * self.unreadable_names.total() / max(self.names, 1),
            "characters a line": self.characters / max(self.lines, 1),
            "lines over 100 columns": self.count("lines over 100 columns"),
            "comprehensions per 100 lines": 100 * self.comprehensions / max(self.lines, 1),
            "nested comprehensions": self.count("nested comprehensions"),
            "comprehensions with two for clauses": self.count(
                "comprehensions with two for clauses"
            ),
            "functions with more than 12 branches": self.count(
                "functions with more than 12 branches"
            ),
            "mean lines of a function": self.function_lines / max(self.functions, 1),
        }

    def documented_share(self) -> float:
        """Return the share of functions with a docstring, in per cent."""
        return 100 * self.documented_functions / max(self.functions, 1)


def bound_names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield each name that a module binds, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name, node.lineno


def branch_count(function: Function) -> int:
    """Return the number of decisions in a function: branches, loops, handlers and operands."""
    count = 0
    for node in ast.walk(function):
        if isinstance(node, BRANCHES):
            count += 1
        elif isinstance(node, ast.BoolOp):
            count += len(node.values) - 1
    return count


def has_comprehension_inside(comprehension: Comprehension) -> bool:
    """Return whether a comprehension holds another one."""
    nodes = ast.walk(comprehension)
    return any(isinstance(node, Comprehension) and node is not comprehension for node in nodes)


def measure_file(path: Path, total: Readability) -> None:
    """Add the counts of one file."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            total.lines += 1
            total.characters += len(line)
        if len(line) > COLUMNS:
            total.add_place("lines over 100 columns", path, number)
    for name, line_number in bound_names(tree):
        total.names += 1
        if name.strip("_").lower() in UNREADABLE_NAMES:
            total.unreadable_names[name] += 1
            total.add_place("unreadable names", path, line_number, name)
    for node in ast.walk(tree):
        if isinstance(node, Comprehension):
            measure_comprehension(node, path, total)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            measure_function(node, path, total)


def measure_comprehension(node: Comprehension, path: Path, total: Readability) -> None:
    """Add the counts of one comprehension."""
    total.comprehensions += 1
    if has_comprehension_inside(node):
        total.add_place("nested comprehensions", path, node.lineno)
    if len(node.generators) > 1:
        total.add_place("comprehensions with two for clauses", path, node.lineno)


def measure_function(node: Function, path: Path, total: Readability) -> None:
    """Add the counts of one function."""
    total.functions += 1
    total.function_lines += (node.end_lineno or node.lineno) - node.lineno + 1
    total.documented_functions += ast.get_docstring(node) is not None
    if branch_count(node) > MAX_BRANCHES:
        place = f"{node.name} ({branch_count(node)})"
        total.add_place("functions with more than 12 branches", path, node.lineno, place)


def file_faults(path: Path) -> Iterator[str]:
    """Yield the places of a file that exceed a limit."""
    total = Readability()
    measure_file(path, total)
    line_count = len(path.read_text(encoding="utf-8").splitlines())
    if line_count > FILE_LIMITS["lines"]:
        yield f"{path.relative_to(PROJECT)}: {line_count} lines; at most {FILE_LIMITS['lines']}"
    for measure_name, places in total.places.items():
        limit = FILE_LIMITS[measure_name]
        if len(places) > limit:
            yield from (f"{place}: {measure_name}; a file has at most {limit}" for place in places)


def python_files(folders: Iterable[str]) -> Iterator[Path]:
    """Yield the Python files of some folders of the project, or single files."""
    for folder in folders:
        place = (PROJECT / folder).resolve()
        yield from [place] if place.is_file() else sorted(place.rglob("*.py"))


def measure(*folders: str) -> Readability:
    """Return the counts over all Python files of some folders of the project."""
    total = Readability()
    for path in python_files(folders):
        measure_file(path, total)
    return total


def main() -> None:
    """Print the table, and the places if asked for; or fail above a file's limit if asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", default=FOLDERS, help="default: all with Python code")
    parser.add_argument("--check", action="store_true", help="exit with 1 above a file's limit")
    parser.add_argument("--worst", action="store_true", help="list the places")
    arguments = parser.parse_args()
    if arguments.check:
        faults: list[str] = []
        for path in python_files(arguments.folders):
            faults += file_faults(path)
        sys.exit("\n".join(faults) or None)
    total = measure(*arguments.folders)
    for name, value in total.values().items():
        sys.stdout.write(f"- {name}: {value:.1f} (target {LIMITS[name]:g})\n")
    if arguments.worst:
        for name, places in total.places.items():
            sys.stdout.writelines(f"    {name}: {place}\n" for place in places[:200])
    sys.stdout.write(f"- functions with a docstring: {total.documented_share():.0f} %\n")


if __name__ == "__main__":
    main()
