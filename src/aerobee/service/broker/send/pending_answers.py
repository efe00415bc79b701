"""Answers to sends that wait for the promise they make: the message is on the disk.

The answers of one read are made at once, because everything in them is known, and kept together
until the log is on the disk up to the end of their last record. Ends rise, so the oldest is always
first. What waits too long is answered, too: stored, and not known to be safe.
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

_TIMEOUT = int(ResponseCode.FLUSH_DISK_TIMEOUT)


class PendingAnswers(NamedTuple):
    """Of one read."""

    channel: ChannelId
    end_offset: int
    answers: bytes
    """Whole frames, each of a success."""
    deadline_ms: int
    """On the monotonic clock."""
    requests: int = 1
    since_ms: int = 0
    """How many they answer, and when these came."""

    def as_unsafe(self) -> bytes:
        """The same answers, saying that the sync did not come in time. They are not decoded: the
        ids of a large batch are more than any peer may send us."""
        frames = FrameReader(FrameLimits(FRAME_BYTES_MAX, HEADER_BYTES_MAX))
        frames.receive(self.answers)
        parts: list[bytes | memoryview] = []
        while frames.advance():
            header = frames.header()
            if frames.serialize_type == BINARY_TYPE:
                header = _TIMEOUT.to_bytes(2, "big") + header[2:]
            else:
                header = header.replace(b'"code":0', b'"code":%d' % _TIMEOUT, 1)
            parts += encode_frame(header, frames.body(), frames.serialize_type)
        return b"".join(parts)


class AnswersInWait:
    """The answers that wait, oldest first; `size` is their bytes in all."""

    def __init__(self) -> None:
        self._waiting: deque[PendingAnswers] = deque()
        self.size = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def requests(self) -> int:
        """How many wait for them."""
        return sum(pending.requests for pending in self._waiting)

    def add(self, pending: PendingAnswers) -> None:
        assert not self._waiting or self._waiting[-1].end_offset <= pending.end_offset
        self._waiting.append(pending)
        self.size += len(pending.answers)

    def take_flushed(self, flushed: int) -> list[PendingAnswers]:
        """Answers whose records are on the disk."""
        done = []
        while self._waiting and self._waiting[0].end_offset <= flushed:
            done.append(self._take_first())
        return done

    def take_late(self, monotonic_ms: int) -> list[PendingAnswers]:
        """Answers that have waited too long: nobody may call their messages safe."""
        late = []
        while self._waiting and self._waiting[0].deadline_ms <= monotonic_ms:
            late.append(self._take_first())
        return late

    def _take_first(self) -> PendingAnswers:
        pending = self._waiting.popleft()
        self.size -= len(pending.answers)
        return pending
