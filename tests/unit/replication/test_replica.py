import itertools
import logging

import pytest

from aerobee.errors import StoreBusy
from aerobee.ports.service import Effects, LinkId, ReadLink
from aerobee.replication.replica import (
    BUSY_MS_MAX,
    BUSY_TRY_MS,
    PAUSE_MS_MIN,
    CutAt,
    Follow,
    Refuse,
    ReplicaState,
)
from aerobee.replication.transfer import encode_header, encode_report
from tests.replication_kit import (
    MASTER,
    BadRecord,
    MemoryLog,
    Slave,
    at,
    chunked,
    closed,
    dialed,
    filled_log,
    packets,
    peer,
    record,
    written,
)

BEAT_MS = 5_000
SILENCE_MS = 20_000


def copied(log: MemoryLog, **given: int) -> MemoryLog:
    """Another log with the same bytes."""
    copy = MemoryLog(min_offset=log.min_offset, file_bytes=log.file_bytes, **given)
    copy.append_raw(log.min_offset, memoryview(log.content(log.min_offset, log.end_offset)))
    copy.flush()
    return copy


def state(slave: Slave, ms: int = 0) -> ReplicaState:
    return slave.replica.status(at(ms)).state


# From nothing to following.


def test_a_slave_dials_compares_reports_its_end_and_appends_what_comes() -> None:
    master = filled_log(40)
    slave = Slave(copied(master))
    end = master.end_offset
    assert written(slave.connect()) == encode_report(end)
    assert state(slave) is ReplicaState.FOLLOWING
    new = master.append(b"a new message")
    effects = slave.receive(10, packets(master, end, new))
    assert slave.log.content(0, new) == master.content(0, new)
    assert written(effects) == encode_report(new)


def test_an_empty_slave_asks_for_everything_and_begins_where_the_master_does() -> None:
    master = filled_log(100)
    master.delete_to(2_000)
    slave = Slave()
    assert written(slave.connect()) == encode_report(0)
    slave.receive(1, encode_header(2_000, 0))  # a heartbeat says nothing about the begin
    slave.receive(2, *chunked(packets(master, 2_000, master.end_offset), 77))
    assert slave.log.min_offset == 2_000
    assert slave.log.content(2_000, master.end_offset) == master.content(2_000, master.end_offset)


def test_an_empty_slave_may_be_told_where_to_begin() -> None:
    slave = Slave()
    slave.check.verdict = Follow(3_000)
    assert written(slave.connect()) == encode_report(3_000)
    effects = slave.receive(1, encode_header(4_000, 0))
    assert len(closed(effects)) == 1


def test_without_a_master_nothing_is_dialed_until_one_is_named() -> None:
    slave = Slave(master="")
    assert slave.replica.step(at(0)) == []
    assert state(slave) is ReplicaState.NO_MASTER
    assert slave.replica.rest_ms(at(0)) > 10**9
    assert dialed(slave.replica.set_master(MASTER, at(5))) == [MASTER]
    assert slave.replica.set_master(MASTER, at(6)) == []


@pytest.mark.parametrize("chunk", [1, 5, 13, 64, 1_000, 1 << 20])
def test_the_log_is_a_prefix_of_the_masters_after_every_chunk(chunk: int) -> None:
    master = filled_log(60)
    slave = Slave()
    slave.connect()
    for piece in chunked(packets(master, 0, master.end_offset), chunk):
        slave.receive(1, piece)
        end = slave.log.end_offset
        assert slave.log.content(0, end) == master.content(0, end)
    assert slave.log.end_offset == master.end_offset


# Reports.


def test_a_read_that_appends_nothing_whole_is_not_reported() -> None:
    master = filled_log(1)
    slave = Slave()
    slave.connect()
    assert slave.receive(1, packets(master, 0, master.end_offset - 1)) == []


