"""SSL contexts, made from files: for ports of a server, for HA links, for connections to others.

Everything here speaks TLS 1.2 or 1.3 and checks what it is shown. A file that is missing, does not
fit or has a key that others may read is a BadTlsFile, which names it and says what to do.

Servers send no session tickets: each connection is checked anew, and a client that leaves at once
does not trip over them.
"""

import os
import ssl
import stat

from aerobee.errors import Misuse
from aerobee.net.tls_config import Asked, TlsConfig

_VERIFY = {
    Asked.NONE: ssl.CERT_NONE,
    Asked.OPTIONAL: ssl.CERT_OPTIONAL,
    Asked.REQUIRE: ssl.CERT_REQUIRED,
}

HTTP2 = "h2"
"""Clients of gRPC insist on it; those of remoting ask for nothing."""
HTTP1 = "http/1.1"


class BadTlsFile(Misuse):
    """A file of certificates or keys cannot be used."""


def server_context(config: TlsConfig, asked: Asked, spoken: str = HTTP2) -> ssl.SSLContext:
    """The context of a port on which those who connect are asked for a certificate, or not.
    `spoken` is agreed on with those who ask what is spoken inside (ALPN)."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols([spoken])
    _restrict(context, config)
    context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_CIPHER_SERVER_PREFERENCE
    context.num_tickets = 0
    _load_own(context, config.certificate, config.key, config.key_password)
    if asked is not Asked.NONE:
        load_authority(context, config.authority)
        context.verify_mode = _VERIFY[asked]
    return context


def outgoing_context(config: TlsConfig) -> ssl.SSLContext:
    """The context of connections that a server opens to others."""
    certificate = config.outgoing_certificate or config.certificate
    own = (
        (certificate, config.outgoing_key, config.outgoing_key_password)
        if config.outgoing_certificate
        else (certificate, config.key, config.key_password)
    )
    context = client_context(config.outgoing_authority or config.authority, *own)
    _restrict(context, config)
    return context


def client_context(
    authority: str = "", certificate: str = "", key: str = "", password: str = ""
) -> ssl.SSLContext:
    """The context of connections that a client opens: the certificate of the server is checked,
    and its name. Without an authority those of the system are believed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    load_authority(context, authority)
    if certificate:
        _load_own(context, certificate, key, password)
    return context


def load_authority(context: ssl.SSLContext, path: str) -> None:
    if not path:
        context.load_default_certs()
        return
    try:
        context.load_verify_locations(cafile=_expanded(path))
    except (OSError, ssl.SSLError) as error:
        raise BadTlsFile(
            f"the certificates of the authority {path} cannot be used: {_reason(error)}",
            hint="a file of PEM certificates, such as ca.crt of `aerobee tls init`",
        ) from None


def _restrict(context: ssl.SSLContext, config: TlsConfig) -> None:
    context.minimum_version, context.maximum_version = config.versions()
    if config.ciphers:
        try:
            context.set_ciphers(config.ciphers.replace(",", ":"))
        except ssl.SSLError:
            raise BadTlsFile(
                f"tlsCiphers={config.ciphers} has no cipher that is known here",
                hint="`openssl ciphers -s -tls1_2` lists them",
            ) from None


def _load_own(context: ssl.SSLContext, certificate: str, key: str, password: str) -> None:
    _refuse_open_key(key or certificate)
    try:
        # An empty password: without one, OpenSSL would ask at the terminal.
        context.load_cert_chain(_expanded(certificate), _expanded(key) or None, lambda: password)
    except (OSError, ssl.SSLError, ValueError) as error:
        raise BadTlsFile(
            f"the certificate {certificate} with the key {key or certificate} cannot be used: "
            f"{_reason(error)}",
            hint="PEM files that belong together; `aerobee tls check` looks at them",
        ) from None


def _refuse_open_key(path: str) -> None:
    try:
        mode = os.stat(_expanded(path)).st_mode
    except OSError as error:
        raise BadTlsFile(f"the key {path} cannot be read: {error.strerror}") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise BadTlsFile(
            f"the key {path} can be read by others: its mode is {stat.S_IMODE(mode):04o}",
            hint=f"chmod 600 {path}",
        )


def _expanded(path: str) -> str:
    return os.path.expanduser(path)


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        reason = (error.reason or "").lower().replace("_", " ")
        if "key values mismatch" in reason:
            return "the key is not the certificate's"
        if "bad decrypt" in reason or "bad password" in reason:
            return "the password of the key is wrong"
        return reason or "it is no PEM file"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return str(error)
