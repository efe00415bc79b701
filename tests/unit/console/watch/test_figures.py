import pytest

from aerobee.client.admin.brokers import RuntimeInfo
from aerobee.client.admin.groups import GroupProgress
from aerobee.console.watch.figures import (
    Counters,
    DiskSpace,
    consumed_by_topic,
    counters_of,
    days_left,
    disk_space,
    flush_behind,
    group_state,
    joined_progress,
    put_latency,
    rates_between,
    topic_figures,
    waiting_by_level,
)
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.protocol.bodies.consume_stats import ConsumeProgress
from aerobee.protocol.bodies.topic_stats import QueueStats

QUEUE = MessageQueue("orders", "broker-a", QueueId(0))
RETRY = MessageQueue("%RETRY%billing", "broker-a", QueueId(0))


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
            "putLatency99": "0.75",
            "putLatency999": "n/a",
        }
    )
    assert waiting_by_level(info) == {3: 2}
    assert flush_behind(info) == 1536
    assert put_latency(info) == {"p99": 0.75}
    assert put_latency(RuntimeInfo({})) is None
    assert flush_behind(RuntimeInfo({})) == 0


def test_a_topic_asked_about_twice_has_a_rate() -> None:
    first = topic_figures([QueueStats(0, 10, 5), QueueStats(5, 10, 7)], 1.0, None)
    assert (first.messages, first.last_stored, first.stored) == (15, 7, None)
    second = topic_figures([QueueStats(0, 14, 9), QueueStats(5, 10, 7)], 3.0, first)
    assert second.stored == 2.0
    anew = topic_figures([QueueStats(0, 1, 9)], 4.0, second)
    assert anew.stored is None


def test_a_group_has_its_lag_its_retries_and_what_it_consumed_by_topic() -> None:
    def progress(at: int, retried: int) -> GroupProgress:
        queues = {
            QUEUE: ConsumeProgress(100, at, at, 0),
            RETRY: ConsumeProgress(5, retried, retried, 0),
        }
        return GroupProgress("billing", queues, 0.0)

    first = group_state(progress(40, 2), 0.0, None)
    assert (first.lag, first.retry, first.topics, first.consumed) == (60, 3, 1, None)
    second = group_state(progress(60, 2), 2.0, first)
    assert second.consumed == 10.0
    assert consumed_by_topic([second, first])["orders"] == 10.0
    assert "payments" not in consumed_by_topic([second])
    moved_back = group_state(progress(0, 2), 3.0, second)
    assert moved_back.consumed == 0.0


def test_progress_that_brokers_tell_apart_is_put_together() -> None:
    def of(broker: str, lag: int) -> GroupProgress:
        queue = MessageQueue("orders", broker, QueueId(0))
        return GroupProgress("billing", {queue: ConsumeProgress(lag, 0, 0, 0)}, 1.0)

    told = joined_progress([{"billing": of("a", 3)}, {"billing": of("b", 4), "other": of("b", 1)}])
    assert (told["billing"].lag, told["billing"].messages_a_second) == (7, 2.0)
    assert told["other"].lag == 1
