"""`Target`: name servers, credentials and switches of a client, parsed from one line of text.

    localhost:9876
    10.0.0.1:9876;10.0.0.2:9876                     several name servers, any of them will do
    rmq://key:secret@10.0.0.1;10.0.0.2/ns?tls=on    the default port is 9876

RocketMQ separates name servers by semicolons; commas are taken, too. A secret may be
percent-encoded, as in every URL.
"""

from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from aerobee.errors import Misuse
from aerobee.model.access import Credentials

DEFAULT_PORT = 9876
SCHEME = "rmq"
_HINT = 'say "host:port", "host:port;host:port" or "rmq://key:secret@host:port/namespace?tls=on"'
_ON = frozenset({"on", "true", "yes", "1"})
_OFF = frozenset({"off", "false", "no", "0"})


@dataclass(frozen=True, slots=True)
class Target:
    name_servers: tuple[str, ...]
    credentials: Credentials | None = None
    namespace: str = ""
    is_tls: bool = False


def parse_target(text: str) -> Target:
    """The target of a text. Misuse says what is wrong, and never repeats a secret."""
    if not isinstance(text, str):
        raise Misuse(f"an address of type {type(text).__name__}", hint=_HINT)
    if "://" not in text:
        return Target(_addresses(text))
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise Misuse(f"an address that cannot be read: {error}", hint=_HINT) from None
    if parts.scheme != SCHEME:
        raise Misuse(f"the scheme {parts.scheme!r} is not {SCHEME!r}", hint=_HINT)
    login, _, places = parts.netloc.rpartition("@")
    return Target(
        _addresses(places),
        credentials=_credentials(login),
        namespace=unquote(parts.path.strip("/")),
        is_tls=_is_tls(parts.query),
    )


def _addresses(text: str) -> tuple[str, ...]:
    found = tuple(
        dict.fromkeys(_address(one.strip()) for one in text.replace(",", ";").split(";") if one)
    )
    if not found:
        raise Misuse("no name server is given", hint=_HINT)
    return found


def _address(text: str) -> str:
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        host, port = text, str(DEFAULT_PORT)
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise Misuse(f"{text!r} is no address of a name server", hint=_HINT)
    if ":" in host and not host.startswith("["):
        raise Misuse(f"{text!r} is not clear", hint=f"an IPv6 address goes in brackets: [{text}]")
    return f"{host}:{int(port)}"


def _credentials(login: str) -> Credentials | None:
    if not login:
        return None
    access_key, _, secret_key = login.partition(":")
    if not access_key or not secret_key:
        raise Misuse("an access key needs its secret, and a secret its key", hint=_HINT)
    return Credentials(unquote(access_key), unquote(secret_key))


def _is_tls(query: str) -> bool:
    is_tls = False
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name != "tls" or value.lower() not in _ON | _OFF:
            raise Misuse(f"the option {name}={value} is not known", hint="tls=on or tls=off")
        is_tls = value.lower() in _ON
    return is_tls
