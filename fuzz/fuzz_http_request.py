"""Any head of an HTTP request is read or RequestRefused, and reads the same when written again."""

from base64 import b64encode

from aerobee.net.http_listener import HttpRequest, RequestRefused, parse_request


def check(data: bytes) -> None:
    """Any head of an HTTP request is read or refused, and reads the same when written again."""
    try:
        request = parse_request(data)
    except RequestRefused:
        return
    assert request.path.startswith("/")
    assert "?" not in request.path
    assert parse_request(_written(request)) == request


def _written(request: HttpRequest) -> bytes:
    lines = [f"{request.method} {request.path} {request.version}"]
    if request.login is not None:
        told = b64encode(f"{request.login.name}:{request.login.password}".encode()).decode()
        lines.append(f"Authorization: Basic {told}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n"
