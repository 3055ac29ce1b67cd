"""Plant 200 misquotations in recorded debates, and count how many the record check finds.

The platform of NYU's debates verified every quotation, so an unaltered one that is not verbatim is
a false alarm. The argument is the folder of the debates' JSON files (docs/data.md). `--write` puts
the table into the README.md of the analysis.
"""

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from results_page import Part

from moot.analyses.record_check.passages import MIN_QUOTED_WORDS, QUOTATION, Passage
from moot.analyses.record_check.record import RESULTS, VERBATIM, Record
from moot.core.text_words import count_words, split_words

PART = Part(
    "misquotes",
    "benchmark_misquotes.py FOLDER",
    "scripts/moot/analyses/record_check/README.md",
)
PLANTED = 200
SEED = 13
VERIFIED = "verified by the platform"
CHANGES = ("one word replaced", "one word inserted", "one word in the middle left out")


def read_quotations(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the story and the words of each quotation of at least three words."""
    for file in sorted(folder.glob("*.json")):
        debate = json.loads(file.read_text(encoding="utf-8"))
        story = debate["setup"]["sourceMaterial"]["QuALITYSourceMaterial"]["contents"]
        for start, end in _spans(debate["rounds"]):
            quotation = " ".join(story[start:end])
            if count_words(quotation) >= MIN_QUOTED_WORDS:
                yield " ".join(story), quotation


def _spans(value: object) -> Iterator[tuple[int, int]]:
    """Yield the spans of all quotations within a value of JSON."""
    if isinstance(value, dict):
        if "Quote" in value:
            yield tuple(value["Quote"]["span"])
        for part in value.values():
            yield from _spans(part)
    elif isinstance(value, list):
        for part in value:
            yield from _spans(part)


def plant(quotation: str, change: str, foreign_word: str, draw: random.Random) -> str:
    """Return a quotation with one word changed."""
    words = [word.form for word in split_words(quotation)]
    place = draw.randrange(1, len(words) - 1)
    if change == CHANGES[0]:
        words[place] = foreign_word
    elif change == CHANGES[1]:
        words.insert(place, foreign_word)
    else:
        del words[place]
    return " ".join(words)


def measure(folder: Path) -> dict[str, Counter[str]]:
    """Count the results of all verified quotations, and of planted ones by their change.

    A planted word comes from another quotation and differs from the word that it replaces. A
    change is drawn again if the changed words also occur in the story.
    """
    quotations = list(read_quotations(folder))
    records = {story: Record([story]) for story in dict(quotations)}
    counts = {name: Counter[str]() for name in (VERIFIED, *CHANGES)}
    for story, quotation in quotations:
        counts[VERIFIED][check(records[story], quotation)] += 1
    draw = random.Random(SEED)
    planted = 0
    while planted < PLANTED:
        (story, quotation), (_, foreign) = draw.choice(quotations), draw.choice(quotations)
        foreign_word = draw.choice(split_words(foreign)).form
        change = CHANGES[planted % len(CHANGES)]
        altered = plant(quotation, change, foreign_word, draw)
        if f" {altered} " not in " ".join(["", *(word.form for word in split_words(story)), ""]):
            counts[change][check(records[story], altered)] += 1
            planted += 1
    return counts


def check(record: Record, quotation: str) -> str:
    """Return the result of a quotation."""
    return record.check(Passage(QUOTATION, quotation, 0, len(quotation)), []).result


def table(counts: dict[str, Counter[str]]) -> str:
    """Return the Markdown table of the results, with the number of detected alterations."""
    lines = [f"| quotations | {' | '.join(RESULTS)} |", "|---|---|---|---|"]
    for name, results in counts.items():
        lines.append(f"| {name} | {' | '.join(f'{results[result]:,}' for result in RESULTS)} |")
    found = sum(counts[name].total() - counts[name][VERBATIM] for name in CHANGES)
    false = counts[VERIFIED].total() - counts[VERIFIED][VERBATIM]
    lines += ["", f"Of {PLANTED} alterations {found} are found, and {false} falsely."]
    return "\n".join(lines)


def main() -> None:
    """Count the planted misquotations that are found and print the table."""
    parser = PART.parser(__doc__)
    parser.add_argument("folder", type=Path, help="the debates' JSON files")
    arguments = parser.parse_args()
    PART.show(table(measure(arguments.folder)), should_write=arguments.write)


if __name__ == "__main__":
    main()
