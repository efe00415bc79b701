"""Unit tests of heartbeats and goodbyes, as clients of all languages say them."""

import pytest

from aerobee.model.group import GroupConfig
from aerobee.model.subscription import MessageModel
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.heartbeat import Heartbeat, decode_heartbeat
from aerobee.protocol.bodies.subscription import make_subscription
from aerobee.service.broker.config import BrokerConfig
from tests.captured import captured
from tests.consumer_kit import ORDERS, ConsumerKit, channel_of

CPP = (
    b'{"clientID":"10.0.0.5@7","consumerDataSet":[{"consumeFromWhere":0,"consumeType":1,'
    b'"groupName":"cpp","messageModel":1,"subscriptionDataSet":[{"codeSet":[0],"subString":"TagA",'
    b'"subVersion":"1700000000000","tagsSet":["TagA"],"topic":"Orders"}]}]}\n'
)


def test_a_heartbeat_makes_members_of_all_its_groups() -> None:
    kit = ConsumerKit()
    beat = Heartbeat("client", ("p", "CLIENT_INNER_PRODUCER"))
    assert kit.beat_as("a", beat).code == 0
    (member,) = kit.producers.members("p")
    assert kit.producers.find_client("client") == channel_of("a")
    assert (member.client_id, member.language, member.version) == ("client", "JAVA", 513)
    assert member.peer == f"10.0.0.5:{1000 + channel_of('a')}"
    kit.beat("b")
    group = kit.consumers.find("g")
    assert group is not None
    assert group.client_ids() == ["b"]
    assert group.subscriptions == {"Orders": ORDERS}


def test_a_heartbeat_is_answered_as_apache_does() -> None:
    answer = ConsumerKit().beat("a")
    (recorded, *_) = captured("HEART_BEAT", "response")
    assert answer.code == recorded.code
    assert answer.ext_fields == recorded.ext_fields
    assert answer.version == recorded.version  # what SQL subscriptions are decided by
    assert not answer.body


def test_every_captured_heartbeat_registers_what_it_says() -> None:
    for command in captured("HEART_BEAT", "request"):
        kit = ConsumerKit()
        answer = kit.ask(34, command.ext_fields, bytes(command.body), channel=channel_of("a"))
        assert answer.code == 0
        assert kit.producers.members("CLIENT_INNER_PRODUCER")
        said = decode_heartbeat(bytes(command.body))
        assert {group.name for group in kit.consumers.all()} == {
            consumer.group for consumer in said.consumers
        }
        for consumer in said.consumers:
            group = kit.consumers.find(consumer.group)
            assert group is not None
            assert tuple(group.subscriptions.values()) == consumer.subscriptions
            assert kit.groups.find(group.name) is not None


def test_a_heartbeat_of_cpp_filters_by_its_expression() -> None:
    kit = ConsumerKit()
    assert kit.ask(34, {"AccessKey": ""}, CPP).code == 0
    group = kit.consumers.find("cpp")
    assert group is not None
    assert group.subscriptions["Orders"].tag_codes == frozenset((2598919,))
    assert group.subscriptions["Orders"].version == 1700000000000


def test_the_first_heartbeat_makes_the_group_and_its_retry_topic() -> None:
    kit = ConsumerKit()
    kit.beat("a")
    assert kit.groups.find("g") == GroupConfig("g")
    assert kit.topics.find("%RETRY%g") == TopicConfig("%RETRY%g", 1, 1, 6)
    assert "%RETRY%g" in kit.topics.take_changed()
    version = kit.topics.version
    kit.beat("a")
    kit.beat("b")
    assert kit.topics.version == version


def test_a_retry_topic_is_made_as_its_group_and_topics_want_it() -> None:
    kit = ConsumerKit()
    kit.make_topic(TopicConfig("Ordered", is_order=True))
    kit.groups.put([GroupConfig("g", retry_queues=3)], kit.clock.now(), kit.told.append)
    kit.finish()
    kit.beat("a", subscriptions=(ORDERS, make_subscription("Ordered"), make_subscription("None")))
    assert kit.topics.find("%RETRY%g") == TopicConfig("%RETRY%g", 3, 3, 6, is_order=True)


