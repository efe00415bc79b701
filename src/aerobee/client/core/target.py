"""`Target`: name servers, credentials and switches of a client, parsed from one line of text.

    localhost:9876
    10.0.0.1:9876;10.0.0.2:9876                     several name servers, any of them will do
    rmq://key:secret@10.0.0.1;10.0.0.2/ns?tls=on    the default port is 9876
    rmqs://mq.example:9876?ca=/etc/mq/ca.crt        the same as rmq:// with tls=on
    rmqs://mq.example?ca=ca.crt&cert=me.crt&key=me.key

`ca` is the file of the authority that signed the servers' certificates (without it, those that the
system trusts), `cert` and `key` are the client's own, for servers that ask for one.
RocketMQ separates name servers by semicolons; commas are taken, too. A secret may be
percent-encoded, as in every URL.
"""

from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, unquote, urlsplit

from aerobee.errors import Misuse
from aerobee.model.access import Credentials

DEFAULT_PORT = 9876
SCHEME = "rmq"
TLS_SCHEME = "rmqs"
_HINT = (
    'say "host:port", "host:port;host:port", "rmq://key:secret@host:port/namespace" '
    'or "rmqs://host:port?ca=FILE"'
)
_TLS_HINT = "tls=on or tls=off, ca=FILE, cert=FILE and key=FILE"
_ON = frozenset({"on", "true", "yes", "1"})
_OFF = frozenset({"off", "false", "no", "0"})


@dataclass(frozen=True, slots=True)
class Target:
    name_servers: tuple[str, ...]
    credentials: Credentials | None = None
    namespace: str = ""
    is_tls: bool = False
    authority: str = ""
    """The file with the certificates of those who may sign a server's; empty: the system's."""
    certificate: str = ""
    key: str = ""


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
    if parts.scheme not in (SCHEME, TLS_SCHEME):
        raise Misuse(f"the scheme {parts.scheme!r} is not {SCHEME!r} or {TLS_SCHEME!r}", hint=_HINT)
    login, _, places = parts.netloc.rpartition("@")
    target = Target(
        _addresses(places),
        credentials=_credentials(login),
        namespace=unquote(parts.path.strip("/")),
        is_tls=parts.scheme == TLS_SCHEME,
    )
    return _with_tls(target, parts.query)


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


def _with_tls(target: Target, query: str) -> Target:
    """The target with the options behind its `?`."""
    given = dict(parse_qsl(query, keep_blank_values=True))
    switch = given.pop("tls", "").lower()
    files = {name: given.pop(name, "") for name in ("ca", "cert", "key")}
    if given:
        name, value = next(iter(given.items()))
        raise Misuse(f"the option {name}={value} is not known", hint=_TLS_HINT)
    if switch not in _ON | _OFF | {""}:
        raise Misuse(f"the option tls={switch} is not known", hint=_TLS_HINT)
    is_tls = switch in _ON or (not switch and (target.is_tls or any(files.values())))
    if target.is_tls and not is_tls:
        raise Misuse(f"{TLS_SCHEME}:// with tls=off", hint=f"{SCHEME}:// is without TLS")
    if bool(files["cert"]) != bool(files["key"]):
        raise Misuse("a certificate needs its key, and a key its certificate", hint=_TLS_HINT)
    return replace(
        target, is_tls=is_tls, authority=files["ca"], certificate=files["cert"], key=files["key"]
    )
