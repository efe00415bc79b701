"""OrderInfoTable keeps the order info of all queues that groups pop in order, and saves it.

The file is written every few seconds if anything changed, as offsets are, and at the end. A crash
loses the changes since: the group's offset is then the saved one, and its messages are handed out
again, in their order.

A queue that was not popped for a day is forgotten, and so is one whose topic or group is gone.
"""

import heapq
import logging
from collections.abc import Callable
from typing import TypeAlias

from aerobee.errors import CorruptFile, ProtocolError
from aerobee.ports.clock import Now
from aerobee.ports.disk_worker import DiskWorker
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Value, by_number
from aerobee.service.broker.pop.take.order_info import OrderInfo, order_info_from, order_info_json
from aerobee.service.broker.pop.take.pop_offsets import PopKey
from aerobee.service.broker.state.offset_table import key_text, parse_key
from aerobee.storage.metadata.config_file import ConfigFile
from aerobee.storage.metadata.periodic_save import PeriodicSave, Save

_log = logging.getLogger(__name__)

QUEUES_MAX = 100_000
KEPT_MS = 24 * 3_600_000

IsKnown: TypeAlias = Callable[[str, str, int], bool]
"""(group, topic, queue) → whether they are still there."""

StoredMs: TypeAlias = Callable[[str, int, int], int]
"""(topic, queue, offset) → the time at which a message was stored; negative: there is none."""


class OrderInfoTable:
    """The order info by group, topic and queue. Laws: see `order_info`."""

    def __init__(
        self, file: ConfigFile, worker: DiskWorker, interval_ms: int, is_known: IsKnown, now: Now
    ) -> None:
        """Reads the file. CorruptFile: it is damaged, and so is its backup."""
        self._file = file
        self._is_known = is_known
        self.saving = PeriodicSave(worker, file.path, interval_ms, now.monotonic_ms, self._take)
        self._is_dirty = False
        self._table: dict[PopKey, OrderInfo] = {}
        # (wall ms, key): when a pop that waits for this queue may be run again.
        self._free: list[tuple[int, PopKey]] = []
        self._load()

    def _load(self) -> None:
        loaded = self._file.load()
        if loaded is None:
            return
        if loaded.fault:
            _log.warning("messages popped in order may be handed out again: %s", loaded.fault)
        try:
            members = Members(loaded.value, self._file.path)
            for name, queues in members.object("table").objects():
                key = parse_key(name)
                for queue_id, one in by_number(queues.plain()).items():
                    info = order_info_from(Members(one, f"queue {queue_id} of {name[:100]}"))
                    if key is not None:
                        self._table[key[1], key[0], queue_id] = info
                        self._note_free((key[1], key[0], queue_id), info)
        except ProtocolError as error:
            raise CorruptFile(error.message, path=self._file.path) from None

    # Popping.

    def is_blocked(self, key: PopKey, attempt_id: str, wall_ms: int) -> bool:
        info = self._table.get(key)
        return info is not None and wall_ms < info.blocked_until(attempt_id)

    def has_room(self, key: PopKey) -> bool:
        return key in self._table or len(self._table) < QUEUES_MAX

    def popped(self, key: PopKey, info: OrderInfo) -> OrderInfo:
        """A run was handed out. Returns its order info with the delivery counts of earlier pops."""
        self._table[key] = info.after(self._table.get(key))
        self._note_free(key, info)
        self._is_dirty = True
        return info

    def find(self, key: PopKey) -> OrderInfo | None:
        return self._table.get(key)

    def ack(self, key: PopKey, offset: int, pop_time: int) -> int | None:
        """The group's offset after an acknowledgement; -1: it is of another pop; None: the message
        is not in this one."""
        info = self._table.get(key)
        if info is None:
            return offset + 1
        if info.pop_time != pop_time:
            return -1
        if not info.ack(offset):
            return None
        # What is left may become visible before the message that was acknowledged would have.
        self._note_free(key, info)
        self._is_dirty = True
        return info.next_offset()

    def show_at(self, key: PopKey, offset: int, pop_time: int, visible_ms: int) -> None:
        """Make a message visible at another time."""
        info = self._table.get(key)
        if info is not None and info.pop_time == pop_time and offset in info.offsets:
            info.visible_ms[offset] = visible_ms
            self._note_free(key, info)
            self._is_dirty = True

    def forget(self, key: PopKey) -> None:
        """The group's offset was reset: drop its messages."""
        if self._table.pop(key, None) is not None:
            self._is_dirty = True

    def forget_topic(self, topic: str) -> None:
        """A topic was deleted: a new one of the same name has other messages."""
        for key in [key for key in self._table if key[1] == topic]:
            self.forget(key)

    def forget_gone(self, stored_ms: StoredMs) -> None:
        """Forget messages that are gone, at a start: a process that was killed may not have saved
        that a topic was deleted, and a new one of the same name has others, stored since."""
        for key, info in list(self._table.items()):
            _, topic, queue_id = key
            if not 0 <= stored_ms(topic, queue_id, info.offsets[-1]) <= info.pop_time:
                self.forget(key)

    # Time.

    def _note_free(self, key: PopKey, info: OrderInfo) -> None:
        heapq.heappush(self._free, (info.blocked_until(""), key))
        if len(self._free) > 2 * len(self._table) + 1000:
            # Each change of an invisible time leaves an entry: keep only the last of each queue.
            self._free = [(one.blocked_until(""), of) for of, one in self._table.items()]
            heapq.heapify(self._free)

    def take_free(self, wall_ms: int) -> list[PopKey]:
        """Queues whose messages became visible since the last call."""
        found = []
        while self._free and self._free[0][0] <= wall_ms:
            _, key = heapq.heappop(self._free)
            if key in self._table and not self.is_blocked(key, "", wall_ms):
                found.append(key)
        return found

    def ms_to_free(self, wall_ms: int) -> int | None:
        return max(0, self._free[0][0] - wall_ms) if self._free else None

    # The file.

    def _take(self, wall_ms: int) -> Save | None:
        if not self._is_dirty:
            return None
        self._clean(wall_ms)
        self._is_dirty = False
        value = self._json()
        return Save(lambda: self._file.store(value), self._written)

    def _clean(self, wall_ms: int) -> None:
        gone = [
            key
            for key, info in self._table.items()
            if wall_ms - info.consumed_ms > KEPT_MS or not self._is_known(*key)
        ]
        for key in gone:
            del self._table[key]

    def _json(self) -> dict[str, Value]:
        table: dict[str, dict[int, Value]] = {}
        for (group, topic, queue_id), info in self._table.items():
            table.setdefault(key_text((topic, group)), {})[queue_id] = order_info_json(info)
        return {
            "orderInfoCount": len(self._table),
            "orderedConsumptionLevel": "QUEUE",
            "table": table,
        }

    def _written(self, is_on_disk: bool) -> None:
        if not is_on_disk:
            self._is_dirty = True
