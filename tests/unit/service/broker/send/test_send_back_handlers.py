from dataclasses import replace

import pytest

from aerobee.errors import DiskFull
from aerobee.model.group import GroupConfig
from aerobee.model.message import StoredMessage
from aerobee.model.topic import TopicConfig
from aerobee.ports.service import ChannelId, Effects, Reply
from aerobee.protocol.remoting.command_header import ONEWAY_FLAG
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.config import SETTINGS, BrokerConfig, BrokerIdentity
from aerobee.service.broker.send.send_back_handlers import SendBackHandlers
from aerobee.service.broker.state.groups import Groups
from aerobee.service.broker.state.topics import open_topics
from aerobee.service.live_config import ChangesFile, LiveConfig
from aerobee.service.request import Request, answer_with
from aerobee.storage.config import StorageConfig
from aerobee.storage.metadata.config_file import ConfigFile
from tests.delay_kit import CONFIG, CONFIG_SYNC, DelayKit
from tests.store_kit import COMMITTED, INNER_BATCH, PREPARED, draft, properties

LEVELS = tuple(1_000 * level for level in range(1, 19))
GROUP = "buyers"
RETRIES = "%RETRY%buyers"
LETTERS = "%DLQ%buyers"


class Rig:
    """A broker's parts around a store, and one consumer that hands back."""

    def __init__(self, config: BrokerConfig | None = None, storage: StorageConfig = CONFIG) -> None:
        storage = replace(storage, delay_levels_ms=LEVELS, log_file_bytes=1 << 16)
        self.kit = DelayKit(config=storage)
        self.worker, self.store = self.kit.worker, self.kit.store
        self.config = config or BrokerConfig()
        wall_ms = self.kit.clock.now().wall_ms
        live = LiveConfig(
            self.config,
            SETTINGS,
            ChangesFile(self.kit.disk, "store/config/broker.properties", {}),
            self.worker,
            {},
        )
        self.topics = open_topics(self.file, self.worker, BrokerIdentity(), live, wall_ms)
        self.groups = Groups(self.file("subscriptionGroup"), self.worker, live, wall_ms)
        handlers = SendBackHandlers(
            self.store.record_at,
            self.kit.intake,
            self.topics,
            self.groups,
            lambda: live.current.permission,
            lambda topic, group, is_dead: self.noted.append((topic, group, is_dead)),
        )
        (self.row,) = handlers.rows()
        self.outbox: Effects = []
        self.noted: list[tuple[str, str, bool]] = []

    def file(self, name: str) -> ConfigFile:
        return ConfigFile(self.kit.disk, f"store/config/{name}.json")

    def store_message(self, text: bytes = b"", *, sys_flag: int = 0, times: int = 0) -> int:
        """A message of Orders that somebody got; its log offset."""
        made = draft(b"Orders", 1, b"body", text, sys_flag=sys_flag)
        made.flag = 9
        made.reconsume_times = times
        made.prepared_offset = 5 if sys_flag else 0
        offset = self.kit.kit.append(made)
        self.store.sync()
        self.store.dispatch()
        return offset

    def give_back(
        self,
        offset: int,
        fields: dict[str, str] | None = None,
        *,
        version: int = 513,
        flag: int = 0,
    ) -> None:
        """The request, handled; its answers come with `answers`."""
        said = {"offset": str(offset), "group": GROUP, "delayLevel": "0", **(fields or {})}
        command = RemotingCommand(36, opaque=7, version=version, flag=flag, ext_fields=said)
        request = Request(ChannelId(3), command, self.kit.clock.now(), self.outbox)
        answer_with(self.row.serve, request)

    def answers(self) -> list[RemotingCommand]:
        """What was answered so far."""
        return [effect.command for effect in self.outbox if isinstance(effect, Reply)]

    def work(self) -> None:
        """The disk does everything, and who waited for it hears."""
        for _ in range(4):
            self.worker.run_all()
            result = self.store.step(self.kit.clock.advance(1))
            for ticket in result.safe:
                ticket(True)  # type: ignore[operator]
            for ticket in result.failed:
                ticket(False)  # type: ignore[operator]

    def give_back_and_work(self, offset: int, **fields: str) -> RemotingCommand:
        self.outbox.clear()
        self.give_back(offset, fields)
        self.work()
        (answer,) = self.answers()
        assert answer.opaque == 7
        return answer

    def scheduled(self, level: int) -> list[StoredMessage]:
        self.store.dispatch()
        return self.kit.messages("SCHEDULE_TOPIC_XXXX", level - 1)


