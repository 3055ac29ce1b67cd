"""Every error of moot that another module catches, in one tree.

MootError
  UserError                   a mistake in configuration or data: one message, and the run ends
    UnknownNameError
    CannotTellError           the data cannot answer a question; a table says why
  RunStoppedError             the run cannot go on; everything paid for is kept
    LogprobsUnavailableError
  CallError                   one call went wrong
    CallFailedError           for good
    TransientError            worth another attempt
      UnreachableError
    RateLimitedError          the server asks to wait
  DebatePausedError           a debate waits for a person, or for replies of a later run
  UnavailableError            a baseline cannot run here
"""

from collections.abc import Iterable
from difflib import get_close_matches

from moot.core.usage import Usage


class MootError(Exception):
    """What moot itself raises for another part of it, or for the user."""


class UserError(MootError):
    """A mistake in configuration or data.

    The message names the place (file, row, column), what was found, what was expected, and what to
    do.
    """


class CannotTellError(UserError):
    """The data of an experiment cannot answer a question.

    A table of questions shows the message in place of a value, and the run goes on.
    """


class RunStoppedError(MootError):
    """The run cannot go on (budget spent, key refused, quota used up); everything paid for is
    kept.
    """


class LogprobsUnavailableError(RunStoppedError):
    """An endpoint gives no token probabilities; a protocol that has another way may take it."""


class UnknownNameError(UserError):
    """A name in the configuration that nothing carries."""

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name


def unknown_name(
    kind: str, name: str, known_names: Iterable[str], location: str = ""
) -> UnknownNameError:
    """Return the error for a name that nothing carries; it names the nearest known one, and all
    where these are few.

    >>> str(unknown_name("protocol", "cort", ["cot", "panel"]))
    "unknown protocol 'cort'; did you mean 'cot'? Known: cot, panel."
    """
    names = sorted(set(known_names))
    nearest = get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"; did you mean '{nearest[0]}'?" if nearest else "."
    suggestions = (
        names
        if len(names) <= _MAX_LISTED or not nearest
        else get_close_matches(name, names, n=_MAX_SUGGESTIONS, cutoff=0.3)
    )
    remainder = (
        f", and {len(names) - len(suggestions)} more" if len(suggestions) < len(names) else ""
    )
    place = f"{location}: " if location else ""
    return UnknownNameError(
        f"{place}unknown {kind} '{name}'{hint} Known: {', '.join(suggestions)}{remainder}.", name
    )


_MAX_LISTED = 20
_MAX_SUGGESTIONS = 5


class CallError(MootError):
    """One call to a model went wrong."""


class CallFailedError(CallError):
    """This call cannot succeed (refused, too long, out of retries): its debate goes on without it
    or fails.

    `cost_usd` is what its attempts cost all the same: replies that were empty or too long, but
    counted by the server. `usage` is what such a reply was counted as, before its cost is
    known.
    """

    def __init__(self, message: str, cost_usd: float = 0.0, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.cost_usd = cost_usd
        self.usage = usage


class TransientError(CallError):
    """The server failed, dropped the connection, took too long or sent no usable reply: try again
    after a pause.

    `usage` is what a reply that cannot be used was counted as; it is paid for.
    """

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage


class UnreachableError(TransientError):
    """No connection at all: if it never comes about, no call of the run can succeed."""


class RateLimitedError(CallError):
    """The server asks to wait; `retry_after` is what it said, in seconds, or None."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class DebatePausedError(MootError):
    """The debate goes on in a later run: an answer or a reply is missing, or an answer is unusable.

    The message begins with `NO_ANSWER_YET` and names the file of a person's answer, with
    `UNUSABLE_ANSWER` and says what is wrong, or with `REPLY_PENDING` and names what it waits for.
    """


class UnavailableError(MootError):
    """A baseline that cannot run here (library or weights absent); the message becomes the status
    of its row.
    """
