from dataclasses import replace

import pytest

from aerobee.model.group import GroupConfig
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.topic import TopicConfig
from aerobee.service.broker.clients.queue_locks import QueueLocks
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.send.send_checks import SendChecks
from aerobee.service.broker.send.send_request import SendRequest
from aerobee.service.request import Answer
from tests.tables_kit import TablesKit

SENDING = SendRequest(
    group="p",
    topic="Orders",
    default_topic="TBW102",
    default_queues=4,
    queue_id=0,
    sys_flag=0,
    born_timestamp=1,
    flag=0,
    properties={},
    reconsume_times=0,
    reconsume_times_max=-1,
    is_batch=False,
    version=513,
    body=b"",
)


class Rig(TablesKit):
    """The checks, over real tables with the topic Orders and the group g."""

    def __init__(self, *topics: TopicConfig, config: BrokerConfig | None = None) -> None:
        super().__init__(config=config)
        self.locks = QueueLocks()
        self.checks = SendChecks(self.topics, self.groups, self.locks, self.config)
        now = self.clock.now()
        self.topics.put([TopicConfig("Orders", 4, 2), *topics], now, self.told.append)
        self.groups.put([GroupConfig("g", retries_max=3, retry_queues=2)], now, self.told.append)
        self.finish()

    def to_make(self, sending: SendRequest) -> TopicConfig | Answer | None:
        return self.checks.topic_to_make(sending, self.clock.now())


def refused(answer: object) -> int:
    assert isinstance(answer, Answer)
    assert answer.remark
    return answer.code


@pytest.mark.parametrize("topic", ["a.b", "a/b", "..", "a b", " ", "x" * 128, "ü", "a\0b"])
def test_a_name_that_is_none_is_refused(topic: str) -> None:
    assert refused(Rig().checks.find_fault(replace(SENDING, topic=topic))) == 29


@pytest.mark.parametrize(
    "topic",
    [
        "SCHEDULE_TOPIC_XXXX",
        "RMQ_SYS_TRANS_HALF_TOPIC",
        "RMQ_SYS_TRANS_OP_HALF_TOPIC",
        "TRANS_CHECK_MAX_TIME_TOPIC",
        "SELF_TEST_TOPIC",
        "OFFSET_MOVED_EVENT",
        "rmq_sys_wheel_timer",
        "rmq_sys_REVIVE_LOG_DefaultCluster",
    ],
)
def test_topics_that_only_the_broker_writes_to_are_forbidden(topic: str) -> None:
    answer = Rig().checks.find_fault(replace(SENDING, topic=topic))
    assert refused(answer) == 16
    assert isinstance(answer, Answer)
    assert topic in answer.remark


def test_a_half_may_be_sent_singly_and_unless_it_is_forbidden() -> None:
    half = replace(SENDING, properties={"TRAN_MSG": "true"})
    assert Rig().checks.find_fault(half) is None
    assert refused(Rig().checks.find_fault(replace(half, is_batch=True))) == 13
    strict = Rig(config=BrokerConfig(rejects_transactions=True)).checks
    assert refused(strict.find_fault(half)) == 16
    assert strict.find_fault(SENDING) is None
    assert strict.find_fault(replace(half, properties={"TRAN_MSG": "false"})) is None


@pytest.mark.parametrize("topic", ["Orders", "x" * 127, "%RETRY%g", "%DLQ%g", "TBW102"])
def test_other_names_may_be_sent_to(topic: str) -> None:
    assert Rig().checks.find_fault(replace(SENDING, topic=topic)) is None


def test_a_batch_goes_to_plain_topics_only() -> None:
    checks = Rig().checks
    assert checks.find_fault(replace(SENDING, is_batch=True)) is None
    for topic in ("%RETRY%g", "%DLQ%" + "g" * 123):
        assert checks.find_fault(replace(SENDING, topic=topic)) is None
        assert refused(checks.find_fault(replace(SENDING, topic=topic, is_batch=True))) == 13


def test_nothing_has_to_be_made_for_a_topic_that_is_there() -> None:
    assert Rig().to_make(replace(SENDING)) is None


@pytest.mark.parametrize(("wanted", "made"), [(4, 4), (8, 8), (9, 8), (0, 0), (-1, 0)])
def test_a_new_topic_has_the_queues_wanted_but_no_more_than_its_template(
    wanted: int, made: int
) -> None:
    topic = Rig().to_make(replace(SENDING, topic="New", default_queues=wanted))
    assert topic == TopicConfig("New", made, made, 6)


