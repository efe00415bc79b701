"""TLS between a socket and a protocol: the layer over real sockets, in every chunking."""

import ssl
from typing import Any

import pytest

from aerobee.net.tls_config import Asked
from aerobee.net.tls_context import client_context, server_context
from aerobee.net.tls_layer import RECORD_BYTES, TlsLayer
from tests.net_kit import in_loop, turn
from tests.tls_kit import certificates, server_config


class Wire:
    """A socket's transport that writes down what goes out."""

    def __init__(self) -> None:
        self.out = bytearray()
        self.is_reading = True
        self.closed = ""
        self.calls: list[list[bytes]] = []

    def write(self, data: bytes) -> None:
        self.out += data

    def writelines(self, pieces: list[bytes]) -> None:
        self.calls.append(pieces)
        self.out += b"".join(pieces)

    def pause_reading(self) -> None:
        self.is_reading = False

    def resume_reading(self) -> None:
        self.is_reading = True

    def close(self) -> None:
        self.closed = self.closed or "close"

    def abort(self) -> None:
        self.closed = "abort"

    def is_closing(self) -> bool:
        return bool(self.closed)

    def get_write_buffer_size(self) -> int:
        return len(self.out)

    def get_extra_info(self, name: str, default: object = None) -> object:
        return ("192.0.2.1", 5) if name == "peername" else default

    def taken(self) -> bytes:
        data = bytes(self.out)
        self.out.clear()
        return data


class Inner:
    """A protocol that keeps every read by itself."""

    def __init__(self) -> None:
        self.transport: Any = None
        self.reads: list[bytes] = []
        self.lost: list[Exception | None] = []
        self.pauses_after = -1

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.reads.append(data)
        if len(self.reads) == self.pauses_after:
            self.transport.pause_reading()

    def connection_lost(self, error: Exception | None) -> None:
        self.lost.append(error)


