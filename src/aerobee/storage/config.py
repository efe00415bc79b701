"""StorageConfig holds the settings of a store: checked once, then frozen.

Each comment says what raising or lowering the value costs. The names of RocketMQ's configuration
keys are translated to these in the layer that reads configuration files.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB
FILE_BYTES_MAX = 2 * GIB - 1  # RocketMQ maps a file by an int32
BATCH_UNIT_BYTES = 46  # the largest unit of a queue
MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS

_DELAY_LEVELS_MS = (
    *(s * 1000 for s in (1, 5, 10, 30)),
    *(m * MINUTE_MS for m in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30)),
    *(h * HOUR_MS for h in (1, 2)),
)


class FlushMode(Enum):
    """When an append counts as done."""

    ASYNC = "ASYNC_FLUSH"  # when it is in memory: survives a killed process, not a power cut
    SYNC = "SYNC_FLUSH"  # when it is on the disk


@dataclass(frozen=True, slots=True)
class StorageConfig:
    log_file_bytes: int = GIB
    """Bytes of a commit log file. Smaller: retention is finer, rolls are more frequent."""
    queue_file_units: int = 300_000
    """Entries of a consume queue file, 20 bytes each. Room is reserved as a queue grows."""
    index_slots: int = 5_000_000
    """Hash slots of a key index file. Fewer: longer chains, slower queries by key."""
    index_units: int = 20_000_000
    """Keys of a key index file, 20 bytes each. Room is reserved as it fills."""
    index_enabled: bool = True
    """Off: no query by key or unique id, and no cost for it."""

    record_crc: bool = True
    """Whole-record checksum, 20 bytes each. Off: damage outside a body goes unnoticed."""
    store_host: bytes = bytes((127, 0, 0, 1)) + (10911).to_bytes(4, "big")
    """Address (4 or 16 bytes) and port (4): what a message id points to."""
    delay_levels_ms: tuple[int, ...] = _DELAY_LEVELS_MS

    flush_mode: FlushMode = FlushMode.ASYNC
    """Whether an append counts as done in memory, which a killed process survives and a power cut
    does not, or on the disk, which costs a sync."""
    flush_interval_ms: int = 500
    """ASYNC: how long an append may wait for its sync. What a power cut can cost."""
    flush_lag_ms_max: int = 1000
    """The oldest unsynced byte is never older, or appends are refused until the disk is back."""
    mark_interval_ms: int = 1000
    """How often the durable mark is synced. Longer: more log to look through after a power cut."""
    checkpoint_interval_ms: int = 5000
    """How often consume queues and index are synced. Longer: more to dispatch again at a start."""
    checkpoint_bytes: int = 256 * MIB
    """The same, by bytes of log dispatched since."""

    hot_bytes: int = 2 * GIB
    """The newest part of the log that is taken to be in memory. Older ranges are asked for at the
    operating system and checked against their checksums when they are read."""

    retention_ms: int = 72 * HOUR_MS
    """Age at which a commit log file may go."""
    disk_used_ratio_clean: float = 0.85
    """Above this the oldest files go whatever their age."""
    disk_used_ratio_full: float = 0.90
    """Above this appends are refused."""
    disk_free_bytes_min: int = 64 * MIB
    """Below this appends are refused, whatever the ratio says."""
    delete_interval_ms: int = 100
    """Pause between two deletions, so that they do not come in a burst."""

    compaction_interval_ms: int = 15 * MINUTE_MS
    """How long messages of compacted topics may wait for it. Shorter: what was kept is written
    again more often."""
    compaction_map_bytes: int = 100 * MIB
    """Memory for the keys of one run. Less: more runs, each of which writes again what was kept."""
    deletion_retention_ms: int = 24 * HOUR_MS
    """How long a message that deletes its key outlives the key. Shorter: a consumer that was away
    for longer, and comes back, never hears of it."""

    def __post_init__(self) -> None:
        problems = [*self._misfit_sizes(), *self._misfit_times()]
        if len(self.store_host) not in (8, 20):
            problems.append("store_host must be 4 or 16 address bytes and 4 of port")
        if not 0.1 <= self.disk_used_ratio_clean <= self.disk_used_ratio_full <= 1.0:
            problems.append("disk ratios must rise from 0.1: clean, full, 1.0")
        if problems:
            raise ValueError("; ".join(problems))

    def _misfit_sizes(self) -> Iterator[str]:
        if not 4 * KIB <= self.log_file_bytes <= FILE_BYTES_MAX:
            yield "log_file_bytes must be at least 4 KiB and below 2 GiB"
        if not 1 <= self.queue_file_units <= FILE_BYTES_MAX // BATCH_UNIT_BYTES:
            yield "queue_file_units must be at least 1, and the file below 2 GiB"
        index_bytes = 40 + 4 * self.index_slots + 20 * self.index_units
        if self.index_slots < 1 or self.index_units < 2 or index_bytes > FILE_BYTES_MAX:
            yield (
                "index_slots must be at least 1, index_units at least 2, and the file below 2 GiB"
            )
        if self.checkpoint_bytes < 1:
            yield "checkpoint_bytes must be at least 1"
        if self.compaction_map_bytes < 1:
            yield "compaction_map_bytes must be at least 1"
        if self.hot_bytes < 0 or self.disk_free_bytes_min < 0:
            yield "hot_bytes and disk_free_bytes_min must not be below 0"

    def _misfit_times(self) -> Iterator[str]:
        if not 0 < self.flush_interval_ms < self.flush_lag_ms_max:
            yield "flush_interval_ms must be positive and below flush_lag_ms_max"
        if self.mark_interval_ms < 0 or self.checkpoint_interval_ms < 0:  # 0: at every step
            yield "mark_interval_ms and checkpoint_interval_ms must not be below 0"
        if self.retention_ms < 1:
            yield "retention_ms must be positive"
        if self.compaction_interval_ms < 0 or self.deletion_retention_ms < 0:
            yield "compaction_interval_ms and deletion_retention_ms must not be below 0"
        if self.delete_interval_ms < 0:
            yield "delete_interval_ms must not be below 0"
        if any(delay_ms < 0 for delay_ms in self.delay_levels_ms):
            yield "delay_levels_ms must not be below 0"

    @property
    def record_bytes_max(self) -> int:
        """A record fits in a log file, and a filler behind it. How much of it a sender may fill is
        decided where sends come in: what was stored once can be stored again."""
        return self.log_file_bytes - 8
