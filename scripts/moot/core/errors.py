"""The two ways in which a run ends early, each with one message for the person at the terminal."""

from collections.abc import Iterable
from difflib import get_close_matches


class UserError(Exception):
    """A mistake in configuration or data.

    The message names the place (file, row, column), what was found, what was expected, and what to do.
    """


class RunStoppedError(Exception):
    """The run cannot go on (budget spent, key refused, quota used up); everything paid for is kept."""


class LogprobsUnavailableError(RunStoppedError):
    """An endpoint gives no token probabilities; a protocol that has another way may take it."""


def unknown_name(kind: str, name: str, known: Iterable[str], where: str = "") -> UserError:
    """The error for a name that nothing carries; it names the nearest known one.

    >>> str(unknown_name("protocol", "cort", ["cot", "panel"]))
    "unknown protocol 'cort'; did you mean 'cot'? Known: cot, panel."
    """
    names = sorted(set(known))
    nearest = get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"; did you mean '{nearest[0]}'?" if nearest else "."
    place = f"{where}: " if where else ""
    return UserError(f"{place}unknown {kind} '{name}'{hint} Known: {', '.join(names)}.")


class CallFailedError(Exception):
    """This call cannot succeed (refused, too long, out of retries): its debate goes on without it or fails."""


class DebatePausedError(Exception):
    """A person has not answered yet, or not so that it can be used: the debate goes on in a later run.

    The message begins with `NO_ANSWER_YET` and names the file, or with `UNUSABLE_ANSWER` and says what is wrong.
    """


class UnavailableError(Exception):
    """A baseline that cannot run here (library or weights absent); the message becomes the status of its row."""
