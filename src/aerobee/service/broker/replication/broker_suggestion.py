"""BrokerSuggestion tells consumers which broker to pull from next: the master, or a slave.

A consumer that is further behind than a part of the memory (40 %, accessMessageInMemoryMaxRatio)
reads from the disk what others have long forgotten, and takes the page cache from those who send
and read new messages. The master sends it to a slave; the slave sends it back when it has caught
up.
"""

from collections.abc import Callable
from typing import TypeAlias

from aerobee.model.broker_role import MASTER_ID
from aerobee.model.group import GroupConfig
from aerobee.service.broker.config import BrokerIdentity
from aerobee.storage.read.queue_read import QueueRead
from aerobee.storage.store import Store

_LOG_OFFSET = slice(28, 36)  # of a record

FindGroup: TypeAlias = Callable[[str], GroupConfig | None]


class BrokerSuggestion:
    def __init__(
        self,
        identity: BrokerIdentity,
        store: Store,
        find_group: FindGroup,
        has_slave: Callable[[], bool],
    ) -> None:
        """`has_slave`: whether a slave of this broker is connected."""
        replication = identity.replication
        self._broker_id = identity.broker_id
        self._behind_bytes_max = identity.memory_bytes * replication.memory_percent // 100
        self._may_send_away = identity.is_master and replication.serves_reads
        self.moves_readers = identity.is_master or replication.checks_offsets_in_slave
        """Whether an offset outside a queue is corrected. A slave may only be behind."""
        self._store = store
        self._find_group = find_group
        self._has_slave = has_slave

    def after(self, read: QueueRead, group: str) -> int:
        """The broker id to pull from after this read."""
        if self._behind_bytes_max == 0 or not read.slices:
            return MASTER_ID
        first = int.from_bytes(read.slices[0][_LOG_OFFSET], "big")
        if self._store.end_offset - first <= self._behind_bytes_max:
            return MASTER_ID
        if self._broker_id != MASTER_ID:
            return self._broker_id
        if not self._may_send_away or not self._has_slave():
            return MASTER_ID
        config = self._find_group(group)
        return config.slow_broker_id if config is not None else MASTER_ID
