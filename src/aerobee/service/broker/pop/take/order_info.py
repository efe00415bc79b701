"""OrderInfo: the messages of one queue that an ordered pop handed out, and its form in
`config/consumerOrderInfo.json`.

    {"orderInfoCount":1,"orderedConsumptionLevel":"QUEUE",
     "table":{"topic@group":{0:{"a":"attempt","cm":5,"i":60000,"l":1700000000000,"o":[7,1,2],
              "oc":{8:1},"ot":{8:1700000030000},"popTime":1700000000000}}}}

    o     the offsets: the first, then distances from it      cm   bit i: the i-th is acknowledged
    oc    how often each was handed out before                ot   when one becomes visible, if not
    a     the attempt that popped them                             by popTime + i

Laws. While one of the messages is neither acknowledged nor visible again, no other attempt gets a
message of the queue; the attempt that has them may get them again. The group's offset is that of
the first message that is not acknowledged, so nothing else is needed to find them after a crash.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Parsed, Value, by_number

OFFSETS_MAX = 64


@dataclass(slots=True)
class OrderInfo:
    """The messages of one ordered pop, with their acknowledgements. O1. `offsets` rise, and there
    is at least one."""

    offsets: Sequence[int]
    pop_time: int
    invisible_ms: int
    attempt_id: str = ""
    acked: int = 0
    consumed_ms: int = 0
    counts: dict[int, int] = field(default_factory=dict)
    visible_ms: dict[int, int] = field(default_factory=dict)

    def blocked_until(self, attempt_id: str) -> int:
        """The wall time until which another attempt has to wait; 0: it need not."""
        if self.attempt_id and self.attempt_id == attempt_id:
            return 0
        return max((self._visible_at(offset) for offset in self.unacked()), default=0)

    def _visible_at(self, offset: int) -> int:
        return self.visible_ms.get(offset, self.pop_time + self.invisible_ms)

    def unacked(self) -> list[int]:
        return [offset for index, offset in enumerate(self.offsets) if not self.acked >> index & 1]

    def ack(self, offset: int) -> bool:
        """Acknowledge one offset; False: it is not among `offsets`."""
        if offset not in self.offsets:
            return False
        self.acked |= 1 << self.offsets.index(offset)
        return True

    def next_offset(self) -> int:
        """The group's offset: the first message that is not acknowledged."""
        left = self.unacked()
        return left[0] if left else self.offsets[-1] + 1

    def after(self, before: "OrderInfo | None") -> "OrderInfo":
        """Take over the delivery counts of the pop before."""
        if before is not None:
            if before.attempt_id and before.attempt_id == self.attempt_id:
                self.counts = dict(before.counts)
            else:
                self.counts = {
                    offset: before.counts.get(offset, 0) + 1
                    for offset in self.offsets
                    if offset in before.offsets
                }
        return self


def order_info_json(info: OrderInfo) -> dict[str, Value]:
    first, *rest = info.offsets
    said: dict[str, Value] = {"a": info.attempt_id} if info.attempt_id else {}
    said |= {
        "cm": info.acked,
        "i": info.invisible_ms,
        "l": info.consumed_ms,
        "o": [first, *(offset - first for offset in rest)],
        "oc": dict(info.counts),
    }
    if info.visible_ms:
        said["ot"] = dict(info.visible_ms)
    return {**said, "popTime": info.pop_time}


def order_info_from(members: Members) -> OrderInfo:
    listed = members.array("o")
    numbers = [one for one in listed if isinstance(one, int) and not isinstance(one, bool)]
    if not 0 < len(numbers) <= OFFSETS_MAX or len(numbers) < len(listed):
        raise RemoteProtocolError(f"{members.what} has no offsets, or too many")
    first, *rest = numbers
    offsets = [first, *(first + distance for distance in rest)]
    if any(later <= earlier for earlier, later in itertools.pairwise(offsets)):
        raise RemoteProtocolError(f"the offsets of {members.what} do not rise")
    return OrderInfo(
        offsets,
        members.int64("popTime", 0),
        members.int64("i", 0),
        members.text("a", ""),
        members.int64("cm", 0) & (2**OFFSETS_MAX - 1),
        members.int64("l", 0),
        _numbers(members.object("oc")),
        _numbers(members.object("ot")),
    )


def _numbers(members: Members) -> dict[int, int]:
    table: Mapping[int, Parsed] = by_number(members.plain())
    return {
        key: value
        for key, value in table.items()
        if isinstance(value, int) and not isinstance(value, bool)
    }
