"""The hours that the calls of a preview would take, by the speed of each model."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from moot.core.batch_config import HOURS_PER_WAVE
from moot.core.endpoint_traits import endpoint_traits
from moot.core.model_config import ModelConfig
from moot.llm.ledger.ledger import Entry
from moot.llm.request import Reply

SECONDS_PER_HOUR = 3600.0


class SpeedMeter:
    """The seconds that a call of each model takes, measured on the replies in the ledger."""

    def __init__(self) -> None:
        self._seconds: defaultdict[str, dict[str, float]] = defaultdict(dict)

    def add(self, entry: Entry) -> None:
        """Count a stored reply; the same reply counts once for a model."""
        if entry.reply.seconds > 0:
            self._seconds[entry.model][entry.call_id] = entry.reply.seconds

    def is_measured(self, name: str) -> bool:
        """Return whether a stored reply of a model shows its speed."""
        return bool(self._seconds[name])

    def is_typical(self, name: str, model: ModelConfig) -> bool:
        """Return whether only the typical speed of its kind is known of a model."""
        return not self.is_measured(name) and _typical_speed(model) is not None

    def seconds_of(self, name: str, model: ModelConfig, totals: "CallTotals") -> float:
        """Return the seconds of calls, one after the other; NaN if no speed is known.

        A measured call counts as a whole: its tokens in a second would count the most tokens that
        a reply may have, of which most replies take a small part.
        """
        seconds = self._seconds[name].values()
        if seconds:
            return totals.calls * sum(seconds) / len(seconds)
        return totals.completion_tokens / (_typical_speed(model) or math.nan)


def _typical_speed(model: ModelConfig) -> float | None:
    """Return the tokens a second that the endpoint states for a model; None if it states none."""
    return endpoint_traits(model.endpoint).speeds.get(model.model)


@dataclass(slots=True)
class CallTotals:
    """The calls of one model: their number and their tokens."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def add(self, reply: Reply) -> None:
        """Add a call."""
        self.calls += 1
        self.prompt_tokens += reply.prompt_tokens
        self.completion_tokens += reply.completion_tokens


def estimate_hours(
    entries: Iterable[Entry],
    models: Mapping[str, ModelConfig],
    speeds: SpeedMeter,
    waves: int,
) -> float:
    """Return the hours that the calls of a run take, one model after the other.

    Args:
        entries: The calls with placeholder replies of the greatest length.
        models: The models by name.
        speeds: Their measured speeds.
        waves: The waves of calls that are sent together, one after the other; each takes at most
            the provider's window.

    Returns:
        The hours; NaN if the speed of a model is unknown.
    """
    totals_by_model: defaultdict[str, CallTotals] = defaultdict(CallTotals)
    for entry in entries:
        totals_by_model[entry.model].add(entry.reply)
    hours = 0.0
    for name, totals in totals_by_model.items():
        model = models[name]
        if model.gathers_calls:
            hours += waves * HOURS_PER_WAVE
        else:
            hours += _hours_of_calls(totals, model, speeds.seconds_of(name, model, totals))
    return hours


def _hours_of_calls(totals: CallTotals, model: ModelConfig, seconds: float) -> float:
    """Return the hours by their seconds and concurrency, or by the limit per minute if that takes
    longer.
    """
    one_at_a_time = endpoint_traits(model.endpoint).in_process
    concurrency = 1 if one_at_a_time else model.concurrency
    seconds /= concurrency
    if model.requests_per_minute:
        seconds = max(seconds, 60 * totals.calls / model.requests_per_minute)
    if model.tokens_per_minute:
        tokens = totals.prompt_tokens + totals.completion_tokens
        seconds = max(seconds, 60 * tokens / model.tokens_per_minute)
    return seconds / SECONDS_PER_HOUR