def test_with_a_synchronous_flush_only_what_is_on_the_disk_is_reported() -> None:
    master = filled_log(40)
    slave = Slave(acks_flushed=True)
    slave.connect()
    assert slave.receive(1, packets(master, 0, 500, 500)) == []
    assert slave.replica.step(at(2)) == []
    slave.log.flush()
    flushed = slave.log.flushed_offset
    assert written(slave.replica.step(at(3))) == encode_report(flushed)
    slave.receive(4, packets(master, 500, master.end_offset, 500))
    assert slave.replica.step(at(5)) == []
    slave.log.flush()
    effects = slave.receive(6, encode_header(master.end_offset, 0))
    assert written(effects) == encode_report(master.end_offset)


def test_with_a_synchronous_flush_the_first_report_waits_for_the_disk() -> None:
    slave = Slave(filled_log(10), acks_flushed=True)
    slave.log.append(b"not flushed")
    assert slave.connect() == []
    assert state(slave) is ReplicaState.FLUSHING
    assert slave.replica.step(at(1)) == []
    slave.log.flush()
    assert written(slave.replica.step(at(2))) == encode_report(slave.log.end_offset)
    assert state(slave) is ReplicaState.FOLLOWING


def test_an_idle_slave_repeats_its_report_as_a_heartbeat() -> None:
    slave = Slave(filled_log(5))
    first = written(slave.connect())
    assert slave.replica.rest_ms(at(0)) == BEAT_MS
    assert slave.replica.step(at(BEAT_MS - 1)) == []
    assert written(slave.replica.step(at(BEAT_MS))) == first
    assert slave.replica.step(at(BEAT_MS + 1)) == []


# The comparison of logs.


def test_nothing_is_reported_before_the_logs_were_compared() -> None:
    slave = Slave(filled_log(5), is_instant=False)
    assert slave.connect() == []
    assert slave.replica.step(at(10)) == []
    assert state(slave) is ReplicaState.CHECKING
    assert written(slave.check.answer(at(11))) == encode_report(slave.log.end_offset)


def test_a_verdict_about_a_connection_that_is_gone_is_not_taken() -> None:
    slave = Slave(filled_log(5), is_instant=False)
    slave.connect()
    slave.replica.on_link_closed(slave.link, at(1))
    assert slave.check.answer(at(2)) == []
    slave.connect(ms=1_000)
    old, new = slave.check.tickets
    assert slave.replica.checked(old, Follow(slave.log.end_offset), at(1_001)) == []
    assert slave.replica.checked(new, Follow(slave.log.end_offset), at(1_002))


def test_a_comparison_that_takes_too_long_is_given_up() -> None:
    slave = Slave(filled_log(5), is_instant=False)
    slave.connect()
    assert slave.replica.rest_ms(at(0)) == SILENCE_MS
    assert closed(slave.replica.step(at(SILENCE_MS))) == ["comparing logs took too long"]
    assert state(slave) is ReplicaState.WAITING


def test_a_log_that_has_parted_is_followed_no_more_until_it_is_cut() -> None:
    slave = Slave(filled_log(5), is_instant=False)
    slave.connect()
    effects = slave.check.answer(at(1), CutAt(40, "record at 40 differs"))
    assert len(closed(effects)) == 1
    assert slave.replica.cut_at == CutAt(40, "record at 40 differs")
    slave.replica.on_link_closed(slave.link, at(2))
    assert slave.replica.step(at(100_000)) == []
    assert slave.replica.set_master("10.9.9.9:1", at(100_001)) == []
    status = slave.replica.status(at(100_002))
    assert status.state is ReplicaState.CUT_NEEDED
    assert "cut at offset 40: record at 40 differs" in status.why_not


def test_a_master_that_must_not_be_followed_is_asked_again_after_a_pause_only() -> None:
    slave = Slave(filled_log(5))
    slave.check.verdict = Refuse("no common record", "empty this store")
    assert len(closed(slave.connect())) == 1
    status = slave.replica.status(at(1))
    assert (status.why_not, status.hint) == ("no common record", "empty this store")
    assert slave.replica.step(at(PAUSE_MS_MIN - 1)) == []
    assert dialed(slave.replica.step(at(PAUSE_MS_MIN))) == [MASTER]