def test_a_retry_topic_that_exists_stays_as_it_is() -> None:
    kit = ConsumerKit()
    changed = TopicConfig("%RETRY%g", 5, 5, 4)
    kit.make_topic(changed)
    kit.beat("a")
    assert kit.topics.find("%RETRY%g") == changed


def test_who_broadcasts_retries_nothing() -> None:
    kit = ConsumerKit()
    kit.beat("a", model=MessageModel.BROADCASTING)
    assert kit.groups.find("g") is not None
    assert kit.topics.find("%RETRY%g") is None


def test_a_group_that_may_not_be_made_is_passed_over_and_the_rest_counts() -> None:
    kit = ConsumerKit(BrokerConfig(creates_groups=False))
    kit.groups.put([GroupConfig("known")], kit.clock.now(), kit.told.append)
    kit.finish()
    assert kit.beat("a", "unknown").code == 0
    assert kit.beat("a", "known").code == 0
    assert [group.name for group in kit.consumers.all()] == ["known"]
    assert kit.topics.find("%RETRY%unknown") is None


def test_a_heartbeat_that_is_none_is_refused() -> None:
    kit = ConsumerKit()
    assert kit.ask(34, body=b"hello").code == 1
    assert kit.ask(34).code == 1


def changed(kit: ConsumerKit, client: str, fingerprint: int, *, is_without: bool) -> str:
    subscriptions = () if is_without else (ORDERS,)
    answer = kit.beat(
        client, subscriptions=subscriptions, fingerprint=fingerprint, is_without=is_without
    )
    assert answer.ext_fields["IS_SUPPORT_HEART_BEAT_V2"] == "true"
    return answer.ext_fields["IS_SUB_CHANGE"]


def test_subscriptions_that_are_left_out_stay_and_are_wanted_when_another_spoke() -> None:
    kit = ConsumerKit()
    assert changed(kit, "a", 11, is_without=False) == "false"
    assert changed(kit, "a", 11, is_without=True) == "false"
    group = kit.consumers.find("g")
    assert group is not None
    assert group.subscriptions == {"Orders": ORDERS}
    assert changed(kit, "b", 12, is_without=False) == "true"
    assert changed(kit, "a", 11, is_without=True) == "true"
    assert changed(kit, "a", 11, is_without=False) == "false"


def test_a_broker_that_knows_no_subscriptions_wants_those_that_are_left_out() -> None:
    kit = ConsumerKit()
    assert changed(kit, "a", 11, is_without=True) == "true"
    assert changed(kit, "a", 11, is_without=False) == "false"


def test_a_goodbye_ends_one_membership() -> None:
    kit = ConsumerKit()
    kit.beat_as("a", Heartbeat("a", ("p", "q")))
    kit.beat("a", "g")
    kit.beat("a", "h")
    for fields in (
        {"clientID": "a", "producerGroup": "p", "consumerGroup": ""},
        {"clientID": "a", "producerGroup": "", "consumerGroup": "g"},
    ):
        assert kit.ask(35, fields, channel=channel_of("a")).code == 0
    assert list(kit.producers.all()) == ["q"]
    assert [group.name for group in kit.consumers.all()] == ["h"]


def test_a_goodbye_of_a_stranger_is_none() -> None:
    kit = ConsumerKit()
    kit.beat("a")
    fields = {"clientID": "a", "consumerGroup": "g", "producerGroup": "p"}
    assert kit.ask(35, fields, channel=channel_of("b")).code == 0
    assert kit.consumers.find("g") is not None


@pytest.mark.parametrize("retry_queues", [0, -1])
def test_a_group_without_retry_queues_gets_no_retry_topic(retry_queues: int) -> None:
    kit = ConsumerKit()
    config = GroupConfig("g", retry_queues=retry_queues)
    kit.groups.put([config], kit.clock.now(), kit.told.append)
    kit.finish()
    kit.beat("a")
    assert kit.topics.find("%RETRY%g") is None
