"""FastInnerDesk serves sends and acknowledgements of gRPC in place, by the broker's fast paths.

It is open while the gate lets everybody pass and no rates are counted: it asks nobody who they are.
Sends whose answers wait for the disk or for slaves take the general path.
"""

from collections.abc import Callable

from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.protocol.bodies.revive_records import CheckpointKey
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.broker.parts import Parts
from aerobee.service.broker.request_table import Reception
from aerobee.service.proxy.desk import Then
from aerobee.service.request import Answer


class FastInnerDesk:
    """A `service.proxy.desk.FastDesk`."""

    def __init__(self, parts: Parts, reception: Reception) -> None:
        self.draft = MessageDraft()
        self._gate = reception.gate
        self._limits = reception.limits
        self._may_take: Callable[[Now], bool] | None = parts.replication.may_take
        self._is_later = parts.sends.writer.answers.are_later
        self._fast_send = parts.sends.fast_send
        self._packed = parts.peers.packed
        self._acknowledge = parts.pops.acknowledge
        self._note = parts.watching.times.note
        self._now = Now(0, 0)

    def is_open(self, now: Now) -> bool:
        self._now = now
        if not self._gate.is_open or self._limits.has_rates:
            return False
        return self._may_take is None or self._may_take(now)

    def store(self, channel: ChannelId, now: Now) -> int:
        if self._is_later:
            return -1
        self.draft.born_host = self._packed[channel]
        return self._fast_send.store_normal(self.draft, now.wall_ms)

    def acknowledge(
        self, key: CheckpointKey, revive_queue: int, revive_time: int, offset: int, then: Then
    ) -> bool:
        since_ms = self._now.monotonic_ms

        def told(answer: Answer) -> None:
            self._note(RequestCode.ACK_MESSAGE, answer.code, since_ms, 1)
            then(answer)

        return self._acknowledge(key, revive_queue, revive_time, offset, told) is None