def test_without_a_template_the_topic_does_not_exist() -> None:
    rig = Rig()
    for template in ("", "Orders", "None"):
        answer = rig.to_make(replace(SENDING, topic="New", default_topic=template))
        assert refused(answer) == 17
    rig.change(autoCreateTopicEnable="false")
    assert refused(rig.to_make(replace(SENDING, topic="New"))) == 17


def test_a_template_of_ones_own_counts_too() -> None:
    rig = Rig(TopicConfig("Mine", 3, 3, 5, filter_type="MULTI_TAG"))
    topic = rig.to_make(replace(SENDING, topic="New", default_topic="Mine"))
    assert topic == TopicConfig("New", 3, 3, 4, filter_type="MULTI_TAG")


def test_a_retry_topic_is_made_as_its_group_says() -> None:
    sending = replace(SENDING, topic="%RETRY%g", reconsume_times=3)
    assert Rig().to_make(sending) == TopicConfig("%RETRY%g", 2, 2, 6)
    assert sending.topic == "%RETRY%g"
    assert Rig(TopicConfig("%RETRY%g", 1, 1)).to_make(sending) is None


def test_a_popped_message_of_an_acting_master_names_its_group() -> None:
    popped = replace(SENDING, topic="%RETRY%g_Orders", properties={"ORIGIN_GROUP": "g"})
    assert Rig().to_make(popped) == TopicConfig("%RETRY%g_Orders", 2, 2, 6)
    other = replace(SENDING, topic="%RETRY%h_Orders", properties={"ORIGIN_GROUP": "g"})
    assert refused(Rig().to_make(other)) == 26


def test_a_retry_of_an_unknown_group_is_refused() -> None:
    assert refused(Rig().to_make(replace(SENDING, topic="%RETRY%h"))) == 26


@pytest.mark.parametrize(
    ("times", "allowed", "version", "is_dead"),
    [
        (3, -1, 513, False),
        (4, -1, 513, True),
        (4, 4, 513, False),
        (5, 4, 513, True),
        (5, 4, 121, True),
        (4, 4, 120, True),
        (1, 0, 513, True),
        (0, 0, 513, False),
    ],
)
def test_a_retry_is_dead_when_it_was_tried_more_often_than_allowed(
    times: int, allowed: int, version: int, is_dead: bool
) -> None:
    sending = replace(
        SENDING,
        topic="%RETRY%g",
        queue_id=1,
        reconsume_times=times,
        reconsume_times_max=allowed,
        version=version,
        properties={"DELAY": "3", "KEYS": "k"},
    )
    made = Rig().to_make(sending)
    assert isinstance(made, TopicConfig)
    if is_dead:
        assert made == TopicConfig("%DLQ%g", 1, 1, 6)
        assert (sending.topic, sending.queue_id) == ("%DLQ%g", 0)
        assert sending.properties == {"KEYS": "k"}
    else:
        assert (made.name, sending.topic, sending.queue_id) == ("%RETRY%g", "%RETRY%g", 1)
        assert sending.properties["DELAY"] == "3"


def test_a_group_that_holds_a_lock_has_no_retries() -> None:
    rig = Rig()
    queue = MessageQueue("Orders", "broker-a", QueueId(0))
    rig.locks.lock("g", "c", [queue], rig.clock.now().monotonic_ms)
    sending = replace(SENDING, topic="%RETRY%g")
    rig.to_make(sending)
    assert sending.topic == "%DLQ%g"
    rig.clock.advance(3_600_000)
    sending = replace(SENDING, topic="%RETRY%g")
    rig.to_make(sending)
    assert sending.topic == "%RETRY%g"


def test_a_topic_without_write_permission_is_refused_whatever_the_queue() -> None:
    rig = Rig(TopicConfig("Old", 4, 4, 4))
    assert refused(rig.checks.check_topic(replace(SENDING, topic="Old", queue_id=99))) == 16


def test_a_broker_without_write_permission_takes_no_sends() -> None:
    rig = Rig(TopicConfig("Ordered", is_order=True), config=BrokerConfig(permission=4))
    both = [SENDING, replace(SENDING, topic="Ordered")]
    assert [refused(rig.checks.check_topic(one)) for one in both] == [16, 16]
    rig.change(brokerPermission="6")
    assert all(isinstance(rig.checks.check_topic(one), TopicConfig) for one in both)


