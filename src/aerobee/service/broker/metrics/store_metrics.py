"""Metrics of the store: sizes, flush and dispatch lag, disk usage, sync times.

All are read from the store's state; only syncs are counted.
"""

from collections.abc import Iterator

from aerobee.model.metric import Metric, Sample, gauge, histogram
from aerobee.ports.clock import Now
from aerobee.storage.store import Store

_LABELS = {"storage_type": "local", "storage_medium": "disk"}


def store_metrics(store: Store, now: Now) -> Iterator[Metric]:
    end = store.end_offset
    yield _gauge(
        "rocketmq_storage_size",
        "Bytes of the log that are kept",
        end - store.min_offset,
        also="rocketmq_storage_size_bytes",
    )
    yield _gauge(
        "rocketmq_storage_flush_behind_bytes",
        "Bytes of the log that are not known to be on the disk",
        end - store.flushed_offset,
    )
    yield _gauge(
        "rocketmq_storage_dispatch_behind_bytes",
        "Bytes of the log that readers cannot see yet",
        end - store.dispatched_offset,
    )
    earliest_ms = store.earliest_timestamp()
    if earliest_ms > 0:
        yield _gauge(
            "rocketmq_storage_message_reserve_time",
            "How long the oldest message has been there, in ms",
            max(0, now.wall_ms - earliest_ms),
            also="rocketmq_storage_message_reserve_time_milliseconds",
        )
    yield _gauge(
        "aerobee_storage_disk_used_ratio",
        "How much of the disk is used, by anybody, from 0 to 1",
        store.disk_used_ratio(),
    )
    yield _gauge(
        "aerobee_storage_refuses_writes",
        "1 while nothing can be stored: the disk is full, too slow or failed",
        int(store.appender.refusal is not None),
    )
    yield _gauge(
        "aerobee_storage_compaction_stuck",
        "1 while a compacted topic cannot be compacted: its log is not cleaned",
        int(bool(store.compaction.problem)),
    )
    yield histogram(
        "aerobee_storage_sync_seconds",
        "How long syncs of the log took",
        [Sample(_LABELS, store.sync_seconds)],
    )


def _gauge(name: str, text: str, value: float, also: str = "") -> Metric:
    return gauge(name, text, [Sample(_LABELS, value)], also)
