"""LinkGuard lets nobody have the log of a master who does not prove to be one of its brokers.

A slave writes a proof before anything else to an HA link; what follows is RocketMQ's HA protocol.
All numbers big-endian:

    0        8           10       10+n            18+n               50+n
    +--------+-----------+--------+---------------+------------------+
    | -2.3e18| n: size   | name   | wall time, ms | HMAC-SHA256      |
    | i64    | u16       | UTF-8  | i64           | of all before it |
    +--------+-----------+--------+---------------+------------------+

Behind the name a zero and the sender may follow: two members of a group prove who they are by the
same user, perhaps in the same millisecond, and their proofs must differ. The HMAC's key is the
user's secret, and the broker's name is signed with it: a proof is for one broker, and counts once,
within some minutes. The first number is no log offset: a master that expects no proof closes the
link.
"""

import hashlib
import hmac
import struct

from aerobee.errors import RemoteProtocolError
from aerobee.model.access import Credentials
from aerobee.ports.clock import Now
from aerobee.ports.service import LinkId
from aerobee.service.access.accounts import Accounts
from aerobee.service.access.audit import Audit

MARK = -0x2043_4F45_5242_4545
NAME_BYTES_MAX = 1024
AGE_MS_MAX = 300_000
SEEN_MAX = 10_000

_START = struct.Struct(">qH")
_TIME = struct.Struct(">q")
_TAG_BYTES = 32


def link_proof(credentials: Credentials, broker: str, wall_ms: int, sender: str = "") -> bytes:
    """The proof that a slave of the named broker writes at this time. `sender` tells one link from
    another: the address of the slave, and a count."""
    name = credentials.access_key.encode() + (b"\0" + sender.encode() if sender else b"")
    said = _START.pack(MARK, len(name)) + name + _TIME.pack(wall_ms)
    return said + _tag(said, credentials.secret_key, broker)


class LinkGuard:
    """G1. A link is in `_heads` until its proof was right; its bytes go nowhere."""

    def __init__(
        self,
        accounts: Accounts,
        broker: str,
        inner: Credentials | None,
        audit: Audit | None = None,
    ) -> None:
        """`inner` is the brokers' own user, if there is one; `audit` is told of refused links."""
        self._audit = audit
        self._accounts = accounts
        self._broker = broker
        self._inner_name = "" if inner is None else inner.access_key
        self._heads: dict[LinkId, bytes] = {}
        self._sources: dict[LinkId, str] = {}
        # Proofs that were taken, and when they were written: none counts twice.
        self._seen: dict[bytes, int] = {}

    def opened(self, link: LinkId, source: str) -> None:
        """A link is open from an address."""
        self._heads[link] = b""
        self._sources[link] = source

    def closed(self, link: LinkId) -> None:
        self._heads.pop(link, None)
        self._sources.pop(link, None)

    def passed(self, link: LinkId, data: bytes | memoryview, now: Now) -> bytes | memoryview:
        """The bytes behind the proof; none while it is not whole. RemoteProtocolError: close the
        link."""
        head = self._heads.get(link)
        if head is None:
            return data
        head += bytes(data)
        try:
            size = _proof_bytes(head)
            if size == 0 or len(head) < size:
                self._heads[link] = head
                return b""
            self._check(head[:size], now)
        except RemoteProtocolError as error:
            if self._audit is not None:
                source = self._sources.get(link, "")
                self._audit.link_refused(source, error.message, now.wall_ms)
            raise
        del self._heads[link]
        return head[size:]

    def _check(self, proof: bytes, now: Now) -> None:
        said, tag = proof[:-_TAG_BYTES], proof[-_TAG_BYTES:]
        name = said[_START.size : -_TIME.size].decode("utf-8", "replace").partition("\0")[0]
        (wall_ms,) = _TIME.unpack(said[-_TIME.size :])
        account = self._accounts.find(name)
        secret = "" if account is None else account.user.password
        is_right = hmac.compare_digest(tag, _tag(said, secret, self._broker))
        if not is_right or account is None or not account.user.is_enabled:
            raise RemoteProtocolError("the proof of a slave is wrong")
        if not account.is_super and name != self._inner_name:
            raise RemoteProtocolError(f"User:{name[:255]} is no broker and gets no log")
        if abs(now.wall_ms - wall_ms) > AGE_MS_MAX:
            raise RemoteProtocolError(
                "the proof of a slave is not of now: are the clocks of both brokers right?"
            )
        self._forget_old(now.wall_ms)
        if tag in self._seen or len(self._seen) >= SEEN_MAX:
            raise RemoteProtocolError("the proof of a slave was used before")
        self._seen[tag] = wall_ms

    def _forget_old(self, wall_ms: int) -> None:
        old = [tag for tag, then in self._seen.items() if abs(wall_ms - then) > AGE_MS_MAX]
        for tag in old:
            del self._seen[tag]


def _proof_bytes(head: bytes) -> int:
    """The size of a proof that begins so; 0: not known yet."""
    if len(head) < _START.size:
        if head and not _START.pack(MARK, 0).startswith(head[:8]):
            raise RemoteProtocolError("a slave that proves nothing: it gets no log")
        return 0
    mark: int
    size: int
    mark, size = _START.unpack_from(head)
    if mark != MARK or size > NAME_BYTES_MAX:
        raise RemoteProtocolError("a slave that proves nothing: it gets no log")
    return _START.size + size + _TIME.size + _TAG_BYTES


def _tag(said: bytes, secret: str, broker: str) -> bytes:
    text = b"aerobee: the log of " + broker.encode() + b"\0" + said
    return hmac.digest(secret.encode(), text, hashlib.sha256)
