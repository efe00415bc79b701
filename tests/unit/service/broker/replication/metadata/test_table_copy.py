from collections.abc import Callable

import pytest

from aerobee.errors import ProtocolError, RemoteProtocolError
from aerobee.model.group import GroupConfig
from aerobee.model.queue_mapping import MappingItem, TopicMapping
from aerobee.model.topic import DataVersion, TopicConfig
from aerobee.protocol.bodies.topic_table import encode_topic_table
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.replication.metadata.table_copy import (
    PAGES_MAX,
    copy_groups,
    copy_topics,
)
from tests.question_kit import answered, run_question
from tests.tables_kit import AdminKit

SOME = 4_500  # three pages


class Master:
    """A broker that answers, as it is or as older ones are."""

    def __init__(self) -> None:
        self.kit = AdminKit()
        self.asked: list[dict[str, str]] = []
        self.is_old = False
        self.meanwhile: Callable[[], None] = lambda: None

    def answer(self, command: RemotingCommand) -> RemotingCommand:
        self.asked.append(dict(command.ext_fields))
        if len(self.asked) == 2:
            self.meanwhile()
        if not self.is_old:
            return self.kit.ask(command.code, command.ext_fields)
        return answered(body=bytes(self.kit.ask(command.code).body))

    def change(self, made: str, removed: str) -> None:
        self.make(made)
        self.kit.topics.remove([removed], self.kit.clock.now(), self.kit.told.append)
        self.kit.finish()

    def make(self, *names: str) -> None:
        configs = [TopicConfig(name, 2, 3) for name in names]
        self.kit.topics.put(configs, self.kit.clock.now(), self.kit.told.append)
        self.kit.finish()


@pytest.mark.parametrize("is_old", [False, True])
def test_all_topics_come_whatever_their_number(is_old: bool) -> None:
    master = Master()
    master.is_old = is_old
    master.make(*(f"T{number}" for number in range(SOME)))
    copied = run_question(copy_topics(None), master.answer)
    assert copied is not None
    assert copied.table.version == master.kit.topics.version
    found = {name: row.config for name, row in copied.table.rows.items()}
    assert found == {config.name: config for config in master.kit.topics.all()}
    assert len(master.asked) == (1 if is_old else 3)


@pytest.mark.parametrize("is_old", [False, True])
def test_one_row_tells_that_nothing_has_moved(is_old: bool) -> None:
    master = Master()
    master.is_old = is_old
    master.make("T")
    assert run_question(copy_topics(master.kit.topics.version), master.answer) is None
    assert run_question(copy_groups(master.kit.groups.version), master.answer) is None
    assert [asked["maxTopicNum"] for asked in master.asked[:1]] == ["1"]
    assert len(master.asked) == 2
    copied = run_question(copy_topics(DataVersion(0, 0, 1)), master.answer)
    assert copied is not None
    assert len(master.asked) == (3 if is_old else 4)


def test_a_table_that_changes_on_the_way_is_copied_from_its_beginning() -> None:
    master = Master()
    master.make(*(f"T{number}" for number in range(SOME)))
    master.meanwhile = lambda: master.change("A0", "T1")
    copied = run_question(copy_topics(None), master.answer)
    assert copied is not None
    assert copied.table.version == master.kit.topics.version
    assert copied.table.rows.keys() == {config.name for config in master.kit.topics.all()}


def test_groups_come_with_the_topics_that_they_may_not_read() -> None:
    master = Master()
    kit, now = master.kit, master.kit.clock.now()
    kit.groups.put([GroupConfig("g", retries_max=3)], now, kit.told.append)
    kit.groups.set_readable("g", "T", is_readable=False, now=now, done=kit.told.append)
    kit.finish()
    copied = run_question(copy_groups(None), master.answer)
    assert copied is not None
    assert copied.table.version == kit.groups.version
    assert copied.table.rows["g"].config == GroupConfig("g", retries_max=3)
    assert copied.forbidden == {"g": {"T": 4}}


def test_pages_that_bring_nothing_end_the_copy() -> None:
    body = encode_topic_table(DataVersion(0, 1, 1), [TopicConfig("T")])
    with pytest.raises(RemoteProtocolError, match="further rows"):
        run_question(copy_topics(None), lambda command: answered(body=body, totalTopicNum="5"))


def test_a_table_that_never_rests_ends_the_copy() -> None:
    versions = iter(range(PAGES_MAX + 1))

    def answer(command: RemotingCommand) -> RemotingCommand:
        body = encode_topic_table(DataVersion(0, next(versions), 1), [TopicConfig("T")])
        return answered(body=body, totalTopicNum="5")

    with pytest.raises(RemoteProtocolError, match="does not end"):
        run_question(copy_topics(None), answer)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"topicConfigTable":{"T":1}}'])
def test_an_answer_that_is_no_table_is_refused(body: bytes) -> None:
    with pytest.raises(ProtocolError):
        run_question(copy_topics(None), lambda command: answered(body=body))


def test_mappings_of_static_topics_come_with_the_topics() -> None:
    master = Master()
    kit = master.kit
    mapping = TopicMapping("T7", "broker-a", 5, 1, {0: (MappingItem(0, 0, "broker-a", 0),)})
    master.make(*(f"T{number}" for number in range(SOME)))
    kit.mappings.put(mapping, kit.clock.now(), kit.told.append)
    kit.finish()
    copied = run_question(copy_topics(None), master.answer)
    assert copied is not None
    assert copied.mappings.version == kit.mappings.version
    assert {name: row.config for name, row in copied.mappings.rows.items()} == {"T7": mapping}
