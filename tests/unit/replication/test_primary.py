import logging
from typing import Any

import pytest

from aerobee.model.broker_role import BrokerRole
from aerobee.ports.service import Effects, LinkId, LinkWrite
from aerobee.replication.config import ReplicationConfig
from aerobee.replication.in_sync import InSync
from aerobee.replication.primary import (
    FIRST_REPORT_MS_MAX,
    GATHER_BYTES,
    GATHER_MS,
    WINDOW_BYTES,
    Primary,
)
from aerobee.replication.transfer import HEADER_BYTES, TransferReader, encode_report
from tests.replication_kit import MemoryLog, at, closed, filled_log, peer, written

BEAT_MS = 5_000
SILENCE_MS = 20_000


class Master:
    """A primary, and what it has written to each link."""

    def __init__(self, log: MemoryLog | None = None, **settings: Any) -> None:
        self.log = filled_log(30) if log is None else log
        config = ReplicationConfig(**settings)
        self.primary = Primary(self.log, InSync(config), config, self.log.file_bytes)
        self.received: dict[int, bytearray] = {}
        self.heartbeats: dict[int, list[int]] = {}
        self.packets: list[int] = []
        self._readers: dict[int, TransferReader] = {}

    def open(self, link: int = 1, host: str = "10.0.0.2", ms: int = 0) -> None:
        self.received[link] = bytearray()
        self.heartbeats[link] = []
        self._readers[link] = TransferReader()
        self.see(self.primary.on_link_open(LinkId(link), peer(host, 40_000 + link), False, at(ms)))

    def report(self, offset: int, link: int = 1, ms: int = 0) -> Effects:
        return self.see(self.primary.on_link_bytes(LinkId(link), encode_report(offset), at(ms)))

    def follow(self, offset: int = 0, link: int = 1, ms: int = 0, **given: Any) -> Effects:
        self.open(link, ms=ms, **given)
        return self.report(offset, link, ms)

    def ready(self, link: int = 1, ms: int = 0) -> Effects:
        return self.see(self.primary.on_link_ready(LinkId(link), at(ms)))

    def push(self, ms: int) -> Effects:
        return self.see(self.primary.push(at(ms)))

    def see(self, effects: Effects) -> Effects:
        for effect in effects:
            if isinstance(effect, LinkWrite):
                reader = self._readers[effect.link]
                reader.receive(b"".join(bytes(buffer) for buffer in effect.buffers))
                while reader.advance():
                    if reader.data:
                        self.packets.append(len(reader.data))
                        self.received[effect.link] += reader.data
                    else:
                        self.heartbeats[effect.link].append(reader.log_offset)
        return effects


def test_a_slave_gets_the_log_from_its_report_on_in_packets_of_one_file() -> None:
    master = Master(transfer_bytes=1_024)
    first = master.log.append(b"one more")
    master.follow(first - 17)  # where the last record begins
    assert bytes(master.received[1]) == master.log.content(first - 17, first)
    master = Master(filled_log(100), transfer_bytes=1_024)
    master.follow(0)
    assert bytes(master.received[1]) == master.log.content(0, master.log.end_offset)
    assert set(master.packets[:-1]) == {1_000}


def test_a_slave_that_stopped_inside_a_record_gets_the_rest_of_it() -> None:
    """Apache's slave keeps what it has of a record."""
    master = Master()
    master.follow(5)
    assert bytes(master.received[1]) == master.log.content(5, master.log.end_offset)


def test_packets_are_no_larger_than_the_setting() -> None:
    master = Master(filled_log(300, file_bytes=100_000), transfer_bytes=1_024)
    master.follow(0)
    assert max(master.packets) == 1_024
    assert bytes(master.received[1]) == master.log.content(0, master.log.end_offset)


def test_nothing_is_sent_before_the_first_report() -> None:
    master = Master()
    master.open()
    assert master.push(1) == []
    assert master.ready() == []
    assert master.primary.on_link_bytes(LinkId(1), b"\0\0\0", at(1)) == []


@pytest.mark.parametrize("begins_at_last_file", [False, True])
def test_an_empty_slave_gets_everything_or_the_last_file(begins_at_last_file: bool) -> None:
    log = filled_log(100)
    log.delete_to(1_000)
    master = Master(log, begins_at_last_file=begins_at_last_file)
    master.follow(0)
    start = log.end_offset - log.end_offset % 1_000 if begins_at_last_file else 1_000
    assert bytes(master.received[1]) == log.content(start, log.end_offset)


def test_an_empty_master_has_nothing_to_send_until_it_grows() -> None:
    master = Master(MemoryLog())
    master.follow(0)
    assert master.received[1] == b""
    end = master.log.append(b"first")
    master.push(5)
    assert bytes(master.received[1]) == master.log.content(0, end)


def test_new_bytes_are_pushed_to_every_slave_once() -> None:
    master = Master()
    end = master.log.end_offset
    for link in (1, 2):
        master.follow(end, link, host=f"10.0.0.{link}")
    master.push(0)
    new = master.log.append(b"new")
    assert len(master.push(10)) == 2
    assert master.push(11) == []
    assert bytes(master.received[1]) == bytes(master.received[2]) == master.log.content(end, new)


