import pytest

from aerobee.protocol.http2 import frames
from aerobee.protocol.http2.answer_frames import AnswerFrames
from tests.http2_kit import Frame, frames_in


@pytest.mark.parametrize("stream", [1, 2**31 - 1])
@pytest.mark.parametrize("size", [0, 1, 300, 16_379])
def test_an_answer_is_headers_a_framed_message_and_trailers(stream: int, size: int) -> None:
    around = AnswerFrames(b"block", b"end")
    around.before(3, 7)  # nothing of an earlier one is left
    message = b"m" * size
    assert frames_in(around.before(stream, size) + message + around.behind(stream)) == [
        Frame(frames.HEADERS, frames.END_HEADERS, stream, b"block"),
        Frame(frames.DATA, 0, stream, b"\0" + size.to_bytes(4, "big") + message),
        Frame(frames.HEADERS, frames.END_HEADERS | frames.END_STREAM, stream, b"end"),
    ]
