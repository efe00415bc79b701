import zlib

import pytest

from aerobee.errors import AerobeeError, RemoteProtocolError
from aerobee.model.topic import DataVersion, TopicConfig
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.replication.metadata.metadata_round import (
    Known,
    Look,
    MetadataSnapshot,
    copy_all,
    look_again,
)
from aerobee.service.question import Question
from tests.once_kit import open_producer
from tests.pop_kit import PopKit
from tests.question_kit import answered, run_question

NOTHING = Known(None, None, {})
STATE, TOPICS, GROUPS, OFFSETS, DELAYS, MODES = 28007, 21, 201, 43, 45, 402
CHECK, METRICS, RUNTIME = 60, 61, 28


class Master:
    def __init__(self, kit: PopKit | None = None) -> None:
        self.kit = kit or PopKit()
        self.asked: list[tuple[int, str]] = []
        self.instead: dict[int, RemotingCommand] = {}
        """Answers to some codes."""

    def answer(self, command: RemotingCommand) -> RemotingCommand:
        self.asked.append((command.code, command.ext_fields.get("name", "")))
        if command.code in self.instead:
            return self.instead[command.code]
        return self.kit.ask(command.code, command.ext_fields, bytes(command.body))

    def run(self, question: Question[Look]) -> Look:
        self.asked = []
        return run_question(question, self.answer)

    def copy(self, known: Known = NOTHING) -> MetadataSnapshot:
        snapshot = self.run(copy_all(known, asks_state=True)).snapshot
        assert snapshot is not None
        return snapshot


def known_of(snapshot: MetadataSnapshot) -> Known:
    assert snapshot.topics is not None
    assert snapshot.groups is not None
    return Known(snapshot.topics.table.version, snapshot.groups.table.version, {})


def test_a_round_asks_for_everything_and_for_the_end_of_the_log_last() -> None:
    master = Master()
    master.copy()
    assert master.asked == [
        (STATE, ""),
        (STATE, "deleted_topics"),
        (TOPICS, ""),
        (GROUPS, ""),
        (OFFSETS, ""),
        (DELAYS, ""),
        (MODES, ""),
        (CHECK, ""),
        (METRICS, ""),
        (STATE, "producerSequences.json"),
        (STATE, "producerEpochs.json"),
        (STATE, "stagedRounds.json"),
        (STATE, "consumerOrderInfo.json"),
        (RUNTIME, ""),
    ]


def test_the_snapshot_has_what_the_master_has() -> None:
    kit = PopKit()
    open_producer(kit)
    kit.make_topic(TopicConfig("Gone"))
    kit.fill(3, topic="Gone")
    kit.fill(3)
    kit.pop()
    assert kit.ask(215, {"topic": "Gone"}).code == 0
    kit.run(1_000)
    snapshot = Master(kit).copy()
    assert snapshot.topics is not None
    assert snapshot.topics.table.rows["Orders"].config == TopicConfig("Orders", 1, 1)
    assert snapshot.offsets.committed["Orders", "g"] == {0: 3}
    assert snapshot.offsets.popped_to > 0
    assert snapshot.delays.offsets == {}
    assert snapshot.modes == []
    assert snapshot.timer is not None
    assert snapshot.timer.queue_offset == 1
    assert b'"P"' in snapshot.files["producerEpochs.json"]
    assert snapshot.files["stagedRounds.json"] == b""
    assert snapshot.deleted.keys() == {b"Gone"}
    assert 0 < snapshot.deleted[b"Gone"] <= snapshot.log_end == kit.store.end_offset


def test_tables_and_files_that_are_known_are_not_copied_again() -> None:
    kit = PopKit()
    open_producer(kit)
    master = Master(kit)
    first = master.copy()
    crcs = {name: zlib.crc32(content) for name, content in first.files.items()}
    again = master.copy(known_of(first)._replace(crcs=crcs))
    assert (again.topics, again.groups, again.files) == (None, None, {})
    assert not {TOPICS, GROUPS} & {code for code, _ in master.asked}


def test_a_look_costs_one_request_while_nothing_moves() -> None:
    master = Master()
    look = master.run(copy_all(NOTHING, asks_state=True))
    assert look.versions is not None
    assert look.snapshot is not None
    known = known_of(look.snapshot)
    again = master.run(look_again(look.versions, known))
    assert (again, master.asked) == (Look(look.versions, None), [(STATE, "")])
    master.kit.make_topic(TopicConfig("New"))
    moved = master.run(look_again(look.versions, known))
    assert moved.snapshot is not None
    assert moved.snapshot.topics is not None
    assert "New" in moved.snapshot.topics.table.rows


def test_an_apache_master_is_copied_without_our_request() -> None:
    master = Master()
    master.instead[STATE] = answered(3, remark="not supported")
    look = master.run(copy_all(NOTHING, asks_state=True))
    assert look.versions is None
    assert look.snapshot is not None
    assert (look.snapshot.files, look.snapshot.deleted) == ({}, {})
    assert master.asked.count((STATE, "")) == 1
    again = master.run(copy_all(known_of(look.snapshot), asks_state=False))
    assert again.snapshot is not None
    assert (again.snapshot.topics, again.snapshot.groups) == (None, None)
    assert STATE not in {code for code, _ in master.asked}


@pytest.mark.parametrize("code", [STATE, TOPICS, GROUPS, OFFSETS, DELAYS, RUNTIME])
def test_a_refusal_ends_the_round(code: int) -> None:
    master = Master()
    master.instead[code] = answered(1, remark="not today")
    with pytest.raises(RemoteProtocolError, match="not today"):
        master.copy()


@pytest.mark.parametrize("code", [MODES, CHECK, METRICS])
def test_a_part_that_a_master_need_not_have_is_left_out(code: int) -> None:
    master = Master()
    master.instead[code] = answered(1, remark="The checkpoint is null")
    snapshot = master.copy()
    assert (snapshot.modes is None) == (code == MODES)
    assert (snapshot.timer is None) == (code == CHECK)
    assert (snapshot.timer_metrics is None) == (code == METRICS)


@pytest.mark.parametrize("code", [STATE, TOPICS, GROUPS, OFFSETS, DELAYS, MODES, CHECK, METRICS])
@pytest.mark.parametrize("body", [b"\xff\xfe", b"7"])
def test_an_answer_that_is_not_valid_ends_the_round(code: int, body: bytes) -> None:
    master = Master()
    master.instead[code] = answered(body=body)
    with pytest.raises(AerobeeError):
        master.copy()


@pytest.mark.parametrize("table", [b'{"table":{}}', b'{"table":{"commitLogMaxOffset":"x"}}'])
def test_a_master_that_does_not_say_where_its_log_ends_is_not_copied(table: bytes) -> None:
    master = Master()
    master.instead[RUNTIME] = answered(body=table)
    with pytest.raises(RemoteProtocolError, match="commitLogMaxOffset"):
        master.copy()


def test_versions_of_tables_need_not_be_known_for_a_look() -> None:
    master = Master()
    versions = master.run(copy_all(NOTHING, asks_state=True)).versions
    assert versions is not None
    later = versions._replace(topics=DataVersion(0, 0, 0))
    assert master.run(look_again(later, NOTHING)).snapshot is not None
