"""Sockets without any manners."""

import select
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

PATIENCE_S = 60.0


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)


def heard_until_closed(port: int, data: bytes) -> bytes:
    """Everything that the server says to this before it closes the connection."""
    with connect(port) as one:
        one.sendall(data)
        return rest_of(one)


def rest_of(one: socket.socket) -> bytes:
    heard = b""
    try:
        while data := one.recv(65536):
            heard += data
    except ConnectionError:
        pass
    return heard


def pour(one: socket.socket, data: bytes, bytes_max: int, quiet_s: float = 0.5) -> int:
    """Send the same over and over without reading, until the server has taken nothing for a while;
    how much it took."""
    one.setblocking(False)
    sent = position = 0
    while sent < bytes_max and select.select([], [one], [], quiet_s)[1]:
        try:
            count = one.send(data[position : position + 65536])
        except ConnectionError:
            break
        sent += count
        position = (position + count) % len(data)
    return sent


@contextmanager
def crowd(port: int, count: int, first_words: bytes = b"") -> Iterator[list[socket.socket]]:
    """Connections that say a few bytes each and no more."""
    with ExitStack() as stack:
        sockets = []
        for _ in range(count):
            one = stack.enter_context(connect(port))
            if first_words:
                one.sendall(first_words)
            sockets.append(one)
        yield sockets
