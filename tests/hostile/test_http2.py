"""Peers of gRPC that break HTTP/2, flood it, or never end: only their own connection suffers, of a
broker and of a proxy of its own.
"""

import contextlib
import random
import socket

import pytest

from aerobee.protocol.grpc.calls import SERVICE, QueryRouteRequest
from aerobee.protocol.grpc.framing import frame_message
from aerobee.protocol.grpc.resources import Resource
from aerobee.protocol.grpc.wire import encode
from aerobee.protocol.http2 import frames
from aerobee.protocol.http2.connection import PREFACE
from aerobee.protocol.http2.frames import ErrorCode, frame
from aerobee.protocol.http2.hpack import encode_headers
from tests.hostile.raw import connect, crowd, heard_until_closed, rest_of
from tests.hostile.server import MIB, Running, Server, undisturbed
from tests.http2_kit import HELLO, call_headers, frames_in, headers_in, open_stream, unary

PATH = f"{SERVICE}QueryRoute"
CLIENT = ("x-mq-client-id", "hostile")
ASKED = encode(QueryRouteRequest(Resource("", "TBW102")))
STREAMS = range(1, 8_000, 2)

BREACHES = {
    "HTTP/1": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a frame of 16 MiB": HELLO + b"\xff\xff\xff\0\0\0\0\0\1",
    "data of no stream": HELLO + frame(frames.DATA, 0, 5, b"x"),
    "an even stream": HELLO + open_stream(2, PATH),
    "a table that was not offered": HELLO + frame(frames.HEADERS, 4, 1, b"\x3f\xff\xff\x7f"),
    "a field that there is not": HELLO + frame(frames.HEADERS, 4, 1, b"\xff\xff\x7f"),
    "bytes that each stand for kilobytes": HELLO
    + frame(frames.HEADERS, 4, 1, b"\x40\x01k\x7f\xa1\x16" + b"v" * 2_976 + b"\xbe" * 12_000),
    "a window of 4 GiB": HELLO + frames.window_frame(0, 2**31 - 1) * 3,
}
FLOODS = {
    "pings": frame(frames.PING, 0, 0, bytes(8)) * 20_000,
    "settings": frame(frames.SETTINGS, 0, 0, bytes.fromhex("000400000001")) * 20_000,
    "priorities": frame(frames.PRIORITY, 0, 1, bytes(5)) * 20_000,
    "windows": frames.window_frame(0, 1) * 20_000,
    "empty data": open_stream(1, PATH, CLIENT) + frame(frames.DATA, 0, 1) * 20_000,
    "continuations": frame(frames.HEADERS, 0, 1) + frame(frames.CONTINUATION, 0, 1, b"") * 20_000,
    "rapid resets": b"".join(
        unary(number, PATH, ASKED, CLIENT) + frames.reset_frame(number, ErrorCode.CANCEL)
        for number in STREAMS
    ),
    "resets by the server": b"".join(
        open_stream(number, PATH, CLIENT) + frames.window_frame(number, 0) for number in STREAMS
    ),
}


@pytest.fixture(params=["broker", "proxy"])
def served(request: pytest.FixtureRequest, server: Server) -> Running:
    return server if request.param == "broker" else request.getfixturevalue("proxy")


def assert_served(served: Running) -> None:
    """A call on a connection of its own is answered."""
    with connect(served.grpc) as one:
        one.sendall(HELLO + unary(1, PATH, ASKED, CLIENT))
        assert status_on(one, 1) == "0"


def status_on(one: socket.socket, stream: int) -> str | None:
    """The status of gRPC with which a call ends; None: with none."""
    heard = b""
    while data := one.recv(65_536):
        heard += data
        ends = [item for item in frames_in(heard) if item.stream == stream and item.flags & 1]
        if ends:
            return headers_in(frames_in(heard), stream)[-1].get("grpc-status")
    return None


def goodbye(heard: bytes) -> int:
    """The code with which the server has ended a connection."""
    *_, last = [one for one in frames_in(heard) if one.kind == frames.GOAWAY]
    return int.from_bytes(last.payload[4:8], "big")


def test_a_breach_ends_its_connection_with_a_reason(served: Running) -> None:
    with undisturbed(served, grown_bytes_max=24 * MIB), connect(served.grpc) as neighbour:
        neighbour.sendall(HELLO)
        for breach in BREACHES.values():
            assert goodbye(heard_until_closed(served.grpc, breach)) != ErrorCode.NO_ERROR
        neighbour.sendall(unary(1, PATH, ASKED, CLIENT))
        assert status_on(neighbour, 1) == "0"


def test_a_flood_ends_its_connection_soon(served: Running) -> None:
    with undisturbed(served, grown_bytes_max=32 * MIB):
        for flood in FLOODS.values():
            with connect(served.grpc) as one:
                with contextlib.suppress(ConnectionError):  # it is closed in the middle
                    one.sendall(HELLO + flood)
                rest_of(one)  # ends: it was closed
            assert_served(served)


def test_wrong_messages_end_their_calls_alone(served: Running) -> None:
    chaos = random.Random(7)
    with undisturbed(served, grown_bytes_max=32 * MIB), connect(served.grpc) as one:
        one.sendall(HELLO)
        for number in range(1, 101, 2):
            garbage = b"\xff" + chaos.randbytes(chaos.randrange(200))
            one.sendall(unary(number, PATH, garbage, CLIENT))
            assert status_on(one, number) == "13"
        too_long = open_stream(101, PATH, CLIENT)
        one.sendall(too_long + frame(frames.DATA, 0, 101, b"\0\x7f\xff\xff\xffx"))
        assert status_on(one, 101) == "8"
        packed = frame(frames.DATA, 0, 103, b"\x01" + frame_message(ASKED)[1:])
        one.sendall(open_stream(103, PATH, CLIENT) + packed)
        assert status_on(one, 103) == "13"
        one.sendall(unary(105, PATH, ASKED, CLIENT))
        assert status_on(one, 105) == "0"


def test_streams_that_never_end_cost_little(served: Running) -> None:
    half = frame_message(ASKED)[:7]
    begun = b"".join(
        open_stream(number, PATH, CLIENT) + frame(frames.DATA, 0, number, half)
        for number in range(1, 4_000, 2)
    )
    with undisturbed(served, grown_bytes_max=40 * MIB, peak_bytes_max=80 * MIB):
        with crowd(served.grpc, 5, HELLO + begun):
            assert_served(served)
        assert_served(served)


@pytest.mark.parametrize("first", [b"", PREFACE[:5], HELLO], ids=["silent", "torn", "greeted"])
def test_five_hundred_that_say_nothing_more_hinder_nobody(served: Running, first: bytes) -> None:
    with (
        undisturbed(served, grown_bytes_max=32 * MIB, peak_bytes_max=64 * MIB),
        crowd(served.grpc, 500, first),
    ):
        assert_served(served)


def test_a_peer_that_reads_no_answer_is_not_read_from(served: Running) -> None:
    block = encode_headers([*call_headers(PATH), CLIENT])
    with undisturbed(served, grown_bytes_max=64 * MIB), connect(served.grpc) as one:
        one.sendall(HELLO + frames.settings_frame([(frames.INITIAL_WINDOW_SIZE, 0)]))
        one.settimeout(2)
        with contextlib.suppress(TimeoutError, ConnectionError):
            for number in range(1, 40_000, 2):
                data = frame(frames.DATA, 1, number, frame_message(ASKED))
                one.sendall(frame(frames.HEADERS, 4, number, block) + data)
        assert_served(served)
