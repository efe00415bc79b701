"""The frames are the same in any chunks, and so is the place of the first bad one."""

from importlib import import_module

from hypothesis import example, given
from hypothesis import strategies as st

from tests.wire import Wire, frame
from tests.wire_strategies import chunkings

WIRE = Wire(import_module)
LIMITS = (400, 60)

GOOD = st.builds(frame, st.binary(max_size=60), st.binary(max_size=200), st.integers(0, 1))
BAD = st.builds(frame, st.binary(max_size=90), st.binary(max_size=500), st.integers(0, 255))


@given(st.data(), st.lists(GOOD, max_size=8), st.binary(max_size=7))
def test_every_chunking_gives_the_same_frames(
    data: st.DataObject, frames: list[bytes], tail: bytes
) -> None:
    tail = b"\0\0\0\x08"[: len(tail)]  # the start of another good frame
    chunks = data.draw(chunkings(b"".join(frames) + tail))
    found = WIRE.frames(chunks, LIMITS)
    assert found[-1] == len(tail)
    assert [frame(header, body, kind) for kind, header, body in found[:-1]] == frames


@given(st.data(), st.lists(GOOD | BAD, max_size=5), st.binary(max_size=40))
def test_every_chunking_fails_at_the_same_frame_with_the_same_words(
    data: st.DataObject, frames: list[bytes], tail: bytes
) -> None:
    stream = b"".join(frames) + tail
    assert WIRE.frames(data.draw(chunkings(stream)), LIMITS) == WIRE.frames([stream], LIMITS)


@given(st.integers(0, 400_000), st.integers(1, 200_000))
@example(65_528, 65_536)
@example(65_528, 1)
def test_large_frames_come_whole_through_their_rooms(size: int, chunk_size: int) -> None:
    body = bytes(range(251)) * (size // 251 + 1)
    stream = frame(b"{}", body[:size]) + frame(b"last")
    if len(stream) // chunk_size > 2000:
        chunk_size = len(stream) // 2000
    chunks = [stream[start : start + chunk_size] for start in range(0, len(stream), chunk_size)]
    found = WIRE.frames(chunks, (1_000_000, 60))
    assert found == [(0, b"{}", body[:size]), (0, b"last", b""), 0]
