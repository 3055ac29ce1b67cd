"""`snakemake prefixes`: how much of each prompt is the same as the beginning of an earlier one, and what ends it.

A server that keeps what it has evaluated (a prefix cache) evaluates, and a provider charges in full, only what comes
after the longest beginning that a prompt has in common with an earlier one. Counted in characters of all messages.
"""

import json
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from moot.core.artifacts import atomic_path, read_batches, read_table
from moot.core.errors import UserError
from moot.plan.plan import Plan
from moot.report.escaping import csv_text, html

MOST_DEBATES = 500
"""Debates of an experiment and model that are looked at: the first ones."""
ALL = "all"
COLUMNS = (
    "experiment",
    "protocol",
    "model",
    "turn",
    "seat",
    "kind",
    "calls",
    "characters",
    "same_in_debate",
    "same_in_case",
    "same_in_run",
    "breaks_in",
    "after",
    "at",
)
_SHOWN = 40
_SAID = ["debate_id", "case_id", "turn", "speaker", "kind", "call_id"]


@dataclass(frozen=True)
class Prompt:
    """All messages of a call below each other, and where each begins: (place, role)."""

    text: str
    messages: tuple[tuple[int, str], ...]

    @classmethod
    def of(cls, request: str) -> "Prompt":
        """The prompt of a recorded request."""
        text, messages = "", []
        for role, content in json.loads(request)["messages"]:
            messages.append((len(text), role))
            text += f"{role}\n{content}\n"
        return cls(text, tuple(messages))

    def message_at(self, place: int) -> str:
        """Which message a place is in: its number, how many there are, and its role."""
        number = sum(start <= place for start, _ in self.messages)
        return f"message {number} of {len(self.messages)} ({self.messages[number - 1][1]})"