def test_a_verdict_that_does_not_fit_the_log_is_not_followed() -> None:
    slave = Slave(filled_log(5))
    slave.check.verdict = Follow(40)
    assert "compared up to 40" in closed(slave.connect())[0]


# Links that are lost, and pauses.


def test_pauses_double_up_to_five_seconds_while_nobody_answers() -> None:
    slave = Slave()
    now_ms, tries = 0, []
    while now_ms < 20_000:
        if dialed(slave.replica.step(at(now_ms))):
            tries.append(now_ms)
            slave.replica.on_link_failed(MASTER, "refused", at(now_ms))
        now_ms += slave.replica.rest_ms(at(now_ms))
    pauses = [later - earlier for earlier, later in itertools.pairwise(tries)]
    assert pauses == [200, 400, 800, 1_600, 3_200, 5_000, 5_000]
    status = slave.replica.status(at(now_ms))
    assert status.why_not == f"no connection to {MASTER}: refused"
    assert "haListenPort" in status.hint


def test_after_progress_the_pause_is_short_again() -> None:
    master = filled_log(40)
    slave = Slave()
    for _ in range(5):
        slave.replica.step(at(10_000))
        slave.replica.on_link_failed(MASTER, "refused", at(10_000))
        slave.replica._retry_ms = 0
    slave.connect(ms=10_000)
    slave.receive(10_001, packets(master, 0, 500))
    slave.replica.on_link_closed(slave.link, at(10_002))
    assert slave.replica.rest_ms(at(10_002)) == PAUSE_MS_MIN


def test_a_record_that_is_refused_again_and_again_is_no_hot_loop() -> None:
    slave = Slave()
    bad = bytearray(record(b"an unsound record"))
    bad[9] ^= 1
    stream = encode_header(0, len(bad)) + bytes(bad)
    now_ms, tries = 0, 0
    while now_ms < 20_000:
        effects = slave.connect(ms=now_ms)
        assert effects
        assert "unsound" in closed(slave.receive(now_ms, stream))[0]
        slave.replica.on_link_closed(slave.link, at(now_ms))
        tries += 1
        now_ms += slave.replica.rest_ms(at(now_ms))
    assert tries < 10
    status = slave.replica.status(at(now_ms))
    assert (status.why_not, status.hint) == ("an unsound record at 0", "compare the logs")


def readings(effects: Effects) -> list[bool]:
    """Whether links are to be read from now on."""
    return [effect.is_on for effect in effects if isinstance(effect, ReadLink)]


@pytest.mark.parametrize("chunk", [1, 30, 333, 100_000])
def test_a_busy_store_holds_up_the_reading_and_not_the_link(chunk: int) -> None:
    master = filled_log(40)
    slave = Slave(copied(master))
    slave.connect()
    start, new = master.end_offset, 0
    for _ in range(30):
        new = master.append(bytes(40))
    slave.log.refusal = StoreBusy("a topic is being deleted")
    chunks = chunked(packets(master, start, new), chunk)
    effects = slave.receive(10, *chunks)  # what was on its way comes all the same
    assert readings(effects) == [False]
    assert closed(effects) == []
    assert written(effects) == b""
    assert slave.log.end_offset == start
    assert slave.replica.rest_ms(at(10)) == BUSY_TRY_MS
    assert written(slave.replica.step(at(20))) == b""
    slave.log.refusal = None
    effects = slave.replica.step(at(30))
    assert readings(effects) == [True]
    assert written(effects) == encode_report(new)
    assert slave.log.content(0, new) == master.content(0, new)
    assert state(slave) is ReplicaState.FOLLOWING


