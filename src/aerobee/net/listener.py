"""Sockets to listen on, taken before anything else is done.

A socket that is bound but does not listen yet keeps the port and lets nobody in: a process can find
out that a port is taken before it touches its files, and clients cannot come before it is ready.
"""

import contextlib
import socket


def bind(host: str, port: int) -> list[socket.socket]:
    """One socket for each address of the host, all on one port; of port 0 a free one is taken.

    OSError, with its errno: the port is taken, or the host is none of this machine's.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    sockets: list[socket.socket] = []
    try:
        for family, kind, protocol, _, address in dict.fromkeys(found):
            made = socket.socket(family, kind, protocol)
            sockets.append(made)
            made.setblocking(False)
            # A port whose last connections are still fading away is free.
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            made.bind((address[0], port, *address[2:]))
            port = port_of(made)
    except OSError:
        for made in sockets:
            made.close()
        raise
    return sockets


def port_of(bound: socket.socket) -> int:
    port: int = bound.getsockname()[1]
    return port


def outward_address(host: str) -> str:
    """The address under which others reach a host that was bound to: itself, or for "every address
    of this machine" the one that its way out begins with; loopback if it has none."""
    if host not in ("", "0.0.0.0", "::"):
        return host
    # Nothing is sent: connecting a datagram socket only chooses a route.
    for family, somewhere in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((somewhere, 9))
            found: str = probe.getsockname()[0]
            return found
    return "127.0.0.1"


def packed_address(host: str, port: int) -> bytes:
    """The 4 or 16 bytes of a host's address, and 4 of the port: as message ids hold it.

    OSError: there is no such host.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    # Old clients know the shorter form only.
    family, _, _, _, address = min(found, key=lambda one: one[0] != socket.AF_INET)
    return socket.inet_pton(family, str(address[0]).partition("%")[0]) + port.to_bytes(4, "big")
