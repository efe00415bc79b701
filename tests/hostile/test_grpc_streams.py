"""Many clients of gRPC, and bad ones: what their streams cost, and that only they suffer."""

import contextlib
import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from aerobee.protocol.grpc.calls import (
    SERVICE,
    HeartbeatRequest,
    QueryRouteRequest,
    TelemetryCommand,
)
from aerobee.protocol.grpc.codes import ClientType
from aerobee.protocol.grpc.framing import frame_message
from aerobee.protocol.grpc.resources import (
    ClientSettings,
    FilterExpression,
    GrpcSubscription,
    Resource,
    SubscriptionEntry,
)
from aerobee.protocol.grpc.wire import encode
from aerobee.protocol.http2 import frames
from aerobee.protocol.http2.frames import frame
from tests.broker_kit import create_fields
from tests.grpc_caller import GrpcCaller
from tests.grpc_kit import receiving, typed
from tests.hostile.raw import connect, pour
from tests.hostile.server import MIB, Running, Server, undisturbed
from tests.http2_kit import HELLO, frames_in, open_stream
from tests.wire_client import WireClient

CLIENTS = 1_000
KIB = 1 << 10
CLIENT_BYTES_MAX = 40 * KIB
"""With its connection, its telemetry and a receive that waits."""
TOPIC, GROUP = "Streams", "streams"
POLL_MS = 20_000
STREAMS = range(1, 200_000, 2)
ROOM = frames.settings_frame([(frames.INITIAL_WINDOW_SIZE, 2**31 - 1)]) + frames.window_frame(
    0, 2**31 - 1 - 65_535
)


@pytest.fixture(scope="module")
def topic(server: Server) -> str:
    with WireClient(server.broker) as client:
        answer = client.ask(17, create_fields(typed(TOPIC, "NORMAL", 1)))
        assert answer.code == 0, answer.remark
    return TOPIC


def settings() -> TelemetryCommand:
    entry = SubscriptionEntry(Resource("", TOPIC), FilterExpression(1, "*"))
    subscription = GrpcSubscription(Resource("", GROUP), [entry])
    return TelemetryCommand(
        settings=ClientSettings(client_type=ClientType.SIMPLE_CONSUMER, subscription=subscription)
    )


def call(stream: int, method: str, request: object, *fields: tuple[str, str], end: bool) -> bytes:
    data = frame(frames.DATA, int(end), stream, frame_message(encode(request)))
    return open_stream(stream, SERVICE + method, *fields) + data


def hear(one: socket.socket, stream: int, kind: int) -> None:
    """Until a frame of this kind has come on a stream."""
    heard = b""
    while not any(item.stream == stream and item.kind == kind for item in frames_in(heard)):
        data = one.recv(65_536)
        assert data, "the connection was closed"
        heard += data


@contextlib.contextmanager
def waiting_clients(port: int, count: int) -> Iterator[list[socket.socket]]:
    """Consumers, each with a stream of telemetry and a receive that waits."""
    receive = receiving(TOPIC, GROUP, poll_ms=POLL_MS)
    with ExitStack() as stack:
        clients = []
        for number in range(count):
            one = stack.enter_context(connect(port))
            fields = (
                ("x-mq-client-id", f"client-{number}"),
                ("x-mq-language", "JAVA"),
                ("x-mq-client-version", "5.0.7"),
            )
            one.sendall(HELLO + call(1, "Telemetry", settings(), *fields, end=False))
            hear(one, 1, frames.DATA)
            one.sendall(call(3, "ReceiveMessage", receive, *fields, end=True))
            clients.append(one)
        yield clients


def threads_of(served: Running) -> int:
    return len(list(Path(f"/proc/{served.process.pid}/task").iterdir()))


def assert_served(served: Running) -> None:
    with GrpcCaller(served.grpc) as caller:
        asked = QueryRouteRequest(Resource("", TOPIC))
        assert caller.call("QueryRoute", asked).status == 0


def test_a_thousand_clients_with_two_streams_each_cost_little_and_no_thread(
    server: Server, topic: str
) -> None:
    """Their memory is given back to other clients, if not to the system."""
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 3 * CLIENTS
    with waiting_clients(server.grpc, 50):
        assert_served(server)
    threads, before = threads_of(server), server.anonymous_bytes()
    with waiting_clients(server.grpc, CLIENTS):
        assert_served(server)
        cost = (server.anonymous_bytes() - before) // CLIENTS
        assert cost <= CLIENT_BYTES_MAX, f"{cost} bytes each"
        assert threads_of(server) < threads + 10  # some of the broker's begin late
    with undisturbed(server, grown_bytes_max=CLIENTS * CLIENT_BYTES_MAX):
        assert_served(server)


def test_streams_that_never_end_are_served_and_hinder_nobody(server: Server, topic: str) -> None:
    """A telemetry that says nothing, one that beats on and on, a receive that nobody ends."""
    with undisturbed(server, grown_bytes_max=24 * MIB), GrpcCaller(server.grpc, "endless") as one:
        streams = [one.begin("Telemetry", settings()) for _ in range(200)]
        for stream in streams:
            assert one.hear(stream).status.code == 20_000
        silent = [one.begin("Telemetry", TelemetryCommand()) for _ in range(200)]
        for stream in streams[-20:]:
            for _ in range(20):
                one.say(stream, settings())
                assert one.hear(stream).status.code == 20_000
        assert one.call("Heartbeat", HeartbeatRequest()).messages[0].status.code == 20_000
        assert len(silent) == 200
        assert_served(server)


def test_a_reader_that_takes_nothing_is_held_to_its_room(server: Server, topic: str) -> None:
    """It asks on and on, with room for gigabytes of answers: it is not read from any more, and its
    neighbours do not wait for it."""
    fields = (("x-mq-client-id", "slow"), ("x-mq-language", "JAVA"))
    asked = QueryRouteRequest(Resource("", "TBW102"))
    calls = [call(number, "QueryRoute", asked, *fields, end=True) for number in STREAMS]
    flood = HELLO + ROOM + b"".join(calls)
    with undisturbed(server, grown_bytes_max=96 * MIB, peak_bytes_max=160 * MIB):
        with connect(server.grpc) as slow:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            assert pour(slow, flood, len(flood)) < len(flood)
            assert_served(server)
        assert_served(server)


GARBAGE = {
    "no protobuf": b"\xff\xff\xff\xff",
    "a field without its end": b"\x0a\x7f",
    "a number of eleven bytes": b"\x08" + b"\xff" * 11,
    "text that is no UTF-8": b"\x0a\x04\x12\x02\xff\xfe",
    "a group of the old kind": b"\x0b" * 100,
    "messages in messages": b"\x0a\x02" * 60 + b"\x0a\x00",
}


@pytest.mark.parametrize("method", ["SendMessage", "AckMessage", "ReceiveMessage", "Telemetry"])
def test_a_bad_protobuf_ends_its_call_alone(server: Server, topic: str, method: str) -> None:
    with undisturbed(server, grown_bytes_max=24 * MIB), GrpcCaller(server.grpc, "good") as good:
        stream = good.begin("Telemetry", settings())
        good.hear(stream)
        with GrpcCaller(server.grpc, "bad") as bad:
            for what, data in GARBAGE.items():
                outcome = bad.call(method, data)
                assert outcome.status in (0, 3, 13), what
                assert bad.call("QueryRoute", QueryRouteRequest(Resource("", TOPIC))).status == 0
        good.say(stream, settings())
        assert good.hear(stream).status.code == 20_000
