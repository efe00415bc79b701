"""Authentication: compares the signature of a request with what its user would have signed.

Clients differ in what they sign, besides the fields that all do:

    up to version 399      `_UNIQUE_KEY_QUERY` is added after signing
    Java 5 with zones      `__ZONE_NAME` and `__ZONE_MODE` are added after signing
    Go                     SecurityToken is sent, and not signed

A signature over everything is tried first. An unknown user takes as long as a wrong signature, and
both get the same answer, so that names cannot be guessed.
"""

import hmac
from collections.abc import Iterator, Mapping

from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.remoting.signature import (
    ACCESS_KEY,
    SECURITY_TOKEN,
    SIGNATURE,
    UNIQUE_KEY_QUERY,
    sign,
    signed_text,
)

_UNSIGNED_QUERY_VERSION_MAX = 399
_ZONES = frozenset({"__ZONE_NAME", "__ZONE_MODE"})
_NOBODY = "nobody has this key"


def user_name(fields: Mapping[str, str]) -> str:
    """The user whom a request says it is of; empty: it says nothing."""
    return fields.get(ACCESS_KEY, "")


class SignatureCheck:
    """The signature of one request; texts are made when they are needed, once."""

    def __init__(self, command: RemotingCommand, body: bytes) -> None:
        self._fields = command.ext_fields
        self._body = body
        self._version = command.version
        self._said = command.ext_fields.get(SIGNATURE, "").encode("utf-8", "replace")
        self._known: dict[str, bool] = {}

    def is_of(self, secret: str | None) -> bool:
        """Whether it was made with this secret; None: of a user that there is not."""
        asked = _NOBODY if secret is None else secret
        found = self._known.get(asked)
        if found is None:
            found = self._known[asked] = self._compare(asked)
        return found and secret is not None

    def spend(self, count: int) -> None:
        """Do as much work as a comparison with so many secrets takes, if less was done: how long a
        refusal takes must not tell who has the name that it claims, and who has not."""
        for number in range(count - len(self._known)):
            self._known[f"{_NOBODY} {number}"] = self._compare(_NOBODY)

    def _compare(self, secret: str) -> bool:
        is_same = False
        for text in self._texts():
            is_same |= hmac.compare_digest(sign(text, secret).encode(), self._said)
        return is_same

    def _texts(self) -> Iterator[bytes]:
        late = {UNIQUE_KEY_QUERY} if self._version <= _UNSIGNED_QUERY_VERSION_MAX else set()
        yield signed_text(self._fields, self._body, left_out=late)
        if not _ZONES.isdisjoint(self._fields):
            yield signed_text(self._fields, self._body, left_out=late | _ZONES)
        if SECURITY_TOKEN in self._fields:
            yield signed_text(self._fields, self._body, left_out={*late, SECURITY_TOKEN})
