"""HTTP/2 frames in every chunking: the same streams, the same output, the same error."""

from hypothesis import given, settings
from hypothesis import strategies as st

from aerobee.protocol.grpc.framing import frame_message
from aerobee.protocol.http2 import frames
from aerobee.protocol.http2.frames import ErrorCode, frame
from aerobee.protocol.http2.hpack import encode_headers
from fuzz.fuzz_http2 import check
from tests.http2_kit import call_headers, open_stream, unary

STREAMS = st.integers(0, 9)
# Fields as clients write them: of no table, kept in the table, named by it, coded.
FIELDS = st.sampled_from(
    [
        encode_headers([("x-mq-request-id", "1")]),
        encode_headers([("x-mq-request-id", "another")]),
        encode_headers([("x-mq-client-id", "a")]),
        encode_headers([("x-mq-client-id", "b")]),
        b"\x10\x0cgrpc-timeout\x82\x64\x2d",
        b"\x10\x0cgrpc-timeout\x81\xff",
        b"\x40\x0fx-mq-request-id\x011",
        b"\x40\x0ex-mq-client-id\x01c",
        b"\xbe",
        b"\x0f\x2f\x012",
        b"\x20",
        b"\x3f\xe1\x1f",
    ]
)
PLAIN_FIELDS = st.sampled_from(
    [encode_headers([(name, "1")]) for name in ("x-mq-request-id", "x-mq-client-id", "a")]
)
EDITS = st.one_of(st.none(), st.none(), st.tuples(st.integers(0, 150), st.integers(0, 255)))
"""A byte of a header block that is another one."""
CALLS = st.lists(
    st.tuples(
        EDITS,
        st.one_of(st.none(), st.none(), st.none(), FIELDS),
        st.binary(max_size=70),
        st.sampled_from([1, 1, 1, 0]),
    ),
    min_size=2,
    max_size=9,
)
WHOLE = st.one_of(
    st.builds(lambda number, body: unary(2 * number + 1, "/s/M", body), STREAMS, st.binary()),
    st.builds(lambda number: open_stream(2 * number + 1, "/s/M"), STREAMS),
    st.builds(frame, st.integers(0, 10), st.integers(0, 255), STREAMS, st.binary(max_size=40)),
    st.builds(frames.window_frame, STREAMS, st.integers(0, 2**31 - 1)),
    st.builds(
        lambda key, value: frames.settings_frame([(key, value)]),
        st.integers(1, 6),
        st.sampled_from([0, 10, 16_384, 65_535, 2**31 - 1, 2**32 - 1]),
    ),
)


@given(st.integers(0, 255), st.lists(WHOLE, max_size=12), st.binary(max_size=8))
def test_frames_mean_the_same_in_every_chunking(cut: int, said: list[bytes], torn: bytes) -> None:
    check(bytes([cut]) + frame(frames.SETTINGS, 0, 0) + b"".join(said) + torn)


@settings(max_examples=300)
@given(st.integers(0, 255), st.lists(PLAIN_FIELDS, max_size=2), CALLS)
def test_calls_that_are_found_are_those_that_events_tell_of(
    cut: int,
    fields: list[bytes],
    calls: list[tuple[tuple[int, int] | None, bytes | None, bytes, int]],
) -> None:
    said = b""
    base = encode_headers(call_headers("/s/M")) + b"".join(fields)
    for number, (edit, more, body, flags) in enumerate(calls):
        stream = 2 * number + 1
        block = base + (more or b"")
        if edit is not None:
            at = edit[0] % len(block)
            block = block[:at] + bytes([edit[1]]) + block[at + 1 :]
        said += frame(frames.HEADERS, frames.END_HEADERS, stream, block)
        said += frame(frames.DATA, flags, stream, frame_message(body))
        said += frames.reset_frame(stream, ErrorCode.CANCEL)
    check(bytes([cut | 1]) + frame(frames.SETTINGS, 0, 0) + said)
