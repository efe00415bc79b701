"""The settings of a store: what is refused, by which name, and what follows from the rest."""

from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from aerobee.storage.config import GIB, HOUR_MS, KIB, MIB, FlushMode, StorageConfig

IPV6_HOST = bytes(range(16)) + (10911).to_bytes(4, "big")


def problems_of(**values: Any) -> list[str]:
    """What is wrong with a configuration, one sentence each."""
    try:
        StorageConfig(**values)
    except ValueError as error:
        return str(error).split("; ")
    return []


def test_the_defaults_are_those_of_rocketmq() -> None:
    config = StorageConfig()
    assert config.log_file_bytes == GIB
    assert config.queue_file_units == 300_000
    assert (config.index_slots, config.index_units) == (5_000_000, 20_000_000)
    assert config.flush_mode is FlushMode.ASYNC
    assert config.flush_interval_ms == 500
    assert config.retention_ms == 72 * HOUR_MS
    assert config.record_crc
    assert config.index_enabled


def test_the_delay_levels_are_the_eighteen_of_rocketmq() -> None:
    minutes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30, 60, 120]
    expected = [1000, 5000, 10_000, 30_000, *(60_000 * minute for minute in minutes)]
    assert list(StorageConfig().delay_levels_ms) == expected


def test_flush_modes_are_called_as_rocketmq_calls_them() -> None:
    assert FlushMode("ASYNC_FLUSH") is FlushMode.ASYNC
    assert FlushMode("SYNC_FLUSH") is FlushMode.SYNC


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"log_file_bytes": 4 * KIB - 1}, "log_file_bytes"),
        ({"queue_file_units": 0}, "queue_file_units"),
        ({"index_slots": 0}, "index_slots"),
        ({"index_units": 1}, "index_units"),
        ({"store_host": bytes(4)}, "store_host"),
        ({"store_host": bytes(16)}, "store_host"),
        ({"flush_interval_ms": 0}, "flush_interval_ms"),
        ({"flush_interval_ms": 1000}, "flush_lag_ms_max"),
        ({"flush_lag_ms_max": 500}, "flush_interval_ms"),
        ({"log_file_bytes": 2 * GIB}, "log_file_bytes"),
        ({"queue_file_units": 2 * GIB // 46 + 1}, "queue_file_units"),
        ({"index_slots": 500_000_000}, "index_slots"),
        ({"checkpoint_bytes": 0}, "checkpoint_bytes"),
        ({"hot_bytes": -1}, "hot_bytes"),
        ({"disk_free_bytes_min": -1}, "disk_free_bytes_min"),
        ({"mark_interval_ms": -1}, "mark_interval_ms"),
        ({"checkpoint_interval_ms": -1}, "checkpoint_interval_ms"),
        ({"retention_ms": 0}, "retention_ms"),
        ({"delete_interval_ms": -1}, "delete_interval_ms"),
        ({"delay_levels_ms": (1000, -1)}, "delay_levels_ms"),
        ({"disk_used_ratio_clean": 0.05}, "disk ratios"),
        ({"disk_used_ratio_clean": 0.91}, "disk ratios"),
        ({"disk_used_ratio_full": 1.01}, "disk ratios"),
    ],
)
def test_a_value_that_cannot_be_is_refused_by_name(values: dict[str, Any], named: str) -> None:
    problems = problems_of(**values)
    assert len(problems) == 1
    assert named in problems[0]


@pytest.mark.parametrize(
    "values",
    [
        {"log_file_bytes": 4 * KIB},
        {"queue_file_units": 1},
        {"index_slots": 1, "index_units": 2},
        {"store_host": bytes(8)},
        {"store_host": IPV6_HOST},
        {"flush_interval_ms": 1, "flush_lag_ms_max": 2},
        {"log_file_bytes": 2 * GIB - 1, "checkpoint_bytes": 1},
        {"hot_bytes": 0, "disk_free_bytes_min": 0, "delete_interval_ms": 0},
        {"mark_interval_ms": 0, "checkpoint_interval_ms": 0, "retention_ms": 1},
        {"delay_levels_ms": ()},
        {"disk_used_ratio_clean": 0.1, "disk_used_ratio_full": 0.1},
        {"disk_used_ratio_clean": 1.0, "disk_used_ratio_full": 1.0},
    ],
)
def test_a_value_at_its_limit_is_taken(values: dict[str, Any]) -> None:
    assert problems_of(**values) == []


def test_every_mistake_is_told_at_once() -> None:
    problems = problems_of(
        log_file_bytes=1,
        queue_file_units=0,
        index_slots=0,
        store_host=b"",
        flush_interval_ms=-1,
        disk_used_ratio_full=2.0,
    )
    assert len(problems) == 6


def test_a_configuration_cannot_be_changed() -> None:
    config = StorageConfig()
    with pytest.raises(FrozenInstanceError):
        config.log_file_bytes = 1  # type: ignore[misc]


def test_a_record_leaves_room_for_a_filler_in_its_file() -> None:
    assert StorageConfig(log_file_bytes=MIB).record_bytes_max == MIB - 8