def test_a_record_of_which_the_store_was_too_busy_for_the_first_half_comes_whole() -> None:
    master = filled_log(3)
    slave = Slave(copied(master))
    slave.connect()
    start = master.end_offset
    new = master.append(bytes(50))
    stream = packets(master, start, new)
    slave.receive(10, stream[:40])
    slave.log.refusal = StoreBusy("the disk is behind")
    slave.receive(20, stream[40:])
    assert slave.log.end_offset == start
    slave.log.refusal = None
    assert written(slave.replica.step(at(30))) == encode_report(new)


def test_a_store_that_stays_busy_ends_the_link_before_sends_of_the_master_time_out() -> None:
    master = filled_log(3)
    slave = Slave(copied(master))
    slave.connect()
    start = master.end_offset
    slave.log.refusal = StoreBusy("the disk is behind", hint="wait")
    slave.receive(0, packets(master, start, master.append(b"new")))
    assert closed(slave.replica.step(at(BUSY_MS_MAX - 1))) == []
    assert closed(slave.replica.step(at(BUSY_MS_MAX))) == ["the disk is behind"]
    slave.log.refusal = None
    again = slave.connect(BUSY_MS_MAX + PAUSE_MS_MIN)
    assert written(again, 2) == encode_report(start)
    assert readings(slave.receive(2_000, packets(master, start, master.end_offset))) == []
    assert slave.log.end_offset == master.end_offset


@pytest.mark.parametrize("refusal", [BadRecord("the disk is full", hint="x"), OSError(28, "full")])
def test_a_log_that_takes_nothing_ends_the_link_with_its_reason(
    refusal: BadRecord | OSError,
) -> None:
    master = filled_log(5)
    slave = Slave()
    slave.connect()
    slave.log.refusal = refusal
    effects = slave.receive(1, packets(master, 0, master.end_offset))
    assert "full" in closed(effects)[0]
    assert slave.replica.status(at(1)).hint


@pytest.mark.parametrize(
    "stream",
    [encode_header(5, 3) + b"abc", encode_header(1, 0), encode_header(-1, 0), encode_header(0, -1)],
)
def test_a_packet_that_is_not_the_next_ends_the_link_and_appends_nothing(stream: bytes) -> None:
    slave = Slave(filled_log(5))
    end = slave.log.end_offset
    slave.connect()
    assert len(closed(slave.receive(1, stream))) == 1
    assert slave.log.end_offset == end
    assert state(slave) is ReplicaState.WAITING
    # What still comes over that link is not looked at.
    assert slave.receive(2, encode_header(end, 0)) == []


def test_bytes_before_the_report_end_the_link() -> None:
    slave = Slave(filled_log(5), is_instant=False)
    slave.connect()
    assert "before it was asked" in closed(slave.receive(1, encode_header(0, 0)))[0]


def test_a_master_that_falls_silent_is_given_up() -> None:
    slave = Slave(filled_log(5))
    slave.connect()
    effects: Effects = []
    for ms in range(0, SILENCE_MS, BEAT_MS):
        effects += slave.replica.step(at(ms))
    assert closed(effects) == []
    assert closed(slave.replica.step(at(SILENCE_MS))) == ["nothing came for 20000 ms"]


def test_heartbeats_keep_a_link() -> None:
    slave = Slave(filled_log(5))
    slave.connect()
    for ms in range(BEAT_MS, 10 * SILENCE_MS, BEAT_MS):
        slave.receive(ms, encode_header(slave.log.end_offset, 0))
        assert closed(slave.replica.step(at(ms))) == []


def test_a_master_that_has_more_and_sends_only_heartbeats_is_given_up_with_a_hint() -> None:
    slave = Slave(filled_log(5))
    end = slave.log.end_offset
    slave.connect()
    for ms in range(BEAT_MS, 3 * SILENCE_MS, BEAT_MS):
        slave.receive(ms, encode_header(end, 0))
        assert closed(slave.replica.step(at(ms))) == []
    slave.replica.note_master_end(end + 5_000, at(ms))
    begun_ms = ms
    while not (reasons := closed(slave.replica.step(at(ms)))):
        ms += BEAT_MS
        slave.receive(ms, encode_header(end, 0))
    assert ms - begun_ms >= SILENCE_MS
    assert "sends none of it" in reasons[0]
    assert "empty this store" in slave.replica.status(at(ms)).hint


