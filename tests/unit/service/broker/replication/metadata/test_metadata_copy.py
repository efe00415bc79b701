import logging
from collections.abc import Sequence

import pytest

from aerobee.model.topic import TopicConfig
from aerobee.ports.service import Dial, Effects
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.replication.metadata.metadata_copy import (
    COPY_MS,
    COPY_MS_MAX,
    HELD_MS_MAX,
    LOOK_MS,
    MetadataCopy,
)
from aerobee.service.broker.replication.metadata.metadata_round import Known, MetadataSnapshot
from aerobee.sim.clock import SimClock
from tests.pop_kit import PopKit
from tests.question_kit import answered

MASTER, OTHER, OWN = "10.0.0.1:10911", "10.0.0.3:10911", "10.0.0.2:10911"
STATE, TOPICS, OFFSETS, RUNTIME = 28007, 21, 43, 28


class Log:
    """A slave's log that has everything, until a test says otherwise."""

    flushed_offset = 1 << 60
    dispatched_offset = 1 << 60


class Applied:
    """What was applied, and from which address."""

    def __init__(self) -> None:
        self.snapshots: list[MetadataSnapshot] = []
        self.addresses: list[str] = []
        self.is_busy = False
        self.forgotten = 0

    def known(self) -> Known:
        if not self.snapshots:
            return Known(None, None, {})
        topics = [one.topics.table.version for one in self.snapshots if one.topics is not None]
        groups = [one.groups.table.version for one in self.snapshots if one.groups is not None]
        return Known(topics[-1], groups[-1], {})

    def apply(self, snapshot: MetadataSnapshot, address: str) -> None:
        assert not self.is_busy
        self.snapshots.append(snapshot)
        self.addresses.append(address)

    def forget_master(self) -> None:
        self.forgotten += 1


