"""What the calls of a preview are likely to take, in dollars and hours.

A call takes the tokens that it reads and those that it writes, and a token that is read a part of
the time of one that is written. Replies that the ledger has show how long a reply of each kind is
usually, and how fast each model is.
"""

import csv
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from moot.core.batch_config import HOURS_PER_WAVE
from moot.core.endpoint_traits import endpoint_traits
from moot.core.model_config import ModelConfig
from moot.llm.ledger.ledger import Entry
from moot.llm.stand_in import CHARACTERS_PER_TOKEN, LONGEST_REPLY

TABLE = Path("data/published/reply_lengths.csv")
LABEL = "label"
"""A model's label of a statement."""
SHARE_OF_CEILING = 0.5
"""The usual length of a reply whose kind neither the ledger nor the table has."""
READING_SHARE = 0.1
"""The time of a token that is read, as a share of one that is written.

The recorded calls of the packaged model took .22, and .05 with the tokens that were cached, since
their prompts begin as the ones before.
"""
SECONDS_PER_HOUR = 3600.0
_MEASURED_REPLIES = 200


class Estimate:
    """The likely dollars and hours of calls.

    Args:
        models: the entries of models, by name.
        kinds: the kind of the utterance of each call, by call id.
        stored: the model and the tokens written of each call of the preview with a stored reply.
        example_entries: returns some stored entries of models.
        shipped: the project's folder, with the usual lengths.
        jobs: how many jobs run a model in their process at the same time.
    """

    def __init__(
        self,
        models: Mapping[str, ModelConfig],
        kinds: Mapping[str, str],
        stored: Mapping[str, tuple[str, int]],
        example_entries: Callable[[Sequence[str], int], Iterable[Entry]],
        shipped: Path,
        jobs: int = 1,
    ) -> None:
        self._models, self._kinds, self._jobs = models, kinds, jobs
        with (shipped / TABLE).open(encoding="utf-8", newline="") as file:
            shipped_lengths = {row["kind"]: int(row["tokens"]) for row in csv.DictReader(file)}
        self._lengths: dict[tuple[str, str], float] = {
            (kind, ""): tokens for kind, tokens in shipped_lengths.items()
        }
        measured: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for call_id, (model, tokens) in stored.items():
            measured[kinds.get(call_id, ""), model].append(tokens)
            measured[kinds.get(call_id, ""), ""].append(tokens)
        self._lengths |= {key: fmean(tokens) for key, tokens in measured.items()}
        self._example_entries = example_entries
        self._speeds = dict[str, float | None]()

    def tokens(self, entry: Entry) -> tuple[float, float]:
        """Return the tokens that a call is likely to read and to write.

        A prompt that quotes earlier replies gets shorter with them.
        """
        ceiling = entry.reply.completion_tokens
        kind = self._kinds.get(entry.call_id, "")
        usual = self._lengths.get((kind, ""), SHARE_OF_CEILING * ceiling)
        reply_tokens = min(self._lengths.get((kind, entry.model), usual), ceiling)
        lengths = [len(quote[0]) for quote in LONGEST_REPLY.finditer(entry.request)]
        statement = self._lengths["statement", ""]
        excess = sum(max(length / CHARACTERS_PER_TOKEN - statement, 0) for length in lengths)
        return max(entry.reply.prompt_tokens - excess, 0), reply_tokens

    def usd(self, entries: Iterable[Entry]) -> float:
        """Return the likely price of some calls."""
        total = 0.0
        for entry in entries:
            model = self._models[entry.model]
            total += model.cost(*map(round, self.tokens(entry)))
        return round(total, 4)

    def _measured_speed(self, name: str) -> float | None:
        """Return the tokens per second of a model's timed replies; None without such a reply.

        A token that is read counts as `READING_SHARE` of one that is written. Replies of a model
        with an equal entry count too, as those of the packaged model in the default run.
        """
        if name not in self._speeds:
            model = self._models[name]
            names = [other_name for other_name, entry in self._models.items() if entry == model]
            replies = [entry.reply for entry in self._example_entries(names, _MEASURED_REPLIES)]
            timed = [reply for reply in replies if reply.seconds > 0]
            tokens = [
                READING_SHARE * reply.prompt_tokens + reply.completion_tokens for reply in timed
            ]
            seconds = sum(reply.seconds for reply in timed)
            self._speeds[name] = sum(tokens) / seconds if seconds else None
        return self._speeds[name]

    def is_typical(self, name: str) -> bool:
        """Return whether only the typical speed of its kind is known of a model."""
        return self._measured_speed(name) is None and _typical_speed(self._models[name]) is not None

    def hours(self, entries: Iterable[Entry], waves: int) -> float:
        """Return the hours that the calls of a run take, one model after the other.

        Args:
            entries: the calls with placeholder replies of the greatest length.
            waves: the waves of calls that are sent together, one after the other; each takes at
                most the provider's window.

        Returns:
            The hours; NaN if the speed of a model is unknown.
        """
        entries_by_model: defaultdict[str, list[Entry]] = defaultdict(list)
        for entry in entries:
            entries_by_model[entry.model].append(entry)
        hours = 0.0
        for name, calls in entries_by_model.items():
            is_gathered = self._models[name].gathers_calls
            hours += waves * HOURS_PER_WAVE if is_gathered else self._hours_of_calls(name, calls)
        return hours

    def _hours_of_calls(self, name: str, calls: Sequence[Entry]) -> float:
        """Return the hours by speed and concurrency, or by the limit per minute if longer."""
        model = self._models[name]
        lengths = [self.tokens(entry) for entry in calls]
        prompt_tokens = sum(prompt for prompt, _ in lengths)
        reply_tokens = sum(reply for _, reply in lengths)
        speed = self._measured_speed(name) or _typical_speed(model) or math.nan
        is_in_process = endpoint_traits(model.endpoint).in_process
        seconds = (READING_SHARE * prompt_tokens + reply_tokens) / speed
        seconds /= self._jobs if is_in_process else model.concurrency
        if model.requests_per_minute:
            seconds = max(seconds, 60 * len(calls) / model.requests_per_minute)
        if model.tokens_per_minute:
            seconds = max(seconds, 60 * (prompt_tokens + reply_tokens) / model.tokens_per_minute)
        return seconds / SECONDS_PER_HOUR


def _typical_speed(model: ModelConfig) -> float | None:
    """Return the tokens a second that the endpoint states for a model; None if it states none."""
    return endpoint_traits(model.endpoint).speeds.get(model.model)