@pytest.mark.parametrize("storage", [CONFIG, CONFIG_SYNC], ids=["async", "sync"])
def test_a_message_waits_for_its_first_retry_with_all_that_it_had(storage: StorageConfig) -> None:
    rig = Rig(storage=storage)
    offset = rig.store_message(properties(TAGS="a", UNIQ_KEY="u1", WAIT="true"))
    assert rig.give_back_and_work(offset).code == 0
    (copy,) = rig.scheduled(3)
    original = rig.kit.messages("Orders", 1)[0]
    assert copy.properties == {
        "TAGS": "a",
        "UNIQ_KEY": "u1",
        "WAIT": "false",
        "DELAY": "3",
        "RETRY_TOPIC": "Orders",
        "ORIGIN_MESSAGE_ID": original.offset_message_id,
        "REAL_TOPIC": RETRIES,
        "REAL_QID": "0",
    }
    assert copy.reconsume_times == 1
    for field in ("body", "flag", "sys_flag", "born_timestamp", "born_host"):
        assert getattr(copy, field) == getattr(original, field), field
    rig.kit.run(3_100)
    (retried,) = rig.kit.messages(RETRIES)
    assert (retried.body, retried.reconsume_times) == (b"body", 1)


@pytest.mark.parametrize("level", ["0", "-1"])
def test_properties_that_have_no_room_for_what_a_retry_adds_are_refused_in_rocketmqs_word(
    level: str,
) -> None:
    rig = Rig()
    offset = rig.store_message(properties(UNIQ_KEY="u1", n="v" * 32_700))
    end = rig.store.end_offset
    answer = rig.give_back_and_work(offset, delayLevel=level)
    assert (answer.code, answer.remark) == (1, "PROPERTIES_SIZE_EXCEEDED")
    assert rig.store.end_offset == end
    assert rig.noted == []
    assert rig.give_back_and_work(rig.store_message(), delayLevel=level).code == 0


def test_the_second_retry_remembers_the_first_message() -> None:
    rig = Rig()
    offset = rig.store_message(properties(RETRY_TOPIC="First", ORIGIN_MESSAGE_ID="id0"), times=1)
    rig.give_back_and_work(offset)
    (copy,) = rig.scheduled(4)
    assert (copy.properties["RETRY_TOPIC"], copy.properties["ORIGIN_MESSAGE_ID"]) == (
        "First",
        "id0",
    )
    assert copy.reconsume_times == 2


def test_what_became_of_it_is_counted_by_its_first_topic_and_the_group() -> None:
    rig = Rig()
    offset = rig.store_message(properties(RETRY_TOPIC="First"), times=1)
    rig.give_back_and_work(offset)
    rig.give_back_and_work(offset, delayLevel="-1")
    assert rig.noted == [("First", GROUP, False), ("First", GROUP, True)]
    rig.give_back_and_work(offset + 1)
    assert len(rig.noted) == 2


def test_the_retry_topic_is_saved_before_anything_is_stored_in_it() -> None:
    rig = Rig()
    offset = rig.store_message()
    end = rig.store.end_offset
    rig.give_back(offset)
    assert rig.topics.find(RETRIES) is None
    assert rig.store.end_offset == end
    assert rig.answers() == []
    rig.work()
    made = rig.topics.find(RETRIES)
    assert made == TopicConfig(RETRIES, read_queues=1, write_queues=1, permission=6)
    assert RETRIES in rig.topics.take_changed()
    assert [answer.code for answer in rig.answers()] == [0]


