"""AccessConfig: the settings of authentication and authorization, frozen, and RocketMQ's names for
them. All are read at the start.

RocketMQ's classes may be named where it names them; there is one of each here. Its caches have no
meaning: users and rules are in memory.
"""

from dataclasses import dataclass, field
from typing import Any

from aerobee.errors import ProtocolError
from aerobee.model.access import Credentials
from aerobee.model.setting import TRUTH, Setting, Whole
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import parse, write_compact

_CODES_MAX = 1_000
_PACKAGE = "org.apache.rocketmq.auth."


@dataclass(frozen=True, slots=True)
class AccessConfig:
    authenticates: bool = False
    """Signatures of requests are checked."""
    authorizes: bool = False
    """Rules decide what a user may do. Off: every known user may do everything."""
    init_user: Credentials | None = None
    """A super user that is made at the start if there is no user of that name."""
    inner: Credentials | None = None
    """The process signs its own requests with these; their user is made like the one above."""
    unsigned_codes: frozenset[int] = frozenset()
    """Request codes whose signature is not checked."""
    unruled_codes: frozenset[int] = frozenset()
    """Request codes that need no rule."""
    trusts_connections: bool = False
    """RocketMQ's stateful strategy: a signature that was right holds for its connection and user
    for a while. Off: each request is checked."""
    trust_ms: int = 60_000
    key: bytes = field(default=b"", repr=False)
    """Under which secrets are stored; empty: nothing is stored."""

    def __post_init__(self) -> None:
        if self.authorizes and not self.authenticates:
            raise ValueError(
                "authorizationEnabled=true needs authenticationEnabled=true: without a signature "
                "anybody could name any user"
            )
        if self.authenticates and self.init_user is None and self.inner is None:
            raise ValueError(
                "authenticationEnabled=true needs initAuthenticationUser or "
                "innerClientAuthenticationCredentials: else there would be no user to begin with"
            )


OPEN = AccessConfig()
"""Nobody is asked who it is."""


class Login:
    """A user with its password, as a JSON object. Members are called as RocketMQ calls them."""

    def __init__(self, name: str, secret: str, token: str = "") -> None:
        self._name = name
        self._secret = secret
        self._token = token

    def read(self, text: str) -> Credentials | None:
        if not text:
            return None
        try:
            members = Members(parse(text.encode()), "it")
            name, secret = members.text(self._name), members.text(self._secret)
            token = members.text(self._token, "") if self._token else ""
        except ProtocolError:
            name, secret, token = "", "", ""
        if not name.strip() or not secret.strip():
            raise ValueError(f'{{"{self._name}":"…","{self._secret}":"…"}}')
        return Credentials(name, secret, token)

    def write(self, value: Credentials | None) -> str:
        """Never the secret: settings are printed."""
        return "" if value is None else write_compact({self._name: value.access_key}).decode()


class Codes:
    """Request codes, with commas in between."""

    def read(self, text: str) -> frozenset[int]:
        parts = [part.strip() for part in text.split(",") if part.strip()]
        if len(parts) > _CODES_MAX or not all(
            part.isascii() and part.isdigit() and len(part) < 10 for part in parts
        ):
            raise ValueError("request codes, with commas in between")
        return frozenset(map(int, parts))

    def write(self, value: frozenset[int]) -> str:
        return ",".join(map(str, sorted(value)))


class ClassName:
    """The name of one of RocketMQ's classes, whole or its last part; the value is the index."""

    def __init__(self, part: str, *names: str) -> None:
        self._part = part
        self._names = names

    def read(self, text: str) -> bool:
        for index, name in enumerate(self._names):
            if text in (name, f"{_PACKAGE}{self._part}.{name}"):
                return index > 0
        if not text:
            return False
        raise ValueError(" or ".join(self._names))

    def write(self, value: Any) -> str:
        return f"{_PACKAGE}{self._part}.{self._names[int(value)]}"


@dataclass(frozen=True, slots=True)
class AccessClasses:
    """Classes of RocketMQ of which there is one here, so that its files can be read."""

    authentication_provider: bool = False
    authentication_metadata: bool = False
    authorization_provider: bool = False
    authorization_metadata: bool = False
    authorization_strategy: bool = False
    """A decision is remembered until users or rules change, whichever is named."""


SETTINGS = (
    Setting("authenticationEnabled", "authenticates", TRUTH),
    Setting("authorizationEnabled", "authorizes", TRUTH),
    Setting("initAuthenticationUser", "init_user", Login("username", "password")),
    Setting(
        "innerClientAuthenticationCredentials",
        "inner",
        Login("accessKey", "secretKey", "securityToken"),
    ),
    Setting("authenticationWhitelist", "unsigned_codes", Codes()),
    Setting("authorizationWhitelist", "unruled_codes", Codes()),
    Setting(
        "authenticationStrategy",
        "trusts_connections",
        ClassName(
            "authentication.strategy",
            "StatelessAuthenticationStrategy",
            "StatefulAuthenticationStrategy",
        ),
    ),
    Setting("statefulAuthenticationCacheExpiredSecond", "trust_ms", Whole(1, 86_400, scale=1000)),
)
CLASS_SETTINGS = (
    Setting(
        "authenticationProvider",
        "authentication_provider",
        ClassName("authentication.provider", "DefaultAuthenticationProvider"),
    ),
    Setting(
        "authenticationMetadataProvider",
        "authentication_metadata",
        ClassName("authentication.provider", "LocalAuthenticationMetadataProvider"),
    ),
    Setting(
        "authorizationProvider",
        "authorization_provider",
        ClassName("authorization.provider", "DefaultAuthorizationProvider"),
    ),
    Setting(
        "authorizationMetadataProvider",
        "authorization_metadata",
        ClassName("authorization.provider", "LocalAuthorizationMetadataProvider"),
    ),
    Setting(
        "authorizationStrategy",
        "authorization_strategy",
        ClassName(
            "authorization.strategy",
            "StatelessAuthorizationStrategy",
            "StatefulAuthorizationStrategy",
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class CallerLimits:
    """Limits of users and addresses, a part of the configurations of brokers and name servers."""

    user_requests_max: int = 0
    """Requests of one user in a second; 0: no limit."""
    user_bytes_max: int = 0
    """Bytes of the requests of one user in a second."""
    user_connections_max: int = 0
    """Connections on which one user signs."""
    address_requests_max: int = 0
    """Requests from one address in a second."""
    address_bytes_max: int = 0
    """Bytes of the requests from one address in a second."""
    address_connections_max: int = 0
    """Connections from one address."""


_INT32_MAX = 2**31 - 1
_INT64_MAX = 2**63 - 1
CALLER_LIMIT_SETTINGS = (
    Setting("userRequestsPerSecond", "user_requests_max", Whole(0, _INT32_MAX), is_live=True),
    Setting("userBytesPerSecond", "user_bytes_max", Whole(0, _INT64_MAX), is_live=True),
    Setting("userConnectionsMax", "user_connections_max", Whole(0, _INT32_MAX), is_live=True),
    Setting("addressRequestsPerSecond", "address_requests_max", Whole(0, _INT32_MAX), is_live=True),
    Setting("addressBytesPerSecond", "address_bytes_max", Whole(0, _INT64_MAX), is_live=True),
    Setting("addressConnectionsMax", "address_connections_max", Whole(0, _INT32_MAX), is_live=True),
)
