from dataclasses import replace

import pytest

from aerobee.app.load.measure.proc import Counters, ProcessCounters
from aerobee.app.load.measure.usage import BROKER, CLIENT, usage_between

BEFORE = Counters(0, 10.0, 30.0, 4, 1.0, 100, 1000, 2000, 500, 10_000, 0, True)
AFTER = replace(
    BEFORE,
    at_ns=2_000_000_000,
    busy_seconds=16.0,
    idle_seconds=32.0,
    net_in_bytes=3000,
    disk_busy_ms=1500,
    disk_written_bytes=30_000,
)


def test_what_was_used_is_the_difference_by_the_time() -> None:
    found = usage_between(BEFORE, AFTER)
    assert found.machine == 0.75
    assert found.disk_busy == 0.5
    assert (found.net_in_a_second, found.disk_written_a_second) == (1000, 10_000)
    assert not found.client.is_known


def test_the_busiest_thread_is_found_in_all_processes() -> None:
    before = {
        CLIENT: [ProcessCounters(1.0, {1: 1.0}, 5), ProcessCounters(1.0, {2: 1.0}, 5)],
        BROKER: [ProcessCounters(0.0, {}, 5)],
    }
    after = {
        CLIENT: [ProcessCounters(1.5, {1: 1.5}, 6), ProcessCounters(3.0, {2: 2.8, 3: 0.2}, 7)],
        BROKER: [ProcessCounters(3.0, {9: 1.0, 10: 2.0}, 8)],
    }
    found = usage_between(replace(BEFORE, processes=before), replace(AFTER, processes=after))
    assert (found.client.cores, found.client.busiest_thread) == pytest.approx((1.25, 0.9))
    assert (found.broker.cores, found.broker.busiest_thread) == (1.5, 1.0)
    assert found.client.memory_bytes == 13


def test_a_thread_that_waits_for_a_core_is_busier_than_one_that_runs_a_little_more() -> None:
    before = {CLIENT: [ProcessCounters(0.0, {1: 0.0}, 5), ProcessCounters(0.0, {2: 0.0}, 5)]}
    after = {
        CLIENT: [
            ProcessCounters(1.0, {1: 1.0}, 5, {1: 0.1}),
            ProcessCounters(0.8, {2: 0.8}, 5, {2: 1.0}),
        ]
    }
    found = usage_between(replace(BEFORE, processes=before), replace(AFTER, processes=after))
    assert (found.client.busiest_thread, found.client.busiest_waited) == pytest.approx((0.4, 0.5))
    assert found.client.busy == pytest.approx(0.9)
    assert found.client.busiest == 1
    assert found.client.is_wait_known
    assert not found.broker.is_wait_known


def test_a_thread_is_never_busy_for_more_than_all_the_time() -> None:
    before = {BROKER: [ProcessCounters(0.0, {}, 5)]}
    after = {BROKER: [ProcessCounters(2.0, {1: 1.5}, 5, {1: 0.6})]}  # read a moment later
    found = usage_between(replace(BEFORE, processes=before), replace(AFTER, processes=after))
    assert found.broker.busy == 1.0


def test_of_processes_that_ended_nothing_is_known() -> None:
    before = replace(BEFORE, processes={CLIENT: [ProcessCounters(1.0, {}, 5)]})
    assert not usage_between(before, replace(AFTER, processes={CLIENT: []})).client.is_known


def test_no_time_is_no_division_by_nothing() -> None:
    assert usage_between(BEFORE, BEFORE).machine == 0.0