def test_a_topic_that_cannot_be_saved_refuses_the_message() -> None:
    rig = Rig()
    offset = rig.store_message()
    rig.groups.ensure(GROUP, rig.kit.clock.now())
    rig.work()
    rig.give_back(offset)
    for call in range(1, 5):  # whichever of them writes
        rig.kit.disk.faults.fail_call(call)
    rig.worker.run_next()
    rig.work()
    (answer,) = rig.answers()
    assert answer.code == 1
    assert RETRIES in answer.remark
    assert rig.scheduled(3) == []


def test_two_that_wait_for_one_topic_are_both_stored() -> None:
    rig = Rig()
    offset = rig.store_message()
    rig.give_back(offset)
    rig.give_back(offset)
    rig.work()
    assert [answer.code for answer in rig.answers()] == [0, 0]
    assert len(rig.scheduled(3)) == 2


def test_in_sync_mode_the_answer_waits_for_the_disk() -> None:
    rig = Rig(storage=CONFIG_SYNC)
    offset = rig.store_message()
    rig.give_back_and_work(offset)
    rig.outbox.clear()
    rig.give_back(offset)
    assert rig.answers() == []
    rig.work()
    assert [answer.code for answer in rig.answers()] == [0]


def test_a_disk_that_fails_meanwhile_is_no_success() -> None:
    rig = Rig(storage=CONFIG_SYNC)
    offset = rig.store_message()
    rig.give_back_and_work(offset)
    rig.kit.disk.faults.fail_sync("*commitlog*")
    assert rig.give_back_and_work(offset).code == 1


# Dead letters.


@pytest.mark.parametrize(
    ("times", "fields"),
    [(16, {}), (2, {"maxReconsumeTimes": "2"}), (0, {"delayLevel": "-1"})],
)
def test_what_was_tried_often_enough_goes_to_the_dead_letters(
    times: int, fields: dict[str, str]
) -> None:
    rig = Rig()
    offset = rig.store_message(properties(DELAY="3", REAL_TOPIC=RETRIES, REAL_QID="0"), times=times)
    assert rig.give_back_and_work(offset, **fields).code == 0
    rig.store.dispatch()
    (letter,) = rig.kit.messages(LETTERS)
    assert letter.reconsume_times == times + 1
    assert letter.properties["DELAY"] == "0"
    assert letter.properties["RETRY_TOPIC"] == "Orders"
    made = rig.topics.find(LETTERS)
    assert made == TopicConfig(LETTERS, read_queues=1, write_queues=1, permission=6)


def test_a_dead_letter_keeps_the_reason_as_plain_text_and_a_retry_none() -> None:
    rig = Rig()
    offset = rig.store_message()
    said = {"delayLevel": "-1", "reason": "no\x02 such\nuser" + "!" * 1000}
    assert rig.give_back_and_work(offset, **said).code == 0
    assert rig.give_back_and_work(offset, delayLevel="1", reason="soon").code == 0
    rig.store.dispatch()
    (letter,) = rig.kit.messages(LETTERS, 0)
    assert letter.properties["DLQ_REASON"] == "no  such user" + "!" * 487
    assert "DLQ_REASON" not in rig.scheduled(1)[0].properties


def test_one_try_less_is_another_retry() -> None:
    rig = Rig()
    rig.give_back_and_work(rig.store_message(times=1), maxReconsumeTimes="2")
    assert len(rig.scheduled(4)) == 1


def test_old_clients_do_not_say_how_often() -> None:
    rig = Rig()
    rig.give_back(rig.store_message(times=3), {"maxReconsumeTimes": "2"}, version=120)
    rig.work()
    assert len(rig.scheduled(6)) == 1


@pytest.mark.parametrize(("level", "queue"), [("1", 1), ("18", 18), ("2147483647", 18)])
def test_a_level_that_the_consumer_names_counts(level: str, queue: int) -> None:
    rig = Rig()
    rig.give_back_and_work(rig.store_message(), delayLevel=level)
    assert len(rig.scheduled(queue)) == 1


# Groups and queues.


