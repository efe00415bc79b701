import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.grpc.codes import RpcStatus
from aerobee.protocol.grpc.framing import (
    GrpcMessageReader,
    MessageTooLong,
    error_trailers,
    frame_message,
    read_call_headers,
)
from aerobee.protocol.http2.hpack import HeaderDecoder
from tests.http2_kit import call_headers


def test_messages_are_cut_out_of_data_in_every_chunking() -> None:
    messages = [b"", b"one", b"x" * 300]
    data = b"".join(map(frame_message, messages))
    for size in range(1, len(data) + 1, 3):
        reader = GrpcMessageReader(1_000)
        found: list[bytes] = []
        for at in range(0, len(data), size):
            found += reader.receive(data[at : at + size])
        assert found == messages
        assert reader.held == 0


def test_what_has_not_come_whole_is_counted() -> None:
    reader = GrpcMessageReader(1_000)
    assert reader.receive(frame_message(b"whole") + frame_message(b"x" * 100)[:50]) == [b"whole"]
    assert reader.held == 50


def test_a_message_that_is_too_long_is_refused_before_it_has_come() -> None:
    with pytest.raises(MessageTooLong):
        GrpcMessageReader(10).receive(b"\0\0\0\0\x0b")


def test_a_compressed_message_is_refused() -> None:
    with pytest.raises(RemoteProtocolError, match="compressed"):
        GrpcMessageReader(10).receive(b"\x01\0\0\0\x01x")


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        *[("3S", 3_000), ("500m", 500), ("1H", 3_600_000), ("2M", 120_000), ("1500000u", 1_500)],
        *[("99999999n", 99), ("", None), ("S", None), ("-1S", None), ("999999999S", None)],
    ],
)
def test_the_deadline_of_a_call_is_read(text: str, ms: int | None) -> None:
    headers = read_call_headers(call_headers("/a/B", ("grpc-timeout", text), ("x-mq-a", "b")))
    assert headers is not None
    assert headers.path == "/a/B"
    assert headers.metadata["x-mq-a"] == "b"
    assert headers.timeout_ms == ms


@pytest.mark.parametrize(
    "wrong", [(":method", "GET"), ("content-type", "text/html"), (":path", "nowhere")]
)
def test_other_requests_are_no_calls(wrong: tuple[str, str]) -> None:
    fields = dict(call_headers("/a/B"))
    fields[wrong[0]] = wrong[1]
    assert read_call_headers(list(fields.items())) is None


def test_the_reason_of_an_error_is_percent_encoded() -> None:
    block = error_trailers(RpcStatus.INTERNAL, "50 % ü\n")
    assert HeaderDecoder(1_000).decode(block) == [
        ("grpc-status", "13"),
        ("grpc-message", "50 %25 %C3%BC%0A"),
    ]
