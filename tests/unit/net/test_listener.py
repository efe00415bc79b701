import errno
import socket

import pytest

from aerobee.net.listener import bind, port_of


def test_a_bound_socket_keeps_the_port_and_lets_nobody_in() -> None:
    (bound,) = bind("127.0.0.1", 0)
    with bound:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port_of(bound)), timeout=5)
        bound.listen()
        socket.create_connection(("127.0.0.1", port_of(bound)), timeout=5).close()


def test_a_port_that_somebody_listens_on_is_taken() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(OSError, match="in use") as caught,
    ):
        bind("127.0.0.1", port_of(taken))
    assert caught.value.errno == errno.EADDRINUSE


def test_all_addresses_of_a_host_are_on_one_port() -> None:
    sockets = bind("localhost", 0)
    assert len({port_of(bound) for bound in sockets}) == 1
    assert len({bound.getsockname()[0] for bound in sockets}) == len(sockets)
    for bound in sockets:
        bound.close()


def test_a_host_that_is_not_this_machine_is_refused() -> None:
    with pytest.raises(OSError, match="assign") as caught:
        bind("192.0.2.1", 0)
    assert caught.value.errno == errno.EADDRNOTAVAIL
