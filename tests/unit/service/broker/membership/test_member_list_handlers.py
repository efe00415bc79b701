"""Unit tests of who is there, for fellow members and for administrators."""

from typing import Any, cast

from aerobee.protocol.bodies.heartbeat import Heartbeat
from aerobee.protocol.bodies.subscription import make_subscription
from aerobee.protocol.text.json_text import parse
from tests.captured import captured
from tests.consumer_kit import ConsumerKit, channel_of


def said(body: bytes | memoryview) -> dict[str, Any]:
    return cast("dict[str, Any]", parse(bytes(body)))


def test_members_are_listed_to_each_other_as_soon_as_they_have_beaten() -> None:
    kit = ConsumerKit()
    kit.beat("a")
    kit.beat("b")
    answer = kit.ask(38, {"consumerGroup": "g"})
    assert (answer.code, answer.body) == (0, b'{"consumerIdList":["a","b"]}')


def test_a_client_that_came_back_is_listed_once() -> None:
    kit = ConsumerKit()
    kit.beat("a", client_id="client")
    kit.beat("b", client_id="client")
    assert said(kit.ask(38, {"consumerGroup": "g"}).body) == {"consumerIdList": ["client"]}


def test_a_group_without_members_has_no_list() -> None:
    answer = ConsumerKit().ask(38, {"consumerGroup": "g"})
    assert (answer.code, answer.remark) == (1, "no consumer for this group, g")
    assert not answer.body


def test_the_consumers_of_a_group_are_shown_with_what_they_want() -> None:
    kit = ConsumerKit()
    kit.beat("a")
    kit.beat("b")
    shown = said(kit.ask(203, {"consumerGroup": "g"}).body)
    assert [one["clientId"] for one in shown["connectionSet"]] == ["a", "b"]
    assert shown["connectionSet"][0] == {
        "clientAddr": f"10.0.0.5:{1000 + channel_of('a')}",
        "clientId": "a",
        "language": "JAVA",
        "version": 513,
    }
    assert shown["consumeType"] == "CONSUME_PASSIVELY"
    assert list(shown["subscriptionTable"]) == ["Orders"]


def test_a_group_that_is_not_online_is_told_apart() -> None:
    (recorded,) = [
        one for one in captured("GET_CONSUMER_CONNECTION_LIST", "response") if one.code != 0
    ]
    answer = ConsumerKit().ask(203, {"consumerGroup": "HeldGroup6af97907"})
    assert (answer.code, answer.remark) == (206, "the consumer group[HeldGroup6af97907] not online")
    assert answer.code == recorded.code


def test_producers_are_shown_by_group_and_all_together() -> None:
    kit = ConsumerKit()
    kit.beat_as("a", Heartbeat("client", ("p",)))
    shown = said(kit.ask(204, {"producerGroup": "p"}).body)
    assert [one["clientId"] for one in shown["connectionSet"]] == ["client"]
    refused = kit.ask(204, {"producerGroup": "x"})
    assert (refused.code, refused.remark) == (1, "the producer group[x] not exist")
    ((member,),) = said(kit.ask(328).body)["data"].values()
    assert member["lastUpdateTimestamp"] == kit.clock.now().wall_ms
    assert member["remoteIP"] == f"/10.0.0.5:{1000 + channel_of('a')}"


def test_members_that_disagree_are_shown_and_nothing_else_is_when_they_do_not() -> None:
    kit = ConsumerKit()
    kit.beat("a", subscriptions=[make_subscription("Orders", "x", 1)])
    assert "subscriptionMismatches" not in said(kit.ask(203, {"consumerGroup": "g"}).body)
    kit.beat("b", subscriptions=[make_subscription("Orders", "y", 2)])
    shown = said(kit.ask(203, {"consumerGroup": "g"}).body)
    assert shown["subscriptionMismatches"] == {"Orders": {"TAG: x": ["a"], "TAG: y": ["b"]}}
