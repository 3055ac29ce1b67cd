"""Every error of moot that another module catches, in one tree.

MootError
  UserError                   a mistake in configuration or data: one message, and the run ends
    UnknownNameError
    CannotTellError           the data cannot answer a question; a table says why
  RunStoppedError             the run cannot go on; everything paid for is kept
    LogprobsUnavailableError
  CallError                   one call went wrong
    CallFailedError           for good
      CallRefusedError        the server refuses this request
    ContentFilteredError      the server's filter withholds the reply
    TransientError            the reply cannot be used; worth another attempt
      ServerFaultError        the server is busy or out of order; it is waited for
        UnreachableError
        NotFoundError
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
    """The run cannot go on, although everything paid for is kept.

    Its budget is spent, a key is refused, or a quota is used up.
    """


class AccountError(RunStoppedError):
    """A server refuses the account; the message does not name the model's entry."""


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
    """This call cannot succeed (refused, out of retries).

    Its debate continues without it or fails.

    `cost_usd` is the cost of its attempts: the server also counts replies that are empty or too
    long. `usage` is the tokens of such a reply, before its cost is known.
    """

    def __init__(self, message: str, cost_usd: float = 0.0, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.cost_usd = cost_usd
        self.usage = usage


class CallRefusedError(CallFailedError):
    """The server refuses this request by its status."""


class ContentFilteredError(CallError):
    """The server's filter refuses the prompt (code `content_filter`): a refusal of this case."""


class TransientError(CallError):
    """The server sent no usable reply. Another attempt may succeed.

    `usage` is the tokens of an unusable reply, which is paid for.
    """

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage


class ServerFaultError(TransientError):
    """The server is busy, failed, dropped the connection or was too slow.

    `retry_after` is the time in seconds that it asks to wait, or None.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class UnreachableError(ServerFaultError):
    """There is no connection. If none succeeds, no call of the run can."""


class NotFoundError(ServerFaultError):
    """The server does not know the model or the address (404).

    After a first reply it is waited for, since gateways answer so while a model is reloaded.
    """


class DebatePausedError(MootError):
    """The debate continues in a later run, since an answer or a reply is missing or unusable.

    The message begins with `NO_ANSWER_YET` and names the file of a person's answer, with
    `UNUSABLE_ANSWER` and states the fault, or with `REPLY_PENDING` and names the pending call.
    """


class UnavailableError(MootError):
    """A baseline cannot run here (library or weights missing).

    The message becomes the status of its row.
    """
