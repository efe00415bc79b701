"""Sockets to listen on, taken before anything else is done.

A socket that is bound but does not listen yet keeps the port and lets nobody in: a process can find
out that a port is taken before it touches its files, and clients cannot come before it is ready.
"""

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
