import pytest

from aerobee.client.admin.brokers import RuntimeInfo
from aerobee.console.watch.figures import (
    Counters,
    DiskSpace,
    Growth,
    counters_of,
    days_left,
    disk_space,
    flush_behind,
    put_latency,
    rates_between,
    topic_figures,
    waiting_by_level,
)
from aerobee.protocol.bodies.topic_stats import QueueStats


def test_counters_of_two_moments_are_rates_and_a_restart_is_none() -> None:
    figures = {"putMessageTimesTotal": "10", "msgGetTotalTodayNow": "4", "commitLogMaxOffset": "99"}
    assert counters_of(RuntimeInfo(figures), 1.0) == Counters(1.0, 10, 4, 99)
    rates = rates_between(Counters(1.0, 10, 4, 100), Counters(3.0, 30, 4, 500))
    assert rates == (10.0, 0.0, 200.0)
    assert rates_between(Counters(1.0, 10, 4, 100), Counters(2.0, 0, 0, 0)) is None
    assert rates_between(Counters(1.0, 1, 1, 1), Counters(1.0, 1, 1, 1)) is None


def test_the_room_of_a_disk_and_the_days_until_it_is_full() -> None:
    info = RuntimeInfo({"commitLogDirCapacity": "Total : 100.0 GiB, Free : 50.0 GiB."})
    space = disk_space(info)
    assert space == DiskSpace(100 << 30, 50 << 30)
    assert days_left(space, 0.9, (40 << 30) / 86_400) == pytest.approx(1.0)
    assert days_left(space, 0.9, 0.0) is None
    assert days_left(None, 0.9, 10.0) is None
    assert disk_space(RuntimeInfo({})) is None


def test_figures_that_are_texts_are_parsed_and_what_is_none_is_nothing() -> None:
    info = RuntimeInfo(
        {
            "scheduleMessageOffset_3": "7,9",
            "scheduleMessageOffset_4": "x",
            "remainHowManyDataToFlush": "1.5 KiB",
            "putLatency50": "0.50",
            "putLatency99": "0.75",
            "putLatency999": "n/a",
        }
    )
    assert waiting_by_level(info) == {3: 2}
    assert flush_behind(info) == 1536
    assert put_latency(info) == {"p50": 0.5, "p99": 0.75}
    assert put_latency(RuntimeInfo({})) is None
    assert flush_behind(RuntimeInfo({})) == 0


def test_a_topic_asked_about_twice_has_a_rate() -> None:
    first = topic_figures([QueueStats(0, 10, 5), QueueStats(5, 10, 7)], 1.0, None)
    assert (first.messages, first.last_stored, first.stored) == (15, 7, None)
    second = topic_figures([QueueStats(0, 14, 9), QueueStats(5, 10, 7)], 3.0, first)
    assert second.stored == 2.0
    anew = topic_figures([QueueStats(0, 1, 9)], 4.0, second)
    assert anew.stored is None


def test_growth_is_that_of_the_last_hour_and_not_of_a_burst() -> None:
    growth = Growth()
    assert growth.bytes_a_second() is None
    growth.add(0.0, 0)
    growth.add(59.0, 590)
    assert growth.bytes_a_second() is None
    for second in range(60, 7_201):
        growth.add(float(second), second * 10)
    assert growth.bytes_a_second() == 10
    growth.add(7_201.0, 72_010 + 1_000_000)
    told = growth.bytes_a_second()
    assert told is not None
    assert told < 300
    growth.add(7_202.0, 5)
    assert growth.bytes_a_second() is None