def test_an_unknown_group_is_made_if_that_is_allowed() -> None:
    rig = Rig()
    rig.give_back_and_work(rig.store_message())
    assert rig.groups.find(GROUP) is not None
    rig = Rig(BrokerConfig(creates_groups=False))
    assert rig.give_back_and_work(rig.store_message()).code == 26
    assert rig.scheduled(3) == []


def test_retries_spread_over_the_queues_that_the_topic_has() -> None:
    rig = Rig()
    now = rig.kit.clock.now()
    rig.groups.put([GroupConfig(GROUP, retry_queues=3)], now, lambda error: None)
    rig.topics.put([TopicConfig(RETRIES, read_queues=2, write_queues=2)], now, lambda error: None)
    rig.work()
    offset = rig.store_message()
    for _ in range(4):
        rig.give_back_and_work(offset)
    assert sorted(one.properties["REAL_QID"] for one in rig.scheduled(3)) == ["0", "0", "1", "1"]


def test_a_group_without_retry_queues_gets_nothing_back() -> None:
    rig = Rig()
    rig.groups.put([GroupConfig(GROUP, retry_queues=0)], rig.kit.clock.now(), lambda error: None)
    rig.work()
    offset = rig.store_message()
    end = rig.store.end_offset
    assert rig.give_back_and_work(offset).code == 0
    assert rig.store.end_offset == end


# Refusals.


def test_a_broker_that_may_not_be_written_to_refuses() -> None:
    rig = Rig(BrokerConfig(permission=4))
    assert rig.give_back_and_work(rig.store_message()).code == 16


def test_a_retry_topic_that_may_not_be_written_to_refuses() -> None:
    rig = Rig()
    closed = TopicConfig(RETRIES, read_queues=1, write_queues=1, permission=4)
    rig.topics.put([closed], rig.kit.clock.now(), lambda error: None)
    rig.work()
    offset = rig.store_message()
    assert rig.give_back_and_work(offset).code == 16
    assert rig.give_back_and_work(offset, delayLevel="-1").code == 16


@pytest.mark.parametrize("offset", [-1, 1, 10**9, 2**63 - 1])
def test_an_offset_where_no_record_begins_is_refused(offset: int) -> None:
    rig = Rig()
    rig.store_message()
    answer = rig.give_back_and_work(offset)
    assert answer.code == 1
    assert str(offset) in answer.remark
    assert rig.topics.find(RETRIES) is None


@pytest.mark.parametrize("sys_flag", [PREPARED, INNER_BATCH | 0x40])
def test_a_record_that_no_consumer_gets_by_itself_is_refused(sys_flag: int) -> None:
    rig = Rig()
    assert rig.give_back_and_work(rig.store_message(sys_flag=sys_flag)).code == 1


def test_a_committed_message_is_retried_and_forgets_its_half() -> None:
    rig = Rig()
    rig.give_back_and_work(rig.store_message(sys_flag=COMMITTED))
    (copy,) = rig.scheduled(3)
    assert (copy.sys_flag, copy.prepared_offset) == (COMMITTED, 0)


def test_what_the_store_refuses_is_refused() -> None:
    rig = Rig()
    offset = rig.store_message()
    rig.give_back_and_work(offset)
    rig.outbox.clear()
    rig.store.appender.refusal = DiskFull("no room")
    rig.give_back(offset)
    (answer,) = rig.answers()
    assert answer.code == 1
    assert "no room" in answer.remark


def test_properties_that_grow_too_long_are_refused() -> None:
    rig = Rig()
    offset = rig.store_message(properties(a="x" * 32_700))
    assert rig.give_back_and_work(offset).code == 1


def test_what_nobody_waits_for_is_not_answered() -> None:
    rig = Rig()
    rig.give_back(rig.store_message(), flag=ONEWAY_FLAG)
    rig.work()
    assert rig.answers() == []
    assert len(rig.scheduled(3)) == 1


def test_a_message_tried_more_often_than_can_be_counted_stays_there() -> None:
    rig = Rig()
    offset = rig.store_message(times=2**31 - 1)
    assert rig.give_back_and_work(offset).code == 0
    rig.store.dispatch()
    (letter,) = rig.kit.messages(LETTERS)
    assert letter.reconsume_times == 2**31 - 1
