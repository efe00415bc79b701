"""HTTP/2 frames in every chunking: the same streams, the same output, the same error."""

from hypothesis import given
from hypothesis import strategies as st

from aerobee.protocol.http2 import frames
from aerobee.protocol.http2.frames import frame
from fuzz.fuzz_http2 import check
from tests.http2_kit import open_stream, unary

STREAMS = st.integers(0, 9)
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
