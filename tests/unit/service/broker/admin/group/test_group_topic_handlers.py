"""Unit tests of which groups consume which topics, and of clones and corrections."""

from typing import Any, cast

from aerobee.protocol.bodies.subscription import make_subscription
from aerobee.protocol.text.json_text import parse
from aerobee.service.broker.config import BrokerConfig
from tests.captured import captured
from tests.consumer_kit import ConsumerKit

FAR = 2**63 - 1


def said(kit: ConsumerKit, code: int, **fields: str) -> dict[str, Any]:
    answer = kit.ask(code, fields)
    assert answer.code == 0
    return cast("dict[str, Any]", parse(bytes(answer.body)))


def test_the_groups_of_a_topic_are_those_online_and_those_that_ever_committed() -> None:
    kit = ConsumerKit()
    kit.beat("a", "online")
    kit.beat("b", "both")
    for group in ("both", "offline"):
        kit.offsets.commit(group, "Orders", 0, 0, max_offset=0)
    kit.offsets.commit("other", "Bills", 0, 0, max_offset=0)
    assert said(kit, 300, topic="Orders") == {"groupList": ["both", "offline", "online"]}
    assert said(kit, 300, topic="None") == {"groupList": []}
    for command in captured("QUERY_TOPIC_CONSUME_BY_WHO", "request"):
        assert kit.ask(300, command.ext_fields).body == b'{"groupList":[]}'


def test_the_topics_of_a_group_are_those_that_it_committed() -> None:
    kit = ConsumerKit()
    for topic in ("Orders", "Bills"):
        kit.offsets.commit("g", topic, 0, 0, max_offset=0)
    assert said(kit, 343, group="g") == {
        "brokerAddr": "127.0.0.1:10911",
        "topicList": ["Bills", "Orders"],
    }


def test_a_subscription_is_shown_while_its_group_is_online() -> None:
    kit = ConsumerKit()
    assert said(kit, 345, group="g", topic="Orders") == {"group": "g", "topic": "Orders"}
    kit.beat("a", subscriptions=(make_subscription("Orders", "TagA", 5),))
    shown = said(kit, 345, group="g", topic="Orders")
    assert shown["subscriptionData"]["subString"] == "TagA"
    assert "subscriptionData" not in said(kit, 345, group="g", topic="Bills")


def test_a_clone_is_of_one_topic_or_of_all() -> None:
    kit = ConsumerKit()
    kit.store_messages(5)
    kit.offsets.commit("g", "Orders", 0, 3, max_offset=5)
    kit.offsets.commit("g", "Bills", 0, 4, max_offset=5)
    assert kit.ask(314, {"srcGroup": "g", "destGroup": "h", "topic": "Orders"}).code == 0
    assert kit.offsets.topics_of("h") == ["Orders"]
    assert kit.offsets.find("h", "Orders", 0) == 3
    assert kit.groups.find("h") is not None
    assert kit.ask(314, {"srcGroup": "g", "destGroup": "i"}).code == 0
    assert kit.offsets.topics_of("i") == ["Bills", "Orders"]


def test_a_clone_leaves_out_what_an_online_group_gave_up_unless_told_otherwise() -> None:
    kit = ConsumerKit()
    for topic in ("Orders", "Bills"):
        kit.offsets.commit("g", topic, 0, 0, max_offset=0)
    kit.beat("a")
    kit.ask(314, {"srcGroup": "g", "destGroup": "h"})
    assert kit.offsets.topics_of("h") == ["Orders"]
    kit.ask(314, {"srcGroup": "g", "destGroup": "h", "offline": "true"})
    assert kit.offsets.topics_of("h") == ["Bills", "Orders"]


def test_a_clone_into_a_group_that_may_not_be_made_is_refused() -> None:
    kit = ConsumerKit(BrokerConfig(creates_groups=False))
    kit.offsets.commit("g", "Orders", 0, 0, max_offset=0)
    assert kit.ask(314, {"srcGroup": "g", "destGroup": "h"}).code == 26
    assert kit.offsets.topics_of("h") == []


def test_a_correction_is_the_least_of_the_others_where_the_group_is_not_further() -> None:
    kit = ConsumerKit()
    for group, first, second in (("g", 5, 1), ("h", 4, 6), ("i", 7, 3), ("left-out", 0, 0)):
        kit.offsets.commit(group, "Orders", 0, first, max_offset=9)
        kit.offsets.commit(group, "Orders", 1, second, max_offset=9)
    fields = {"topic": "Orders", "compareGroup": "g", "filterGroups": "left-out,g"}
    assert said(kit, 308, **fields) == {"correctionOffsets": {0: FAR, 1: 3}}
    assert said(kit, 308, topic="None", compareGroup="g") == {"correctionOffsets": {}}
