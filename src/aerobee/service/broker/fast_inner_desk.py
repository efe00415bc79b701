"""FastInnerDesk serves sends and acknowledgements of gRPC in place, by the broker's fast paths.

It is open while the gate lets everybody pass and no rates are counted: it asks nobody who they are.
Sends whose answers wait for the disk or for slaves take the general path.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.protocol.bodies.revive_records import CheckpointKey
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.broker.parts import Parts
from aerobee.service.broker.request_table import Reception
from aerobee.service.broker.send.fast_send import FastSend
from aerobee.service.in_place.fast_desk import FastDesk, Told
from aerobee.service.request import Answer

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython

_ACK = RequestCode.ACK_MESSAGE


def is_compiled() -> bool:
    return cython.compiled


class FastInnerDesk(FastDesk):
    __slots__ = (
        "_acks",
        "_checks",
        "_fast_send",
        "_gate",
        "_is_later",
        "_limits",
        "_may_take",
        "_note",
        "_now",
        "_packed",
        "_wall_ms",
    )

    def __init__(self, parts: Parts, reception: Reception) -> None:
        super().__init__()
        self._gate = reception.gate
        self._limits = reception.limits
        self._may_take: Callable[[Now], bool] | None = parts.replication.may_take
        self._is_later = parts.sends.writer.answers.are_later
        self._fast_send: FastSend = parts.sends.fast_send
        self._packed = parts.peers.packed
        self._acks = parts.pops.ack_writer
        self._checks = parts.pops.checks
        self._note = parts.watching.times.note
        self._now = Now(0, 0)
        self._wall_ms = 0

    def is_open(self, now: Now) -> bool:
        self._now = now
        self._wall_ms = now.wall_ms
        if not self._gate.is_open or self._limits.has_rates:
            return False
        return self._may_take is None or self._may_take(now)

    def store(self, channel: ChannelId, now: Now) -> int:
        if self._is_later:
            return -1
        self.draft.born_host = self._packed[channel]
        return self._fast_send.store_normal(self.draft, self._wall_ms)

    def ack_bounds(self, topic: str, queue_id: int, revive_queue: int) -> tuple[int, int] | None:
        return self._checks.ack_bounds(topic, queue_id, revive_queue)

    def acknowledge(
        self,
        key: CheckpointKey,
        revive_queue: int,
        revive_time: int,
        offsets: list[int],
        told: Told,
    ) -> None:
        heard = partial(self._heard, self._now.monotonic_ms, len(offsets), told)
        self._acks.add(key, revive_queue, revive_time, offsets, heard)

    def _heard(self, since_ms: int, count: int, told: Told, answer: Answer) -> None:
        self._note(_ACK, answer.code, since_ms, count)
        told(answer)
