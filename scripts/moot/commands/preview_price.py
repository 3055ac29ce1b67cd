"""The likely price of the calls that a preview counts, below the ceiling of longest replies.

The length of a reply is the mean of the ledger's replies of the same kind and model, else of the
same kind, else the one in `data/published/reply_lengths.csv`.
"""

import csv
import math
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from statistics import fmean

from moot.core.model_config import ModelConfig
from moot.llm.ledger.ledger import Entry
from moot.llm.stand_in import CHARACTERS_PER_TOKEN

TABLE = Path("data/published/reply_lengths.csv")
LABEL = "label"
"""A model's label of a statement."""
SHARE_OF_CEILING = 0.5
"""Of a kind of reply that neither the ledger nor the table has."""
PLACEHOLDER = re.compile(r"[0-9a-f]{12} ([0-9a-f]{4})(?: \1)+")
"""A longest reply of the stand-in, where a later prompt quotes it."""


@cache
def read_lengths(shipped: Path) -> Mapping[str, int]:
    """Return the usual tokens of a reply by the kind of its utterance."""
    with (shipped / TABLE).open(encoding="utf-8", newline="") as file:
        return {row["kind"]: int(row["tokens"]) for row in csv.DictReader(file)}


class ReplyLengths:
    """The lengths of replies by kind: as measured on stored replies, else as shipped."""

    def __init__(self, shipped: Path) -> None:
        self.kinds: dict[str, str] = {}
        """The kind of the utterance of each call."""
        self._shipped = shipped
        self._stored: dict[str, tuple[str, int]] = {}

    def add(self, entry: Entry) -> None:
        """Count a stored reply."""
        self._stored[entry.call_id] = (entry.model, entry.reply.completion_tokens)

    def _measure(self) -> dict[tuple[str, str], float]:
        """Return the mean tokens of stored replies by kind and model; model "" for all models."""
        lengths: dict[tuple[str, str], list[int]] = {}
        for call_id, (model, tokens) in self._stored.items():
            kind = self.kinds.get(call_id, "")
            for key in ((kind, model), (kind, "")):
                lengths.setdefault(key, []).append(tokens)
        return {key: fmean(tokens) for key, tokens in lengths.items()}

    def likely_usd(self, entries: Iterable[Entry], models: Mapping[str, ModelConfig]) -> float:
        """Return the likely price of some calls, whose replies are the longest possible ones.

        A prompt that quotes earlier replies gets shorter with them.
        """
        measured, shipped_lengths = self._measure(), read_lengths(self._shipped)

        def tokens_of(kind: str, model: str, ceiling: float) -> float:
            usual = shipped_lengths.get(kind, SHARE_OF_CEILING * ceiling)
            return min(measured.get((kind, model), measured.get((kind, ""), usual)), ceiling)

        total, statement = 0.0, tokens_of("statement", "", math.inf)
        for entry in entries:
            model, reply = models[entry.model], entry.reply
            if not model.price_used:
                continue
            kind = self.kinds.get(entry.call_id, "")
            written = tokens_of(kind, entry.model, reply.completion_tokens)
            lengths = [len(quote[0]) for quote in PLACEHOLDER.finditer(entry.request)]
            excess = sum(max(length / CHARACTERS_PER_TOKEN - statement, 0) for length in lengths)
            read = max(reply.prompt_tokens - excess, 0)
            total += model.cost(round(read), round(written))
        return round(total, 4)
