"""CallSignature: the signature of a call of gRPC, in its header `authorization`.

    MQv2-HMAC-SHA1 Credential=<user>[/…], SignedHeaders=x-mq-date-time, Signature=<hex>

It is an HMAC-SHA1 of the text of `x-mq-date-time`, with the user's password. Clients write the hex
digits in either case. The text is only signed, never read: they disagree about its format, and
about the time zone.
"""

import hashlib
import hmac
from collections.abc import Mapping

AUTHORIZATION = "authorization"
DATE_TIME = "x-mq-date-time"
_NOBODY = "nobody has this key"


class CallSignature:
    """Compared as `service.access.authentication.SignatureCheck` is."""

    def __init__(self, metadata: Mapping[str, str]) -> None:
        parts = {}
        for part in metadata.get(AUTHORIZATION, "").partition(" ")[2].split(","):
            name, _, value = part.strip().partition("=")
            parts[name] = value
        self.name = parts.get("Credential", "").partition("/")[0]
        """The user whom it says it is of; empty: it says nothing."""
        self._text = metadata.get(DATE_TIME, "").encode()
        self._right: str | None = None
        try:
            self._said = bytes.fromhex(parts.get("Signature", ""))
        except ValueError:
            self._said = b""

    def is_of(self, secret: str | None) -> bool:
        """Whether it was made with this secret; None: of a user that there is not."""
        if secret is not None and secret == self._right:
            return True  # a call is asked for more than once
        key = (_NOBODY if secret is None else secret).encode()
        is_same = hmac.compare_digest(hmac.digest(key, self._text, hashlib.sha1), self._said)
        is_right = is_same and secret is not None and bool(self._text)
        if is_right:
            self._right = secret
        return is_right
