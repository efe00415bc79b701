"""Explanations of failed TLS connections: OpenSSL's errors in words that say what to do next.

The side that fails speaks of "the other side": each text is shown by servers and by clients.
"""

import ssl

HELLO = b"\x16\x03"
"""The first bytes of a TLS handshake."""
HELLO_TO_PLAIN = "a TLS hello on a plain connection"

_EXPIRED = 10
_NOT_YET_VALID = 9
_SELF_SIGNED = 18
_SELF_SIGNED_ROOT = 19
_UNKNOWN_ISSUERS = (2, 20, 21)
_WRONG_NAMES = (62, 64)
_WRONG_PURPOSE = 26

_REASONS = {
    "WRONG_VERSION_NUMBER": "the other side does not speak TLS on this port",
    "HTTP_REQUEST": "plain HTTP on a port that speaks TLS",
    "UNSUPPORTED_PROTOCOL": "the other side speaks an older TLS than 1.2",
    "NO_PROTOCOLS_AVAILABLE": "no version of TLS is left to speak: see tlsProtocols",
    "VERSION_TOO_LOW": "the other side speaks an older TLS than 1.2",
    "TLSV1_ALERT_PROTOCOL_VERSION": "the other side refuses the versions of TLS that we speak",
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": (
        "the other side wants a certificate of ours: give cert and key"
    ),
    "PEER_DID_NOT_RETURN_A_CERTIFICATE": "the other side showed no certificate, and needs one here",
    "TLSV1_ALERT_UNKNOWN_CA": (
        "the other side does not know the authority that signed our certificate"
    ),
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": "the other side says that our certificate has expired",
    "SSLV3_ALERT_BAD_CERTIFICATE": "the other side does not believe our certificate",
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN": "the other side does not believe our certificate",
    "SSLV3_ALERT_HANDSHAKE_FAILURE": (
        "the other side refused the handshake: it may want a certificate of ours, or other ciphers"
    ),
    "NO_SHARED_CIPHER": "no cipher that both sides know: see tlsCiphers",
    "UNEXPECTED_EOF_WHILE_READING": "the other side hung up in the middle of a handshake",
}


def explained_tls(error: Exception) -> str:
    """Say why a TLS connection failed."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return _unbelieved(error)
    if isinstance(error, ssl.SSLError):
        return _REASONS.get(error.reason or "") or _plain_words(error)
    if isinstance(error, ConnectionError) and not error.args:
        return "the other side hung up in the middle of a handshake"
    return str(error) or type(error).__name__


def _unbelieved(error: ssl.SSLCertVerificationError) -> str:
    """Say why the certificate of the other side is not believed."""
    code = error.verify_code
    if code == _EXPIRED:
        return "its certificate has expired: make a new one"
    if code == _NOT_YET_VALID:
        return "its certificate is not valid yet: compare the clocks"
    if code == _SELF_SIGNED:
        return "its certificate is signed by itself, and is not in the file of the authority (ca)"
    if code in _UNKNOWN_ISSUERS or code == _SELF_SIGNED_ROOT:
        return "its certificate is signed by an authority that is not known here: see ca"
    if code in _WRONG_NAMES:
        return (
            f"its certificate is of another host ({error.verify_message.rstrip('.')}): "
            "use a name that is in it, or make one with this name"
        )
    if code == _WRONG_PURPOSE:
        return "its certificate is made for another purpose: a client's is no server's"
    return f"its certificate is not believed: {error.verify_message}"


def _plain_words(error: ssl.SSLError) -> str:
    reason = error.reason or ""
    return reason.lower().replace("_", " ") or str(error)