# Offsets that cannot be served.


@pytest.mark.parametrize(
    ("offset", "words"),
    [(999, "the log begins at 1000"), (10**9, "the log ends")],
)
def test_a_report_that_cannot_be_served_closes_the_link_and_says_what_to_do(
    offset: int, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    log = filled_log(100)
    log.delete_to(1_000)
    master = Master(log)
    with caplog.at_level(logging.WARNING):
        for link in range(1, 4):  # it comes back again and again
            (reason,) = closed(master.follow(offset, link))
            assert words in reason
            assert "store" in reason
            assert master.received[link] == b""
    assert len(caplog.records) == 1
    assert master.primary.statuses(at(0)) == []


def test_a_refusal_is_logged_again_after_the_slave_was_served_in_between(
    caplog: pytest.LogCaptureFixture,
) -> None:
    master = Master()
    with caplog.at_level(logging.WARNING):
        master.follow(10**9, 1)
        master.follow(0, 2)
        master.follow(10**9, 3)
    assert len(caplog.records) == 2


def test_bytes_that_were_deleted_under_a_slow_slave_close_its_link() -> None:
    master = Master(filled_log(40_000), transfer_bytes=1_024)
    master.follow(0)
    sent = len(master.received[1])
    assert sent < master.log.end_offset
    master.log.delete_to(sent - sent % 1_000 + 2_000)
    (reason,) = closed(master.ready(ms=5))
    assert "the log begins at" in reason


@pytest.mark.parametrize(
    ("then", "words"),
    [(-1, "offset -1"), (10**9, "was sent the log up to"), (5, "acknowledges 5 after")],
)
def test_an_acknowledgement_that_cannot_be_true_closes_its_link_only(then: int, words: str) -> None:
    master = Master(role=BrokerRole.SYNC_MASTER, in_sync_replicas=2)
    end = master.log.end_offset
    master.follow(end, 1, host="a")
    master.follow(end, 2, host="b")
    (reason,) = closed(master.report(then, 1))
    assert words in reason
    assert [status.peer.host for status in master.primary.statuses(at(0))] == ["b"]
    assert master.primary.in_sync.count(end) == 2
    # What it still says before the link is gone changes nothing.
    assert master.report(end, 1) == []
    assert master.primary.on_link_closed(LinkId(1), at(1)) == []
    assert master.ready(1) == []


def test_reports_behind_a_bad_one_are_not_read() -> None:
    master = Master()
    end = master.log.end_offset
    master.follow(0)
    stream = encode_report(end + 1) + encode_report(end)
    effects = master.primary.on_link_bytes(LinkId(1), stream, at(1))
    assert len(closed(effects)) == 1


# The window.


def test_no_more_than_the_window_is_written_before_the_link_is_ready() -> None:
    master = Master(filled_log(30_000, file_bytes=1 << 30), transfer_bytes=64 << 10)
    master.log.append(bytes(3 * WINDOW_BYTES))
    effects = master.follow(0)
    first = len(written(effects))
    assert WINDOW_BYTES <= first < WINDOW_BYTES + (64 << 10) + HEADER_BYTES
    master.log.append(b"more")
    assert master.push(100) == []
    assert WINDOW_BYTES <= len(written(master.ready(ms=101))) <= first


def test_a_slow_link_does_not_hold_up_another() -> None:
    master = Master(filled_log(60_000))
    master.follow(0, 1, host="slow")
    master.follow(0, 2, host="fast")
    while master.ready(2):
        pass
    assert bytes(master.received[2]) == master.log.content(0, master.log.end_offset)
    assert len(master.received[1]) < 2 * WINDOW_BYTES


def test_small_packets_fill_the_window_too() -> None:
    log = MemoryLog(file_bytes=1 << 30)
    master = Master(log, role=BrokerRole.SYNC_MASTER, in_sync_replicas=2)
    master.follow(0)
    total = 0
    for ms in range(1, 2_000):
        log.append(bytes(1_000))
        total += len(written(master.push(ms)))
    assert WINDOW_BYTES <= total < WINDOW_BYTES + 2_000
    master.ready(ms=2_000)
    assert bytes(master.received[1]) == log.content(0, log.end_offset)


# Pushing at once, or with more.


def test_a_few_new_bytes_wait_for_more_while_nobody_waits_for_slaves() -> None:
    log = filled_log(3, file_bytes=1 << 20)
    master = Master(log)
    start = log.end_offset
    master.follow(start)
    master.push(100)
    log.append(b"first")
    assert len(master.push(200)) == 1
    log.append(b"second")
    assert master.push(200 + GATHER_MS - 1) == []
    assert master.primary.rest_ms(at(200)) == 0
    log.append(b"third")
    assert len(master.push(200 + GATHER_MS)) == 1
    log.append(bytes(GATHER_BYTES))
    assert len(master.push(200 + GATHER_MS)) == 1
    assert bytes(master.received[1]) == log.content(start, log.end_offset)


def test_new_bytes_go_at_once_while_sends_wait_for_slaves() -> None:
    master = Master(role=BrokerRole.SYNC_MASTER, in_sync_replicas=2)
    master.follow(master.log.end_offset)
    master.push(100)
    for number in range(5):
        master.log.append(b"%d" % number)
        assert len(master.push(100)) == 1


def test_a_push_without_news_looks_at_nothing_but_the_end_of_the_log() -> None:
    class Watched(MemoryLog):
        looks = 0

        @property
        def end_offset(self) -> int:
            self.looks += 1
            return super().end_offset

    log = Watched()
    log.append(b"one")
    master = Master(log)
    log.looks = 0
    assert master.push(1) == []
    assert log.looks == 0
    master.follow(log.end_offset)
    master.push(10)
    log.looks = 0
    assert master.push(11) == []
    assert log.looks == 1


# Time.


def test_an_idle_link_gets_a_heartbeat_with_the_offset_of_the_next_packet() -> None:
    master = Master()
    end = master.log.end_offset
    master.follow(end)
    for ms in (1, BEAT_MS - 1):
        assert master.push(ms) == []
    master.push(BEAT_MS)
    master.push(BEAT_MS + 1)
    assert master.heartbeats[1] == [end]
    master.report(end, ms=BEAT_MS + 2)
    assert master.primary.rest_ms(at(BEAT_MS + 2)) == BEAT_MS - 2
    master.push(2 * BEAT_MS)
    assert master.heartbeats[1] == [end, end]


def test_a_link_that_is_written_to_needs_no_heartbeat() -> None:
    master = Master()
    master.follow(master.log.end_offset)
    for ms in range(1_000, 15_000, 1_000):
        master.log.append(b"news")
        master.push(ms)
    assert master.heartbeats[1] == []


def test_a_link_on_which_nothing_comes_is_closed_and_counts_no_more() -> None:
    master = Master(role=BrokerRole.SYNC_MASTER, in_sync_replicas=2)
    end = master.log.end_offset
    master.follow(end, 1, host="a")
    master.follow(end, 2, host="b")
    master.push(1)
    for ms in range(BEAT_MS, SILENCE_MS, BEAT_MS):
        master.report(end, 2, ms)
        assert closed(master.push(ms)) == []
    assert closed(master.push(SILENCE_MS - 1)) == []
    assert closed(master.push(SILENCE_MS)) == ["it has said nothing for 20000 ms"]
    assert master.primary.in_sync.count(end) == 2


def test_a_link_that_does_not_report_in_time_is_closed() -> None:
    master = Master()
    master.open()
    assert closed(master.push(FIRST_REPORT_MS_MAX - 1)) == []
    assert master.primary.rest_ms(at(FIRST_REPORT_MS_MAX - 1)) in (0, 1)
    assert closed(master.push(FIRST_REPORT_MS_MAX)) == ["it has not said from where to follow"]


def test_without_slaves_there_is_nothing_to_be_called_for() -> None:
    master = Master()
    assert master.primary.rest_ms(at(0)) > 10**9


def test_the_rate_is_limited_for_each_slave_and_second() -> None:
    log = filled_log(5_000)
    master = Master(log, limits_rate=True, rate_bytes=10_000, transfer_bytes=4_096)
    master.follow(0, 1, host="a", ms=5_500)
    master.follow(0, 2, host="b", ms=5_500)
    assert [len(master.received[link]) for link in (1, 2)] == [10_000, 10_000]
    master.push(5_900)
    assert master.primary.rest_ms(at(5_900)) <= 100
    master.push(6_000)
    assert [len(master.received[link]) for link in (1, 2)] == [20_000, 20_000]
    assert master.primary.statuses(at(6_001))[0].bytes_in_second == 10_000
    for second in range(7, 40):
        master.push(second * 1_000)
    assert bytes(master.received[1]) == log.content(0, log.end_offset)


# Figures and ends.


def test_figures_tell_what_each_link_has_and_gets() -> None:
    master = Master()
    end = master.log.end_offset
    master.follow(0, ms=1_000)
    master.report(200, ms=1_100)
    (status,) = master.primary.statuses(at(2_500))
    assert status.peer == peer("10.0.0.2", 40_001)
    assert (status.ack_offset, status.diff_bytes, status.transfer_from) == (200, end - 200, end)
    assert status.is_in_sync
    assert status.bytes_in_second == end
    assert master.primary.statuses(at(9_500))[0].bytes_in_second == 0


def test_a_stop_closes_every_link() -> None:
    master = Master()
    for link in (1, 2):
        master.follow(0, link)
    assert closed(master.primary.stop(at(1))) == ["the master stops"] * 2
    assert master.primary.statuses(at(1)) == []


def test_a_master_dials_nobody() -> None:
    master = Master()
    assert closed(master.primary.on_link_open(LinkId(3), peer(), True, at(0)))
    assert master.primary.on_link_failed("a:1", "no", at(0)) == []
