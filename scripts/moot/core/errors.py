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
    """The base of all errors that moot raises for its own code or for the user."""


class UserError(MootError):
    """A mistake in configuration or data.

    The message has the place (file, row, column), the found and the expected value, and the remedy.
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
    """An endpoint gives no token probabilities. A protocol with an alternative may use it."""


class UnknownNameError(UserError):
    """A name in the configuration does not exist."""

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name


def unknown_name(
    kind: str, name: str, known_names: Iterable[str], location: str = ""
) -> UnknownNameError:
    """Return the error for an unknown name.

    It suggests the nearest known name, and lists all known names if there are few.

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
    """This call cannot succeed (refused, too long, out of retries).

    Its debate continues without it or fails.

    `cost_usd` is the cost of its attempts: the server also counts replies that are empty or too
    long. `usage` is the tokens of such a reply, before its cost is known.
    """

    def __init__(self, message: str, cost_usd: float = 0.0, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.cost_usd = cost_usd
        self.usage = usage


class TransientError(CallError):
    """The server failed, dropped the connection, was too slow or sent no usable reply.

    Another attempt after a pause may succeed.

    `usage` is the tokens of an unusable reply, which is paid for.
    """

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage


class UnreachableError(TransientError):
    """There is no connection. If none succeeds, no call of the run can."""


class RateLimitedError(CallError):
    """The server asks to wait.

    `retry_after` is the requested time in seconds, or None.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class DebatePausedError(MootError):
    """The debate continues in a later run: an answer or a reply is missing, or an answer is
    unusable.

    The message begins with `NO_ANSWER_YET` and names the file of a person's answer, with
    `UNUSABLE_ANSWER` and states the fault, or with `REPLY_PENDING` and names the pending call.
    """


class UnavailableError(MootError):
    """A baseline cannot run here (library or weights missing).

    The message becomes the status of its row.
    """
