"""Guard: the checks that every request passes before an action sees it, and the headers of answers.

G1. The Host header names an IP address, localhost, or a name that was configured: a page of
    another site that points its own name at this address (DNS rebinding) gets nothing.
G2. A change carries the session's CSRF token and, where a browser says where it comes from, comes
    from a page of this console.
G3. No answer may be framed, sniffed, or run a script that is not a file of ours.
"""

import hmac
from collections.abc import Collection, Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from aerobee.console.http.problem import Problem
from aerobee.console.session.visitor import Visitor

CSRF_HEADER = "x-csrf-token"
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'self'",
    )
)
HEADERS = (
    ("content-security-policy", _POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
)
TLS_HEADER = ("strict-transport-security", "max-age=31536000")


def security_headers(*, has_tls: bool) -> list[tuple[bytes, bytes]]:
    """Return the headers that every answer has."""
    chosen = (*HEADERS, TLS_HEADER) if has_tls else HEADERS
    return [(name.encode(), text.encode()) for name, text in chosen]


def check_host(host: str, allowed: Collection[str]) -> None:
    name = _name_of(host)
    if name in ("localhost", *allowed) or _is_ip(name):
        return
    raise Problem(
        403,
        "wrong_host",
        f"this console is not called {name!r}",
        hint=f"use its address, or add the name to consoleHosts={name}",
    )


def check_origin(headers: Mapping[str, str]) -> None:
    """Refuse a request that says that it comes from a page of another site."""
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != headers.get("host", ""):
        raise _forged(f"the request comes from a page of {origin}")
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise _forged("the request comes from a page of another site")


def check_change(headers: Mapping[str, str], visitor: Visitor) -> None:
    """Refuse a change that a page of another site may have made a browser send."""
    check_origin(headers)
    told = headers.get(CSRF_HEADER, "")
    if not visitor.csrf or not hmac.compare_digest(told.encode(), visitor.csrf.encode()):
        raise _forged("the request has no valid X-CSRF-Token")


def _forged(message: str) -> Problem:
    return Problem(403, "csrf", message, hint="GET /api/session tells the token")


def _name_of(host: str) -> str:
    """The name in a Host header, without its port and without brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def _is_ip(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