class Buffered(Inner):
    """The same with a buffer of its own."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._buffer = memoryview(bytearray(size))

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, size: int) -> None:
        self.data_received(bytes(self._buffer[:size]))


class Owner:
    def __init__(self) -> None:
        self.shaken_count = 0
        self.wants = True
        self.errors: list[Exception] = []

    def may_shake(self, layer: TlsLayer) -> bool:
        return True

    def shaken(self, layer: TlsLayer) -> bool:
        self.shaken_count += 1
        return self.wants

    def failed(self, layer: TlsLayer, error: Exception) -> None:
        self.errors.append(error)


class Ends:
    """A client and a server whose sockets are a test."""

    def __init__(self, server_inner: Inner | None = None) -> None:
        self.client_inner, self.server_inner = Inner(), server_inner or Inner()
        self.client_owner, self.server_owner = Owner(), Owner()
        self.client_wire, self.server_wire = Wire(), Wire()
        context = client_context(certificates().authority)
        self.client = TlsLayer(self.client_owner, self.client_inner, context, "localhost")
        served = server_context(server_config(), Asked.NONE)
        self.server = TlsLayer(self.server_owner, self.server_inner, served, None)
        self.server.connection_made(self.server_wire)  # type: ignore[arg-type]
        self.client.connection_made(self.client_wire)  # type: ignore[arg-type]

    def carry(self, size: int = 1 << 30) -> None:
        """Bring what each wrote to the other, in reads of a size, until nothing is left."""
        while self.client_wire.out or self.server_wire.out:
            for data, to in (
                (self.client_wire.taken(), self.server),
                (self.server_wire.taken(), self.client),
            ):
                for start in range(0, len(data), size):
                    to.data_received(data[start : start + size])


@pytest.mark.parametrize("size", [1, 7, 4096, 1 << 20])
def test_bytes_arrive_as_they_were_written_however_they_are_read(size: int) -> None:
    ends = Ends()
    ends.carry(size)
    body = bytes(range(256)) * (2 if size == 1 else 300)
    ends.client_inner.transport.writelines([b"head", memoryview(body)])
    ends.server_inner.transport.write(body)
    ends.carry(size)
    assert b"".join(ends.server_inner.reads) == b"head" + body
    assert b"".join(ends.client_inner.reads) == body
    assert ends.server_owner.shaken_count == ends.client_owner.shaken_count == 1


def test_nothing_goes_over_the_wire_in_the_clear() -> None:
    ends = Ends()
    ends.carry()
    ends.client_inner.transport.write(b"a secret body")
    assert b"secret" not in bytes(ends.client_wire.out)


def test_all_records_of_one_read_reach_the_protocol_together() -> None:
    ends = Ends()
    ends.carry()
    for _ in range(50):
        ends.client_inner.transport.write(b"x" * 100)
    ends.carry()
    assert ends.server_inner.reads == [b"x" * 5000]


@pytest.mark.parametrize("size", [100, 4096, 1 << 20])
def test_a_protocol_with_a_buffer_of_its_own_is_filled(size: int) -> None:
    inner = Buffered(size)
    ends = Ends(inner)
    ends.carry()
    body = bytes(range(256)) * 200
    ends.client_inner.transport.write(body)
    ends.carry(1000)
    assert b"".join(inner.reads) == body


@pytest.mark.parametrize("inner", [Inner(), Buffered(64)])
def test_a_protocol_that_pauses_gets_nothing_until_it_reads_again(inner: Inner) -> None:
    async def test() -> None:
        ends = Ends(inner)
        inner.pauses_after = 1
        ends.carry()
        body = bytes(range(256)) * 100
        ends.client_inner.transport.write(body)
        data = ends.client_wire.taken()
        ends.server.data_received(data[:20_000])  # a record, and a part of the next
        assert not ends.server_wire.is_reading
        ends.server.data_received(data[20_000:])  # a read that was under way
        assert len(inner.reads) == 1
        inner.pauses_after = -1
        ends.server.resume_reading()
        await turn()
        assert b"".join(inner.reads) == body
        assert ends.server_wire.is_reading

    in_loop(test)


def test_a_large_write_goes_out_in_records_and_in_one_call() -> None:
    """A buffer that held more than a record once would stay as large."""
    ends = Ends()
    ends.carry()
    ends.client_inner.transport.write(bytes(10 * RECORD_BYTES))
    assert [len(pieces) for pieces in ends.client_wire.calls[-1:]] == [10]
    assert max(map(len, ends.client_wire.calls[-1])) < RECORD_BYTES + 100


def test_a_farewell_is_signed_and_heard() -> None:
    ends = Ends()
    ends.carry()
    ends.client_inner.transport.write(b"last words")
    ends.client_inner.transport.close()
    assert ends.client_wire.closed == "close"
    ends.carry()
    assert ends.server_inner.reads == [b"last words"]
    assert ends.server_wire.closed == "close"
    ends.client_inner.transport.write(b"too late")
    assert not ends.client_wire.out


def test_a_changed_byte_ends_the_connection_and_nobody_sees_it() -> None:
    ends = Ends()
    ends.carry()
    ends.client_inner.transport.write(b"pay 10")
    data = bytearray(ends.client_wire.taken())
    data[-1] ^= 1
    ends.server.data_received(bytes(data))
    assert ends.server_inner.reads == []
    (error,) = ends.server_inner.lost
    assert isinstance(error, ssl.SSLError)
    assert ends.server_wire.closed == "close"
    ends.server.connection_lost(None)
    assert len(ends.server_inner.lost) == 1


def test_an_owner_hears_once_of_a_handshake_that_fails() -> None:
    ends = Ends()
    ends.server.data_received(b"\x16\x03\x01 and then no hello")
    assert ends.server_owner.shaken_count == 0
    ends.server.connection_lost(None)
    assert len(ends.server_owner.errors) == 1
    assert ends.server_inner.transport is None
    assert ends.server_inner.lost == []


def test_a_connection_lost_before_the_handshake_was_over_is_a_failure() -> None:
    ends = Ends()
    ends.client.connection_lost(None)
    assert isinstance(ends.client_owner.errors[0], ConnectionResetError)


def test_a_peer_that_its_owner_does_not_want_never_reaches_the_protocol() -> None:
    ends = Ends()
    ends.server_owner.wants = False
    ends.carry()
    assert ends.server_inner.transport is None
    assert ends.server_wire.closed == "abort"


def test_what_the_transport_knows_the_protocol_learns() -> None:
    ends = Ends()
    ends.carry()
    transport = ends.server_inner.transport
    assert transport.get_extra_info("peername") == ("192.0.2.1", 5)
    assert transport.get_extra_info("ssl_object").version() == "TLSv1.3"
    assert transport.get_extra_info("sslcontext") is not None
    assert not transport.is_closing()
    assert not transport.can_write_eof()