class Rig:
    def __init__(self, refused: Sequence[int] = ()) -> None:
        self.master = PopKit()
        self.clock = SimClock()
        self.log = Log()
        self.applied = Applied()
        self.address = MASTER
        self.outbox: Effects = []
        self.refused = refused
        self.instead: dict[int, RemotingCommand | None] = {}
        self.asked: list[tuple[int, str]] = []
        self.copy = MetadataCopy(self.log, self.applied, lambda: self.address, OWN, self.outbox)

    def tick(self, ms: int = 0) -> list[Dial]:
        self.copy.on_tick(self.clock.advance(ms))
        return self.dials()

    def dials(self) -> list[Dial]:
        found = [effect for effect in self.outbox if isinstance(effect, Dial)]
        self.outbox.clear()
        return found

    def run(self, ms: int = 0, step_ms: int = 100) -> list[int]:
        """Time passes, and the master answers; the codes that it was asked."""
        begun = len(self.asked)
        for _ in range(max(1, ms // step_ms)):
            self.answer(self.tick(min(ms, step_ms)))
        return [code for code, _ in self.asked[begun:]]

    def answer(self, dials: list[Dial]) -> None:
        while dials:
            (dial,) = dials
            self.asked.append((dial.command.code, dial.address))
            self.copy.on_answer(dial.ticket, self._answer(dial.command), self.clock.now())
            dials = self.dials()

    def _answer(self, command: RemotingCommand) -> RemotingCommand | None:
        if command.code in self.instead:
            return self.instead[command.code]
        if command.code in self.refused:
            return answered(3)
        return self.master.ask(command.code, command.ext_fields, bytes(command.body))


def test_the_first_copy_is_made_at_once_and_then_every_three_seconds() -> None:
    rig = Rig()
    assert rig.copy.copied_ms is None
    assert rig.run()[-1] == RUNTIME
    assert rig.copy.copied_ms == rig.clock.now().monotonic_ms
    assert len(rig.applied.snapshots) == 1
    assert RUNTIME not in rig.run(COPY_MS - 100)
    assert RUNTIME in rig.run(200)
    rig.run(10 * COPY_MS)
    assert 11 <= len(rig.applied.snapshots) <= 12


def test_one_request_is_under_way_at_a_time() -> None:
    rig = Rig()
    (dial,) = rig.tick()
    for _ in range(20):
        assert rig.tick(1_000) == []
    rig.answer([dial])
    assert len(rig.applied.snapshots) == 1


def test_a_change_of_topics_is_copied_at_the_next_look() -> None:
    rig = Rig()
    rig.run()
    assert rig.run(LOOK_MS, LOOK_MS) == [STATE]
    rig.master.make_topic(TopicConfig("New"))
    assert TOPICS in rig.run(LOOK_MS, LOOK_MS)
    copied = rig.applied.snapshots[-1].topics
    assert copied is not None
    assert "New" in copied.table.rows


def test_a_copy_that_failed_is_made_at_once_when_this_slave_begins_to_follow() -> None:
    rig = Rig()
    rig.instead[STATE] = None
    rig.run()
    del rig.instead[STATE]
    assert rig.run(COPY_MS - 100) == []
    rig.copy.copy_soon()
    assert rig.run()[-1] == RUNTIME
    assert len(rig.applied.snapshots) == 1


def test_an_apache_master_is_asked_every_three_seconds_and_once_for_our_request() -> None:
    rig = Rig(refused=[STATE])
    rig.run()
    assert rig.run(COPY_MS - 100) == []
    codes = rig.run(4 * COPY_MS)
    assert codes.count(RUNTIME) == 4
    assert STATE not in codes


def test_large_tables_are_copied_less_often() -> None:
    rig = Rig()
    rig.instead[OFFSETS] = answered(body=b'{"offsetTable":{}}' + b" " * 1_000_000)
    rig.run()
    assert set(rig.run(9_900)) == {STATE}
    rig.instead[OFFSETS] = answered(body=b'{"offsetTable":{}}' + b" " * 15_000_000)
    assert RUNTIME in rig.run(700)
    assert set(rig.run(COPY_MS_MAX - 700)) == {STATE}
    assert RUNTIME in rig.run(1_000)
    rig.master.make_topic(TopicConfig("New"))
    assert TOPICS in rig.run(COPY_MS + 200), "a change is not waited for so long"


@pytest.mark.parametrize("name", ["flushed_offset", "dispatched_offset"])
def test_a_snapshot_is_held_until_the_log_is_there(name: str) -> None:
    rig = Rig()
    end = rig.master.store.end_offset
    setattr(rig.log, name, end - 1)
    rig.run()
    assert rig.run(10_000) == [], "nothing newer is asked for"
    assert rig.applied.snapshots == []
    setattr(rig.log, name, end)
    assert RUNTIME in rig.run()
    assert len(rig.applied.snapshots) == 2


def test_a_slave_that_is_always_behind_applies_every_snapshot_when_its_log_is_there() -> None:
    rig = Rig()
    behind_ms, ends = 5 * HELD_MS_MAX, []
    rig.log.flushed_offset = rig.log.dispatched_offset = 0
    for second in range(12 * HELD_MS_MAX // 1000):
        rig.master.fill(1)
        ends.append(rig.master.store.end_offset)
        if second * 1000 >= behind_ms:
            reached = ends[second - behind_ms // 1000]
            rig.log.flushed_offset = rig.log.dispatched_offset = reached
        rig.run(1_000, 1_000)
    assert len(rig.applied.snapshots) == 2
    assert rig.applied.snapshots[0].log_end == ends[0]


def test_a_held_snapshot_is_dropped_if_the_master_was_started_again() -> None:
    rig = Rig()
    rig.master.fill(3)
    rig.log.flushed_offset = 1
    rig.run()
    rig.master.clock.advance(1_000)
    rig.master = PopKit(clock=rig.master.clock)  # and has lost everything
    rig.log.flushed_offset = rig.master.store.end_offset
    rig.run(HELD_MS_MAX - 500)
    assert rig.applied.snapshots == []
    rig.run(1_000)
    assert [one.log_end for one in rig.applied.snapshots] == [rig.master.store.end_offset]


def test_another_master_is_asked_from_the_beginning() -> None:
    rig = Rig()
    rig.run()
    forgotten = rig.applied.forgotten
    rig.log.flushed_offset = 0
    rig.master.fill(1)
    rig.run(COPY_MS)
    rig.address = ""
    rig.run(COPY_MS)
    assert rig.applied.forgotten == forgotten
    rig.address = OTHER
    rig.log.flushed_offset = 1 << 60
    rig.run()
    assert rig.applied.forgotten == forgotten + 1
    assert rig.applied.addresses == [MASTER, OTHER]


def test_answers_of_a_master_that_is_none_any_more_are_ignored() -> None:
    rig = Rig()
    (dial,) = rig.tick()
    rig.address = OTHER
    (again,) = rig.tick()
    assert again.address == OTHER
    rig.copy.on_answer(dial.ticket, answered(3), rig.clock.now())
    assert rig.dials() == []
    rig.answer([again])
    assert rig.applied.addresses == [OTHER]


@pytest.mark.parametrize("address", ["", OWN])
def test_nobody_is_asked_while_no_master_is_known(address: str) -> None:
    rig = Rig()
    rig.address = address
    assert rig.run(5_000) == []
    rig.address = MASTER
    assert rig.run(LOOK_MS) != []


def test_no_round_begins_while_a_snapshot_is_being_saved() -> None:
    rig = Rig()
    rig.run()
    rig.applied.is_busy = True
    assert rig.run(10_000) == []
    rig.applied.is_busy = False
    assert rig.run(200) != []


@pytest.mark.parametrize("answer", [None, answered(1, remark="no"), answered(body=b"{")])
def test_a_round_that_fails_is_logged_once_dropped_and_tried_again(
    answer: RemotingCommand | None, caplog: pytest.LogCaptureFixture
) -> None:
    rig = Rig()
    rig.instead[OFFSETS] = answer
    with caplog.at_level(logging.INFO):
        codes = rig.run(3 * COPY_MS)
        assert codes.count(OFFSETS) == 3
        assert rig.applied.snapshots == []
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        del rig.instead[OFFSETS]
        rig.run(COPY_MS)
        assert len(rig.applied.snapshots) == 1
        assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]


def test_an_answer_that_comes_too_late_is_ignored() -> None:
    rig = Rig()
    (dial,) = rig.tick()
    rig.copy.on_answer(dial.ticket, None, rig.clock.now())
    assert rig.dials() == []
    (again,) = rig.tick(COPY_MS)
    rig.copy.on_answer(dial.ticket, answered(), rig.clock.now())
    rig.copy.on_answer("a ticket", answered(), rig.clock.now())
    assert rig.dials() == []
    rig.answer([again])
    assert len(rig.applied.snapshots) == 1


def test_it_rests_until_the_next_look() -> None:
    rig = Rig()
    assert rig.copy.rest_ms(rig.clock.now()) == 0
    rig.tick()
    assert rig.copy.rest_ms(rig.clock.now()) == LOOK_MS
    rig = Rig()
    rig.run()
    assert rig.copy.rest_ms(rig.clock.advance(100)) == LOOK_MS - 100
