"""FastGate checks the signatures of requests that fast paths take, in place.

    general path   the gate lets a request pass: its user is known on this connection from now on,
                   and, after a send, the topic that it may send to
    fast path      the user is known, the signature is right (or its connection is trusted), the
                   topic is known: taken. Else: left to the general path, which says why

It decides nothing. Law: a request that is admitted here would pass the gate. All that is known is
forgotten with the table of users and rules that it was decided by (`epoch`).
"""

from typing import TYPE_CHECKING, Any

from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.protocol.remoting.signature import STAMP
from aerobee.protocol.remoting.signed_header import SignedHeader, SigningKey
from aerobee.service.access.accounts import Accounts
from aerobee.service.access.request_rights import SENT_TOPIC_FIELDS
from aerobee.service.access.request_stamps import AGE_MS_MAX, RequestStamps, StampSession
from aerobee.service.request import Request

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython

USERS_MAX = 8
"""Of one connection; beyond, all are forgotten."""
TOPICS_MAX = 1_000
"""Of one user on one connection; likewise."""
_AGE_MS_MAX = AGE_MS_MAX


def is_compiled() -> bool:
    return cython.compiled


class KnownUser:
    """A user whom the gate let pass on one connection."""

    __slots__ = ("key", "name", "session", "topics", "trusted_until_ms")

    def __init__(self, name: bytes, key: SigningKey) -> None:
        self.name = name
        self.key = key
        self.topics: set[bytes] = set()
        """Topics that it may send to from this connection's address."""
        self.trusted_until_ms = 0
        """RocketMQ's stateful strategy: until then no signature is looked at."""
        self.session: StampSession | None = None


class FastGate:
    """F1. `_known` has what the gate decided by the table of `epoch`, and nothing else."""

    __slots__ = (
        "_accounts",
        "_count",
        "_header",
        "_known",
        "_now_ms",
        "_stamp_ms",
        "_stamps",
        "_trust_ms",
        "_user",
        "_users",
        "_wall_ms",
        "epoch",
    )

    def __init__(self, accounts: Accounts, stamps: RequestStamps, trust_ms: int) -> None:
        """`trust_ms`: how long a right signature holds for its connection; 0: it does not."""
        self._accounts = accounts
        self._stamps = stamps
        self._trust_ms = trust_ms
        self._header = SignedHeader()
        self._known: dict[ChannelId, list[KnownUser]] = {}
        # Of the read that is handled now.
        self._users: list[KnownUser] | None = None
        self._user: KnownUser | None = None
        self._now_ms = 0
        self._wall_ms = 0
        # Of the stamp of the frame that was admitted last; 0: it has none.
        self._count = 0
        self._stamp_ms = 0
        self.epoch = accounts.epoch

    def begin(self, channel: ChannelId, now: Now) -> bool:
        """A read of a connection begins. False: nobody is known on it."""
        if self._accounts.epoch != self.epoch:
            self.epoch = self._accounts.epoch
            self._known.clear()
        self._users = self._known.get(channel)
        if self._users is None:
            return False
        self._user = self._users[0]
        self._now_ms = now.monotonic_ms
        self._wall_ms = now.wall_ms
        return True

    def admits(self, frames: Any) -> bool:
        """Whether the current frame of a `FrameReader` is of a user who is known on this
        connection. `may_send` is about that user then. A fast path that has taken the frame calls
        `took`."""
        header = self._header
        self._count = 0
        if self._users is None or not header.read(frames):
            return False
        user = self._user
        if user is None or not header.is_of(user.name):
            user = self._find()
            if user is None:
                return False
            self._user = user
        if self._now_ms >= user.trusted_until_ms and not header.is_signed_with(user.key):
            return False
        return header.stamp_end == 0 or self._is_new(user)

    def took(self) -> None:
        """The frame that was admitted last is taken: its stamp is used."""
        user = self._user
        if self._count != 0 and user is not None and user.session is not None:
            user.session.count = self._count
            if self._stamp_ms > user.session.wall_ms:
                user.session.wall_ms = self._stamp_ms

    def may_send(self, topic: bytes) -> bool:
        """Whether the user of the frame that was admitted last may send to a topic."""
        user = self._user
        return user is not None and topic in user.topics

    def note(self, request: Request) -> None:
        """The gate let a request pass."""
        user = request.user
        account = None if user is None else self._accounts.find(user.name)
        if account is None or self._accounts.epoch != self.epoch:
            return
        users = self._known.setdefault(request.channel, [])
        name = account.user.name.encode("utf-8", "replace")
        known = next((one for one in users if one.name == name), None)
        if known is None:
            if len(users) >= USERS_MAX:
                users.clear()
            known = KnownUser(name, account.signing_key)
            users.append(known)
        fields = request.command.ext_fields
        field = SENT_TOPIC_FIELDS.get(request.command.code)
        if field is not None:
            if len(known.topics) >= TOPICS_MAX:
                known.topics.clear()
            known.topics.add(fields.get(field, "").encode("utf-8", "replace"))
        if self._trust_ms and known.trusted_until_ms <= request.now.monotonic_ms:
            known.trusted_until_ms = request.now.monotonic_ms + self._trust_ms
        if STAMP in fields:
            known.session = self._stamps.session_of(fields[STAMP])

    def names(self, channel: ChannelId) -> list[str]:
        """The users who are known on a connection."""
        return [user.name.decode("utf-8", "replace") for user in self._known.get(channel, ())]

    def last_name(self) -> str:
        """The user of the frame that was admitted last in this read; empty: there is none."""
        user = self._user
        return "" if user is None else user.name.decode("utf-8", "replace")

    def forget(self, channel: ChannelId) -> None:
        """A connection is closed."""
        self._known.pop(channel, None)

    def _find(self) -> KnownUser | None:
        """The user of the header that was read, if it is known."""
        users = self._users
        if users is not None:
            for user in users:
                if self._header.is_of(user.name):
                    return user
        return None

    def _is_new(self, user: KnownUser) -> bool:
        """Whether the frame's stamp is right and was not used before."""
        session = user.session
        header = self._header
        if (
            session is None
            or header.stamp_number(0) != header.code
            or header.stamp_number(2) != session.number
        ):
            return False
        wall_ms = header.stamp_number(1)
        count = header.stamp_number(3)
        age_ms = self._wall_ms - wall_ms
        if age_ms > _AGE_MS_MAX or age_ms < -_AGE_MS_MAX or count <= session.count:
            return False
        self._count = count
        self._stamp_ms = wall_ms
        return True
