"""Answers to sends that are held back until their messages are confirmed (`confirmation`).

The answers of one read are encoded at once, because everything in them is known, and kept together
until the log is confirmed up to the end of their last record. End offsets rise, so the oldest is
always first. Answers that wait too long are sent with a code such as FLUSH_DISK_TIMEOUT: stored,
but not known to be safe.
"""

from collections import deque
from typing import NamedTuple

from aerobee.ports.service import ChannelId
from aerobee.protocol.remoting.command_header import BINARY_TYPE
from aerobee.protocol.remoting.frame import (
    FRAME_BYTES_MAX,
    HEADER_BYTES_MAX,
    FrameLimits,
    FrameReader,
    encode_frame,
)
from aerobee.protocol.response_codes import ResponseCode


class PendingAnswers(NamedTuple):
    """The answers to the sends of one read from one connection."""

    channel: ChannelId
    end_offset: int
    answers: bytes
    """Whole frames, each of a success."""
    deadline_ms: int
    """On the monotonic clock."""
    requests: int = 1
    since_ms: int = 0
    """The number of requests that are answered, and when they arrived (monotonic clock)."""

    def as_unsafe(self, code: ResponseCode) -> bytes:
        """The same answers with a code that says what is missing. They are not decoded: the ids of
        a large batch are longer than a header that we accept from peers."""
        frames = FrameReader(FrameLimits(FRAME_BYTES_MAX, HEADER_BYTES_MAX))
        frames.receive(self.answers)
        parts: list[bytes | memoryview] = []
        while frames.advance():
            header = frames.header()
            if frames.serialize_type == BINARY_TYPE:
                header = code.to_bytes(2, "big") + header[2:]
            else:
                header = header.replace(b'"code":0', b'"code":%d' % code, 1)
            parts += encode_frame(header, frames.body(), frames.serialize_type)
        return b"".join(parts)


class AnswersInWait:
    """A queue of pending answers, oldest first; `size` is their bytes in all."""

    def __init__(self) -> None:
        self._waiting: deque[PendingAnswers] = deque()
        self.size = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def requests(self) -> int:
        """The number of requests whose answers wait."""
        return sum(pending.requests for pending in self._waiting)

    def add(self, pending: PendingAnswers) -> None:
        assert not self._waiting or self._waiting[-1].end_offset <= pending.end_offset
        self._waiting.append(pending)
        self.size += len(pending.answers)

    def take_confirmed(self, confirmed: int) -> list[PendingAnswers]:
        """Answers whose records are confirmed."""
        done = []
        while self._waiting and self._waiting[0].end_offset <= confirmed:
            done.append(self._take_first())
        return done

    def take_late(self, monotonic_ms: int) -> list[PendingAnswers]:
        """Answers that have waited too long: their messages are not known to be safe."""
        late = []
        while self._waiting and self._waiting[0].deadline_ms <= monotonic_ms:
            late.append(self._take_first())
        return late

    def _take_first(self) -> PendingAnswers:
        pending = self._waiting.popleft()
        self.size -= len(pending.answers)
        return pending
