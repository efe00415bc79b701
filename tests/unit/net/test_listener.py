import errno
import socket

import pytest

from aerobee.net.listener import bind, outward_address, packed_address, port_of


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


def test_a_host_is_reached_under_its_own_name() -> None:
    for host in ("127.0.0.1", "::1", "broker.example"):
        assert outward_address(host) == host


@pytest.mark.parametrize("host", ["", "0.0.0.0", "::"])
def test_every_address_of_this_machine_is_shown_as_one_that_can_be_connected_to(host: str) -> None:
    address = outward_address(host)
    assert address not in ("", "0.0.0.0", "::")
    for bound in bind(address, 0):  # it is this machine's
        bound.close()


def test_an_address_is_packed_with_its_port() -> None:
    assert packed_address("10.1.2.3", 10911) == bytes((10, 1, 2, 3, 0, 0, 0x2A, 0x9F))
    assert packed_address("::1", 1) == bytes(15) + bytes((1, 0, 0, 0, 1))
    assert packed_address("localhost", 7) == bytes((127, 0, 0, 1, 0, 0, 0, 7))
    with pytest.raises(OSError, match="known"):
        packed_address("no.such.host.invalid", 1)