def common(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


class Earlier:
    """Texts that came before, in order: the longest common beginning is one of a neighbour's."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def longest(self, text: str) -> int | None:
        """How much of a text is the beginning of an earlier one, None where there is none; it is one from now on."""
        place = bisect_left(self._texts, text)
        found = max((common(text, other) for other in self._texts[max(place - 1, 0) : place + 1]), default=None)
        insort(self._texts, text)
        return found


@dataclass
class Counted:
    """What the calls of one seat at one turn come to: sums of characters, and what ended the common beginnings."""

    calls: int = 0
    characters: int = 0
    in_debate: int = 0
    in_case: int = 0
    in_run: int = 0
    breaks: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def add(self, prompt: Prompt, in_debate: int | None, in_case: int | None, in_run: int | None) -> None:
        """Count a call; None where no prompt came before."""
        self.calls += 1
        self.characters += len(prompt.text)
        self.in_debate += in_debate or 0
        self.in_case += in_case or 0
        self.in_run += in_run or 0
        if in_debate is not None and in_debate < len(prompt.text):
            whole, _, begun = prompt.text[:in_debate].rpartition("\n")
            rest = begun + prompt.text[in_debate:].partition("\n")[0]
            lines = whole.rstrip("\n").rpartition("\n")[2][:_SHOWN], rest[:_SHOWN]
            self.breaks[prompt.message_at(in_debate), *lines] += 1

    def row(self) -> dict[str, Any]:
        """The columns from `calls` on."""
        breaks_in, after, line = self.breaks.most_common(1)[0][0] if self.breaks else ("", "", "")
        return {
            "calls": self.calls,
            "characters": round(self.characters / self.calls),
            "same_in_debate": self.in_debate / self.characters,
            "same_in_case": self.in_case / self.characters,
            "same_in_run": self.in_run / self.characters,
            "breaks_in": breaks_in,
            "after": after,
            "at": line,
        }


def count(said: Iterable[Mapping[str, Any]], requests: Mapping[str, str]) -> dict[tuple[int, str, str], Counted]:
    """By turn, seat and kind, from utterances in the order of debates and turns; the key (0, "all", "") has all calls.

    Args:
        said: columns debate_id, case_id, turn, speaker, kind, call_id.
        requests: the recorded requests, by call id; a call that is not among them is left out.
    """
    found: dict[tuple[int, str, str], Counted] = {}
    debates: dict[tuple[str, str], Earlier] = {}
    cases: dict[tuple[str, str], Earlier] = {}
    runs: dict[str, Earlier] = {}
    for row in said:
        if row["call_id"] not in requests:
            continue
        request = requests[row["call_id"]]
        prompt, model = Prompt.of(request), json.loads(request)["model"]  # another model's cache helps nobody
        same = (
            debates.setdefault((model, row["debate_id"]), Earlier()).longest(prompt.text),
            cases.setdefault((model, row["case_id"]), Earlier()).longest(prompt.text),
            runs.setdefault(model, Earlier()).longest(prompt.text),
        )
        for key in ((int(row["turn"]), row["speaker"], row["kind"]), (0, ALL, "")):
            found.setdefault(key, Counted()).add(prompt, *same)
    return found


def _utterances(shards: Iterable[Path], most: int) -> list[dict[str, Any]]:
    """The utterances of the first debates that made calls."""
    rows: list[dict[str, Any]] = []
    debates: dict[str, None] = {}
    for shard in shards:
        for row in read_table(shard, _SAID).to_pylist():
            if row["call_id"] and (row["debate_id"] in debates or len(debates) < most):
                debates[row["debate_id"]] = None
                rows.append(row)
        if len(debates) == most:
            break
    places = {debate: place for place, debate in enumerate(debates)}
    return sorted(rows, key=lambda row: (places[row["debate_id"]], row["turn"]))


def _requests(calls: Path, wanted: set[str]) -> dict[str, str]:
    """The requests of some calls, read some at a time."""
    found: dict[str, str] = {}
    for batch in read_batches(calls, 2000, ["call_id", "request"]):
        pairs = zip(batch.column("call_id").to_pylist(), batch.column("request").to_pylist(), strict=True)
        found.update((call_id, request) for call_id, request in pairs if call_id in wanted)
        if len(found) == len(wanted):
            break
    return found


def prefix_rows(plan: Plan, results: Path, most: int = MOST_DEBATES) -> Iterator[dict[str, Any]]:
    """One row a turn and seat of each experiment and model that has been held, and one over all its calls.

    Args:
        plan: the checked configuration.
        results: the folder whose `transcripts/` and `calls/` are read, as far as they are there.
        most: debates of an experiment and model.

    Yields:
        `COLUMNS`: calls; characters (of a prompt, mean); same_in_debate, same_in_case, same_in_run (share of the
        characters that an earlier prompt of the same debate, on the same case, or of all begins with); breaks_in (the
        message in which the common beginning of the debate most often ends), after and at (the last line in common, and
        the next one).
    """
    for experiment in plan.experiments.values():
        for model in experiment.config.models:
            calls = results / "calls" / experiment.name / f"{model}.parquet"
            shards = (results / "transcripts" / experiment.name / model).glob("*.parquet")
            if not calls.is_file():
                continue
            said = _utterances(sorted(shards, key=lambda path: int(path.stem)), most)
            found = count(said, _requests(calls, {row["call_id"] for row in said}))
            named = {"experiment": experiment.name, "protocol": experiment.config.protocol, "model": model}
            for turn, seat, kind in sorted(found):
                yield {**named, "turn": turn or ALL, "seat": seat, "kind": kind, **found[turn, seat, kind].row()}


def compare_prefixes(plan: Plan, results: Path) -> pd.DataFrame:
    """`prefix_rows` as a frame.

    Raises:
        UserError: nothing is recorded.
    """
    frame = pd.DataFrame(list(prefix_rows(plan, results)), columns=list(COLUMNS))
    if frame.empty:
        raise UserError(f"prefixes: {results / 'calls'} holds no call of this run. Run the experiments first.")
    return frame


def write_prefixes(frame: pd.DataFrame, folder: Path) -> None:
    """Write `prefixes.csv` and `prefixes.html`."""
    shown = frame.copy()
    for column in ("same_in_debate", "same_in_case", "same_in_run"):
        shown[column] = shown[column].map("{:.3f}".format)
    with atomic_path(folder / "prefixes.csv") as part:
        shown.map(csv_text).to_csv(part, index=False, lineterminator="\n")
    with atomic_path(folder / "prefixes.html") as part, part.open("w", encoding="utf-8") as page:
        page.write('<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Prefixes</title>\n<table>\n')
        page.write(f"<tr>{''.join(f'<th>{html(column)}</th>' for column in COLUMNS)}</tr>\n")
        for row in shown.itertuples(index=False):
            page.write(f"<tr>{''.join(f'<td>{html(str(value))}</td>' for value in row)}</tr>\n")
        page.write("</table>\n</html>\n")
