"""Compare how moot and `json_repair` with pydantic read the table of nasty replies.

python benchmarks/run.py reply_reading.py             prints the table of docs/faults.md
python benchmarks/run.py reply_reading.py --write     writes it into the page
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import Any, Literal

import json_repair
from pydantic import TypeAdapter, ValidationError

from reply_forms import FORMS, LABELS, NASTY, read_reply

PAGE = Path(__file__).resolve().parents[1] / "docs" / "faults.md"
MARKS = ("<!-- written by benchmarks/reply_reading.py -->\n", "<!-- end -->\n")
OUTCOMES = ("right", "refused rightly", "wrong value", "missed")
FAMILIES = {
    "prompting": ("prompting", "cot"),
    "courtroom": ("courtroom", "inline"),
    "conference": ("grade", "agreement", "decision", "evaluation", "notes", "coding"),
    "panel": ("round", "judged"),
    "feedback": ("opinion", "outcome", "articles", "four_steps", "criticism", "summary"),
    "stance": ("stance_json", "stance_label"),
    "forms of which every field decides": ("verdict", "belief", "stance", "review"),
    "bare labels": ("label", "chinese"),
}
Reader = Callable[[str, str], Mapping[str, Any] | None]


def read_by_moot(form: str, reply: str) -> Mapping[str, Any] | None:
    """Return the value that moot reads; None if it rejects the reply."""
    return read_reply(form, reply).value


def read_by_library(form: str, reply: str) -> Mapping[str, Any] | None:
    """Return the value that `json_repair` and pydantic (not strict) read; None if they fail.

    A bare label is read by pydantic only.
    """
    try:
        if form in LABELS:
            label: Any = Literal[LABELS[form]]
            return {"prediction": TypeAdapter(label).validate_python(reply.strip())}
        return FORMS[form].model_validate(json_repair.loads(reply)).model_dump(mode="json")
    except (ValidationError, ValueError, TypeError, RecursionError):
        return None


READERS: dict[str, Reader] = {"moot": read_by_moot, "`json_repair` + pydantic": read_by_library}


def classify_reading(row: Mapping[str, Any], reading: Mapping[str, Any] | None) -> str:
    """Return the outcome of a reading, one of `OUTCOMES`.

    A correct reading has all values of the row and none of its missing fields.
    """
    if row["value"] is None:
        return "refused rightly" if reading is None else "wrong value"
    if reading is None:
        return "missed"
    invented = any(path in reading for path in row.get("missing", []))
    is_equal = all(reading.get(name) == value for name, value in row["value"].items())
    return "right" if is_equal and not invented else "wrong value"


def measure() -> dict[str, dict[str, Counter[str]]]:
    """Count the replies with each outcome by reader and family of forms."""
    family_of = {}
    for family, forms in FAMILIES.items():
        family_of.update(dict.fromkeys(forms, family))
    counts: dict[str, dict[str, Counter[str]]] = {}
    for name, reader in READERS.items():
        counts[name] = {family: Counter() for family in FAMILIES}
        for row in NASTY:
            outcome = classify_reading(row, reader(row["schema"], row["reply"]))
            counts[name][family_of[row["schema"]]][outcome] += 1
    return counts


def render_section() -> str:
    """Return the table as Markdown."""
    lines = [f"| forms | reader | {' | '.join(OUTCOMES)} |", "|---|---|" + "--:|" * len(OUTCOMES)]
    counts = measure()
    for family, name in product(FAMILIES, READERS):
        lines.append(render_row(family, name, counts[name][family]))
    for name in READERS:
        total = sum(counts[name].values(), Counter[str]())
        lines.append(render_row(f"**all {len(NASTY)}**", name, total))
    return "\n".join(lines) + "\n"


def render_row(forms: str, reader: str, counts: Mapping[str, int]) -> str:
    """Return a row of the table: the number of replies with each outcome."""
    numbers = [str(counts[outcome]) for outcome in OUTCOMES]
    return f"| {forms} | {reader} | {' | '.join(numbers)} |"


def replace_section(page: str) -> str:
    """Return a page with a new section between its marks."""
    start, end = MARKS
    pattern = re.compile(f"{re.escape(start)}.*?{re.escape(end)}", re.DOTALL)
    return pattern.sub(lambda _: f"{start}\n{render_section()}\n{end}", page)


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(replace_section(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        sys.stdout.write(render_section())
