"""How replies are read: moot beside `json_repair` and pydantic, over the table of nasty replies.

    python benchmarks/reply_reading.py             prints the table of docs/faults.md
    python benchmarks/reply_reading.py --write     writes it there

Run with `scripts` and `tests` on the Python path.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping
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


def by_moot(form: str, reply: str) -> Mapping[str, Any] | None:
    """The value that moot reads; None where it refuses."""
    return read_reply(form, reply).value


def by_library(form: str, reply: str) -> Mapping[str, Any] | None:
    """The value of `json_repair` and pydantic (not strict), of a bare label pydantic's alone;
    None if they refuse.
    """
    try:
        if form in LABELS:
            label: Any = Literal[LABELS[form]]
            return {"prediction": TypeAdapter(label).validate_python(reply.strip())}
        return FORMS[form].model_validate(json_repair.loads(reply)).model_dump(mode="json")
    except (ValidationError, ValueError, TypeError, RecursionError):
        return None


READERS: dict[str, Reader] = {"moot": by_moot, "`json_repair` + pydantic": by_library}


def outcome(row: Mapping[str, Any], reading: Mapping[str, Any] | None) -> str:
    """Which of `OUTCOMES` a reading is: right where it holds all that the row says, and nothing
    that is missing.
    """
    if row["value"] is None:
        return "refused rightly" if reading is None else "wrong value"
    if reading is None:
        return "missed"
    invented = any(path in reading for path in row.get("missing", []))
    is_equal = all(reading.get(name) == value for name, value in row["value"].items())
    return "right" if is_equal and not invented else "wrong value"


def measure() -> dict[str, dict[str, Counter[str]]]:
    """By reader and family of forms: how many replies come to each outcome."""
    family_of = {form: family for family, forms in FAMILIES.items() for form in forms}
    counts = {name: {family: Counter[str]() for family in FAMILIES} for name in READERS}
    for name, reader in READERS.items():
        for row in NASTY:
            counts[name][family_of[row["schema"]]][
                outcome(row, reader(row["schema"], row["reply"]))
            ] += 1
    return counts


def section() -> str:
    """The table as Markdown."""
    lines = [f"| forms | reader | {' | '.join(OUTCOMES)} |", "|---|---|" + "--:|" * len(OUTCOMES)]
    counts = measure()
    rows = [(family, name, counts[name][family]) for family in FAMILIES for name in READERS]
    rows += [
        (f"**all {len(NASTY)}**", name, sum(counts[name].values(), Counter[str]()))
        for name in READERS
    ]
    lines += [
        f"| {forms} | {name} | {' | '.join(str(counts_by_outcome[kind]) for kind in OUTCOMES)} |"
        for forms, name, counts_by_outcome in rows
    ]
    return "\n".join(lines) + "\n"


def with_section(page: str) -> str:
    """`page` with the section between its marks."""
    start, end = MARKS
    pattern = re.compile(f"{re.escape(start)}.*?{re.escape(end)}", re.DOTALL)
    return pattern.sub(lambda _: f"{start}\n{section()}\n{end}", page)


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(with_section(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        sys.stdout.write(section())
