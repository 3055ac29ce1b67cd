"""Colleagues at the desk: each has a link with a token, which opens only their own seats."""

import hmac
import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web
from yarl import URL

from moot.core.durable import write_atomically
from moot.core.errors import UserError
from moot.core.text_files import quote_value
from moot.protocols.people import NAME_RULE, normalise_name

TOKENS = Path("data/desk-tokens.json")


@dataclass(frozen=True)
class Colleagues:
    """The people who may open the desk, and its address.

    Attributes:
        address: Scheme, host and port as colleagues' browsers name them.
        tokens: The token of each person, by name.
    """

    address: URL
    tokens: Mapping[str, str]

    @property
    def links(self) -> dict[str, str]:
        """The link of each person, by name.

        The token follows a #, which browsers do not send, so that no proxy sees it.
        """
        return {name: f"{self.address}/desk/#{token}" for name, token in self.tokens.items()}

    def admit(self, token: str, response: web.Response) -> bool:
        """Set the cookie of a token's person until the browser is closed.

        Returns:
            Whether the token is known.
        """
        if self._owner_of(token):
            secure = self.address.scheme == "https"
            response.set_cookie(
                self._cookie, token, httponly=True, samesite="Strict", secure=secure
            )
        return bool(self._owner_of(token))

    def visitor_name(self, request: web.Request) -> str:
        """Return the name of the person who sent a request; "" for a stranger."""
        return self._owner_of(request.cookies.get(self._cookie, ""))

    def _owner_of(self, token: str) -> str:
        sent = token.encode(errors="surrogateescape")
        equal = {
            name: hmac.compare_digest(own.encode(), sent)
            for name, own in self.tokens.items()
            if own
        }
        return next((name for name, is_theirs in equal.items() if is_theirs), "")

    @property
    def _cookie(self) -> str:
        """The name of the cookie.

        It contains the port, since ports of one host share cookies. `__Host-` forbids other hosts
        to set it.
        """
        return f"{'__Host-' if self.address.scheme == 'https' else ''}desk-{self.address.port}"


def load_tokens(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the tokens of some people from a folder's file; without names, of all in the file.

    A person without a token gets one, which the file stores.

    Raises:
        UserError: There is no name, a name is invalid, or the file cannot be read.
    """
    path, tokens = folder / TOKENS, {}
    if path.exists():
        try:
            tokens = {
                str(name): str(token)
                for name, token in json.loads(path.read_text(encoding="utf-8")).items()
            }
        except (ValueError, AttributeError):
            raise UserError(
                f"{path}: not the file that the desk wrote. Delete it: everybody gets a new link."
            ) from None
    people = {name: normalise_name(name) for name in names} or {name: name for name in tokens}
    if invalid_names := [
        quote_value(input_name) for input_name, name in people.items() if not name
    ]:
        raise UserError(
            f"--people: {', '.join(invalid_names)} cannot be a name here; expected {NAME_RULE}."
        )
    if not people:
        raise UserError("no person is named who may use the desk. Name them: --people ann,bob")
    tokens |= {name: secrets.token_urlsafe(24) for name in people.values() if name not in tokens}
    write_atomically(path, json.dumps(tokens, ensure_ascii=False, indent=1) + "\n", mode=0o600)
    return {name: tokens[name] for name in people.values()}