def test_a_large_record_over_a_slow_link_is_not_given_up() -> None:
    master = MemoryLog()
    master.append(bytes(900))
    slave = Slave()
    slave.connect()
    stream = packets(master, 0, master.end_offset, 1_000)
    for number, chunk in enumerate(chunked(stream, 20)):
        slave.receive(number * BEAT_MS, chunk)
        assert closed(slave.replica.step(at(number * BEAT_MS))) == []
    assert slave.log.end_offset == master.end_offset


def test_the_same_loss_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    slave = Slave()
    with caplog.at_level(logging.WARNING):
        for ms in range(0, 50_000, 10_000):
            slave.replica.step(at(ms))
            slave.replica.on_link_failed(MASTER, "refused", at(ms))
    assert len(caplog.records) == 1


# Another master.


def test_another_master_ends_the_link_and_is_dialed() -> None:
    slave = Slave(filled_log(5))
    slave.connect()
    effects = slave.replica.set_master("10.0.0.8:10912", at(10))
    assert len(closed(effects)) == 1
    assert dialed(effects) == ["10.0.0.8:10912"]
    assert slave.replica.on_link_closed(slave.link, at(11)) == []
    assert state(slave) is ReplicaState.CONNECTING


def test_one_connection_at_a_time_is_dialed_whatever_the_master() -> None:
    slave = Slave(filled_log(5))
    assert dialed(slave.replica.step(at(0))) == [MASTER]
    assert dialed(slave.replica.set_master("10.0.0.8:1", at(1))) == []
    effects = slave.replica.on_link_open(LinkId(1), peer(), True, at(2))
    assert len(closed(effects)) == 1
    assert dialed(effects) == ["10.0.0.8:1"]
    assert dialed(slave.replica.set_master("10.0.0.9:1", at(3))) == []
    assert dialed(slave.replica.on_link_failed("10.0.0.8:1", "no", at(4))) == ["10.0.0.9:1"]


def test_a_stopped_slave_closes_its_link_and_dials_nobody() -> None:
    slave = Slave(filled_log(5))
    slave.connect()
    assert len(closed(slave.replica.stop(at(1)))) == 1
    assert slave.replica.step(at(100_000)) == []


def test_a_slave_serves_nobody() -> None:
    slave = Slave()
    effects = slave.replica.on_link_open(LinkId(7), peer(), False, at(0))
    assert "follow its master" in closed(effects)[0]
    assert slave.replica.on_link_ready(LinkId(7), at(0)) == []
    assert dialed(slave.replica.step(at(1))) == [MASTER]


# Figures.


def test_figures_tell_how_far_it_is_and_since_when() -> None:
    master = filled_log(40)
    slave = Slave()
    slave.connect(ms=1_000)
    stream = packets(master, 0, 500)
    slave.receive(1_500, stream)
    slave.replica.note_master_end(master.end_offset, at(1_600))
    status = slave.replica.status(at(2_000))
    end = slave.log.end_offset
    assert (status.master, status.state, status.in_state_ms) == (
        MASTER,
        ReplicaState.FOLLOWING,
        1_000,
    )
    assert (status.offset, status.acknowledged) == (end, end)
    assert (status.master_offset, status.lag_bytes) == (master.end_offset, master.end_offset - end)
    assert status.lag_ms == (500 if end < 500 else 400)
    assert status.bytes_in_second == len(stream)
    assert status.read_wall_ms == at(1_500).wall_ms
    assert status.write_wall_ms == at(1_500).wall_ms
    assert (status.why_not, status.hint) == ("", "")
