"""Certificates for tests, right ones and wrong ones: made once, by `aerobee tls`' own code."""

import ssl
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import NamedTuple

from aerobee.app.authority import Authority
from aerobee.net.tls_config import Asked, TlsConfig, TlsMode

HOSTS = ("localhost", "127.0.0.1")


class Pair(NamedTuple):
    certificate: str
    key: str


class Certificates(NamedTuple):
    authority: str
    host: Pair
    """For this machine."""
    client: Pair
    expired: Pair
    elsewhere: Pair
    """For another host."""
    self_signed: Pair
    stranger: Pair
    """For this machine, by another authority."""
    other_authority: str


@cache
def certificates() -> Certificates:
    # Kept as long as the tests run: many of them use the same.
    folder = Path(_folder().name)
    own, other, alone = (Authority(str(folder / name)) for name in ("own", "other", "alone"))
    for authority in (own, other, alone):
        authority.make(f"Authority {Path(authority.folder).name}")
    return Certificates(
        own.certificate,
        Pair(*own.issue("host", HOSTS)),
        Pair(*own.issue("client")),
        Pair(*own.issue("expired", HOSTS, days=-1)),
        Pair(*own.issue("elsewhere", ("elsewhere.example", "192.0.2.7"))),
        Pair(alone.certificate, alone.key),
        Pair(*other.issue("host", HOSTS)),
        other.certificate,
    )


@cache
def _folder() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="aerobee-tls-")


def server_config(
    pair: Pair | None = None,
    mode: TlsMode = TlsMode.ENFORCING,
    asks_clients: Asked = Asked.NONE,
    authority: str = "",
    **others: object,
) -> TlsConfig:
    """The settings of a server on this machine."""
    made = certificates()
    shown = pair or made.host
    return TlsConfig(
        mode,
        shown.certificate,
        shown.key,
        authority=authority or made.authority,
        asks_clients=asks_clients,
        **others,  # type: ignore[arg-type]
    )


def settings_text(prefix: str, config: TlsConfig) -> dict[str, str]:
    """The same as environment variables of a process."""
    return {
        f"{prefix}TLS_MODE": config.mode.value,
        f"{prefix}TLS_CERTIFICATE": config.certificate,
        f"{prefix}TLS_KEY": config.key,
        f"{prefix}TLS_AUTHORITY": config.authority,
        f"{prefix}TLS_CLIENT_CERTIFICATES": config.asks_clients.value,
    }


def old_client_context() -> ssl.SSLContext:
    """The context of a client that knows TLS 1.1 and no newer."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    return context