def test_a_queue_that_is_only_read_may_still_be_written_to() -> None:
    checks = Rig().checks
    for queue_id in (-1, 0, 3):
        found = checks.check_topic(replace(SENDING, queue_id=queue_id))
        assert isinstance(found, TopicConfig)
    answer = checks.check_topic(replace(SENDING, queue_id=4))
    assert refused(answer) == 29
    assert isinstance(answer, Answer)
    assert "queueId[4]" in answer.remark


@pytest.mark.parametrize(
    ("topic", "chars_max"),
    [("x" * 128, 127), ("x" * 40_000, 127), ("%RETRY%" + "x" * 249, 255)],
)
def test_a_name_that_is_too_long_is_refused_in_rocketmqs_words(topic: str, chars_max: int) -> None:
    answer = Rig().checks.find_fault(replace(SENDING, topic=topic))
    assert refused(answer) == 29
    assert isinstance(answer, Answer)
    assert answer.remark == (
        f"The specified topic: {topic[:255]}, is longer than topic max length: {chars_max}"
    )


LARGE = (
    replace(SENDING, body=b"x" * 1001),
    replace(SENDING, has_long_properties=True),
    replace(SENDING, excess="more than 128 fields"),
)


@pytest.mark.parametrize("large", LARGE, ids=["body", "properties", "header"])
def test_what_is_too_large_is_refused_and_everything_else_is_told_before(
    large: SendRequest,
) -> None:
    rig = Rig(config=BrokerConfig(body_bytes_max=1000))
    assert rig.checks.find_fault(large) is None
    assert refused(rig.checks.find_size_fault(large)) == 13
    assert refused(rig.checks.check_topic(large)) == 13
    assert refused(rig.checks.check_topic(replace(large, queue_id=4))) == 29
    assert refused(rig.checks.check_topic(replace(large, topic="Gone"))) == 17


def test_what_is_as_large_as_may_be_is_not_refused() -> None:
    rig = Rig(config=BrokerConfig(body_bytes_max=1000))
    sending = replace(SENDING, body=b"x" * 1000)
    assert rig.checks.find_size_fault(sending) is None
    assert isinstance(rig.checks.check_topic(sending), TopicConfig)


def test_body_and_properties_are_refused_in_rocketmqs_words_and_a_header_with_the_reason() -> None:
    checks = Rig(config=BrokerConfig(body_bytes_max=1000)).checks
    remarks = [answer.remark for one in LARGE if (answer := checks.find_size_fault(one))]
    assert remarks[0] == remarks[1]
    assert "msg body length limit 1000B, msg properties length limit 32KB." in remarks[0]
    assert "more than 128 fields" in remarks[2]


def test_a_topic_that_went_meanwhile_is_not_there() -> None:
    assert refused(Rig().checks.check_topic(replace(SENDING, topic="Gone"))) == 17


CHECKED = BrokerConfig(checks_message_types=True)


def test_a_topic_that_says_its_type_takes_no_other_where_that_is_checked() -> None:
    later = TopicConfig("Later", 1, 1, attributes={"message.type": "DELAY"})
    plain, delayed = (
        replace(SENDING, topic="Later", properties=properties)
        for properties in ({}, {"DELAY": "1"})
    )
    rig = Rig(later, config=CHECKED)
    assert refused(rig.checks.check_topic(plain)) == 13
    assert rig.checks.check_topic(delayed) == later
    assert refused(rig.checks.check_topic(replace(delayed, is_batch=True))) == 13
    assert Rig(later).checks.check_topic(plain) == later


def test_a_topic_that_says_no_type_takes_all() -> None:
    rig = Rig(config=CHECKED)
    sending = replace(SENDING, properties={"TRAN_MSG": "true"})
    assert isinstance(rig.checks.check_topic(sending), TopicConfig)


@pytest.mark.parametrize("keys", [None, "", " "])
def test_a_compacted_topic_takes_no_message_without_a_key(keys: str | None) -> None:
    compacted = TopicConfig("Prices", attributes={"cleanup.policy": "COMPACTION"})
    rig = Rig(compacted, TopicConfig("Plain", attributes={"cleanup.policy": "DELETE"}))
    properties = {} if keys is None else {"KEYS": keys}
    sending = replace(SENDING, topic="Prices", properties=properties)
    answer = rig.checks.check_topic(sending)
    assert refused(answer) == 13
    assert rig.checks.check_topic(replace(sending, topic="Plain")) == rig.topics.find("Plain")
    assert rig.checks.check_topic(replace(sending, properties={"KEYS": "k"})) == compacted
