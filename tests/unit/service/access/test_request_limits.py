"""Unit tests of limits, as clients of a broker see them."""

from dataclasses import replace

import pytest

from aerobee.model.access import Rule
from aerobee.model.topic import TopicConfig
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Peer
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from aerobee.service.access.request_limits import LimitConfig, RequestLimits
from aerobee.service.broker.config import BrokerConfig
from tests.access_kit import ACCESS, IDENTITY, ask_as, make_user, set_rules, signed
from tests.broker_kit import CLIENT, OTHER, BrokerKit, create_fields, pull_fields
from tests.pop_kit import CONFIG as POPPED
from tests.pop_kit import PopKit

ORDERS = TopicConfig("Orders", 4, 4)
SEND = {"a": "p", "b": "Orders", "e": "0", "f": "0", "g": "1", "h": "0", "i": "UNIQ_KEY\1id"}
PUB = Rule("Topic:Orders", ("Pub",))
OK, BUSY, FLOW, DENIED = 0, 2, 215, 16
FAR = ChannelId(3)


def limited_broker(**limits: int) -> BrokerKit:
    kit = BrokerKit(ORDERS, config=BrokerConfig(**limits))  # type: ignore[arg-type]
    kit.tick(60_000)
    kit.open(FAR, Peer("10.0.0.8", 1))
    return kit


def guarded(**limits: int) -> BrokerKit:
    """A broker of users alice and bob, whose limits begin when they are made."""
    kit = BrokerKit(identity=IDENTITY)
    assert ACCESS.authenticates
    assert ask_as(kit, "root", 17, create_fields(ORDERS)).code == OK
    for name in ("alice", "bob"):
        make_user(kit, name, PUB)
    text = "".join(f"{key}={value}\n" for key, value in limits.items())
    assert ask_as(kit, "root", 25, {}, text.encode()).code == OK
    return kit


def frame(fields: dict[str, str], body: bytes = b"x") -> bytes:
    return b"".join(encode(RemotingCommand(310, opaque=7, ext_fields=dict(fields), body=body)))


def codes(kit: BrokerKit, channel: ChannelId = CLIENT) -> list[int]:
    kit.finish()
    return [command.code for command in kit.heard(channel) if command.is_response]


def test_without_limits_nothing_is_refused() -> None:
    kit = limited_broker()
    kit.send_frames(b"".join(frame(SEND) for _ in range(500)))
    assert codes(kit) == [OK] * 500
    assert not kit.broker.reception.limits.has_rates


def test_an_address_is_held_to_its_requests_on_the_fast_path_too() -> None:
    kit = limited_broker(address_requests_max=10)
    # One read is taken whole; then its debt has to be paid.
    kit.send_frames(b"".join(frame(SEND) for _ in range(30)))
    assert codes(kit) == [OK] * 30
    answer = kit.ask(310, SEND, b"x")
    assert (answer.code, answer.ext_fields) == (BUSY, {"retryAfterMs": "2101"})
    assert kit.pull(topic="Orders").code == FLOW
    assert "try again in 2101 ms" in answer.remark
    assert kit.ask(310, SEND, b"x", OTHER).code == BUSY  # the same address
    assert kit.ask(310, SEND, b"x", FAR).code == OK
    kit.run(2101)
    assert kit.ask(310, SEND, b"x").code == OK
    assert kit.broker.reception.limits.refused == 3
    assert len(kit.bodies()) == 32


def test_fast_and_general_path_count_the_same() -> None:
    fast, general = limited_broker(address_requests_max=20), limited_broker(address_requests_max=20)
    sent = b"".join(frame(SEND, b"x" * size) for size in range(20))
    fast.send_frames(sent)
    general.handle_frames(sent)
    assert codes(fast) == codes(general) == [OK] * 20
    waits = [kit.ask(310, SEND, b"x").ext_fields["retryAfterMs"] for kit in (fast, general)]
    assert waits == ["51", "51"]


def test_a_frame_that_comes_in_two_reads_is_counted_once() -> None:
    kit = limited_broker(address_requests_max=5)
    for _ in range(4):
        data = frame(SEND)
        kit.send_frames(data[:50])
        kit.send_frames(data[50:])
    assert codes(kit) == [OK] * 4
    assert kit.ask(310, SEND, b"x").code == OK
    assert kit.ask(310, SEND, b"x").code == BUSY


def test_bytes_are_held_to_a_limit() -> None:
    kit = limited_broker(address_bytes_max=10_000)
    assert kit.ask(310, SEND, b"x" * 9_000).code == OK
    assert kit.ask(310, SEND, b"x" * 9_000).code == OK
    answer = kit.ask(310, SEND, b"x")
    assert answer.code == BUSY
    assert 800 < int(answer.ext_fields["retryAfterMs"]) < 1_000


def test_a_user_is_held_to_its_requests_on_every_connection() -> None:
    kit = guarded(userRequestsPerSecond=10)
    for channel in (CLIENT, OTHER):
        assert kit.ask(310, signed("alice", SEND, b"x"), b"x", channel).code == OK
    kit.send_frames(b"".join(frame(signed("alice", SEND, b"x")) for _ in range(9)))
    assert codes(kit) == [OK] * 9
    assert kit.ask(310, signed("alice", SEND, b"x"), b"x", OTHER).code == BUSY
    kit.open(FAR, Peer("10.0.0.9", 5))
    assert kit.ask(310, signed("bob", SEND, b"x"), b"x", FAR).code == OK
    kit.tick(1_000)
    assert kit.ask(310, signed("alice", SEND, b"x"), b"x", OTHER).code == OK


def test_heartbeats_are_never_refused() -> None:
    kit = limited_broker(address_requests_max=1)
    kit.send_frames(b"".join(frame(SEND) for _ in range(30)))
    assert codes(kit) == [OK] * 30
    kit.beat()
    assert kit.ask(310, SEND, b"x").code == BUSY


def test_an_address_has_only_so_many_connections() -> None:
    kit = limited_broker(address_connections_max=3)
    third, fourth = ChannelId(10), ChannelId(11)
    kit.open(third, Peer("10.0.0.9", 10))
    assert kit.closed == []
    kit.open(fourth, Peer("10.0.0.9", 11))
    assert kit.closed == [fourth]
    kit.close(fourth)
    kit.close(third)
    kit.open(ChannelId(12), Peer("10.0.0.9", 12))
    assert kit.closed == [fourth]
    kit.open(ChannelId(13), Peer("10.0.0.7", 13))
    assert kit.closed == [fourth]
    kit.open(ChannelId(14), Peer("10.0.0.9", 14))
    assert kit.closed == [fourth, ChannelId(14)]


def test_a_user_has_only_so_many_connections() -> None:
    kit = guarded(userConnectionsMax=1)
    assert kit.ask(310, signed("alice", SEND, b"x"), b"x", CLIENT).code == OK
    answer = kit.ask(310, signed("alice", SEND, b"x"), b"x", OTHER)
    assert (answer.code, answer.ext_fields) == (BUSY, {"retryAfterMs": "1000"})
    assert kit.ask(310, signed("bob", SEND, b"x"), b"x", OTHER).code == OK
    kit.close(CLIENT)
    assert kit.ask(310, signed("alice", SEND, b"x"), b"x", OTHER).code == OK


def test_a_limit_that_is_changed_holds_at_once() -> None:
    kit = guarded(userRequestsPerSecond=2)
    for _ in range(2):
        assert ask_as(kit, "alice", 310, SEND, b"x").code == OK
    assert ask_as(kit, "alice", 310, SEND, b"x").code == BUSY
    assert ask_as(kit, "root", 25, {}, b"userRequestsPerSecond=0\n").code == OK
    assert ask_as(kit, "alice", 310, SEND, b"x").code == OK


def test_a_pull_that_waits_is_counted_once() -> None:
    kit = limited_broker(address_requests_max=3)
    kit.tell(11, pull_fields(topic="Orders"))
    assert kit.ask(310, SEND, b"x", OTHER).code == OK
    assert kit.ask(310, SEND, b"x", OTHER).code == OK
    assert kit.ask(310, SEND, b"x", OTHER).code == BUSY


def pull_frame(offset: int = 0, **fields: object) -> bytes:
    said = pull_fields(topic="Orders", queueOffset=offset, maxMsgNums=1, **fields)
    return b"".join(encode(RemotingCommand(11, opaque=7, ext_fields=said)))


def filled(**limits: int) -> BrokerKit:
    """A broker with thirty messages of a hundred bytes in a queue; its limits begin after that."""
    kit = limited_broker()
    kit.send_frames(b"".join(frame(SEND, b"y" * 100) for _ in range(30)))
    assert codes(kit) == [OK] * 30
    text = "".join(f"{key}={value}\n" for key, value in limits.items())
    assert kit.ask(25, {}, text.encode()).code == OK
    return kit


def test_a_group_is_held_to_its_pulls_on_the_fast_path_too() -> None:
    kit = filled(groupRequestsPerSecond=10)
    assert kit.ask(11, pull_fields(topic="Orders", maxMsgNums=1)).code == OK
    # The template of a pull is learnt by the general path: one read is taken whole.
    kit.send_frames(pull_frame(0))
    kit.send_frames(b"".join(pull_frame(offset) for offset in range(20)))
    assert codes(kit) == [OK] * 21
    assert kit.pull(topic="Orders").code == FLOW
    assert kit.pull(channel=FAR, topic="Orders").code == FLOW  # wherever a member is
    kit.send_frames(pull_frame(0))
    assert codes(kit) == [FLOW]
    assert kit.pull(topic="Orders", consumerGroup="other").code == OK
    assert kit.ask(310, SEND, b"x").code == OK
    kit.run(1_300)
    assert kit.pull(topic="Orders").code == OK


def test_a_group_is_held_to_the_bytes_that_it_gets() -> None:
    kit = filled(groupBytesPerSecond=2_000)
    assert kit.pull(topic="Orders", maxMsgNums=32).code == OK
    answer = kit.pull(topic="Orders", maxMsgNums=32)
    assert answer.code == FLOW
    assert 1_500 < int(answer.ext_fields["retryAfterMs"]) < 4_000
    kit.run(int(answer.ext_fields["retryAfterMs"]))
    assert kit.pull(topic="Orders", maxMsgNums=1).code == OK


def test_a_group_has_only_so_many_pulls_that_wait() -> None:
    kit = limited_broker(group_waiting_max=2)
    held = pull_fields(topic="Orders", sysFlag=6)
    kit.tell(11, held)
    kit.tell(11, {**held, "queueId": "1"}, channel=FAR)
    answer = kit.ask(11, {**held, "queueId": "2"})
    assert (answer.code, answer.ext_fields) == (FLOW, {"retryAfterMs": "1000"})
    assert "of the group g wait" in answer.remark
    kit.tell(11, {**held, "consumerGroup": "other"}, channel=OTHER)
    assert kit.heard(OTHER) == []
    kit.close(FAR)
    kit.tell(11, {**held, "queueId": "2"})
    assert kit.heard() == []


def test_a_group_has_only_so_many_pops_that_wait() -> None:
    kit = PopKit(config=replace(POPPED, group_waiting_max=1))
    kit.wait_for_pop()
    kit.wait_for_pop(OTHER)
    assert [answer.code for answer in kit.heard(OTHER)] == [FLOW]
    assert kit.heard() == []


@pytest.mark.parametrize(
    ("limit", "channel"), [("userWaitingPullsMax", OTHER), ("addressWaitingPullsMax", FAR)]
)
def test_a_user_and_an_address_have_only_so_many_pulls_that_wait(
    limit: str, channel: ChannelId
) -> None:
    """Of two channels one is of the same user at another address, one of another user."""
    kit = guarded(**{limit: 2})
    kit.open(FAR, Peer("10.0.0.8", 1))
    for name in ("alice", "bob"):
        set_rules(kit, name, PUB, Rule("Topic:Orders", ("Sub",)), Rule("Group:*", ("Sub",)))
    held = {**pull_fields(topic="Orders", sysFlag=6)}

    def pull(name: str, queue: int, group: str, channel: ChannelId) -> list[tuple[int, str]]:
        fields = signed(name, {**held, "queueId": str(queue), "consumerGroup": group})
        kit.tell(11, fields, channel=channel)
        return [(one.code, one.ext_fields["retryAfterMs"]) for one in kit.heard(channel)]

    assert pull("alice", 0, "g", CLIENT) == pull("alice", 1, "h", CLIENT) == []
    is_of_user = limit == "userWaitingPullsMax"
    assert pull("alice", 2, "i", CLIENT) == [(FLOW, "1000")]
    assert pull("alice", 2, "i", FAR) == ([(FLOW, "1000")] if is_of_user else [])
    assert pull("bob", 3, "g", OTHER) == ([] if is_of_user else [(FLOW, "1000")])
    kit.close(CLIENT)
    assert pull("alice", 2, "i", OTHER) == []


def test_an_address_has_only_so_many_pops_that_wait() -> None:
    kit = PopKit(config=replace(POPPED, address_waiting_max=1))
    kit.wait_for_pop()
    kit.wait_for_pop(OTHER)
    assert [answer.code for answer in kit.heard(OTHER)] == [FLOW]
    assert kit.heard() == []


@pytest.mark.parametrize("name", [None, "mallory", "bob"])
def test_requests_that_are_refused_count_like_others(name: str | None) -> None:
    kit = guarded(addressRequestsPerSecond=5)
    set_rules(kit, "bob")
    kit.run(1_000)
    found = [kit.ask(310, signed(name, SEND, b"x"), b"x").code for _ in range(8)]
    assert found == [DENIED] * 5 + [BUSY] * 3
    assert kit.ask(215, signed(name, {"topic": "Orders"})).code == FLOW
    assert kit.ask(310, signed("alice", SEND, b"x"), b"x").code == BUSY
    assert kit.broker.reception.limits.refused == 5


def test_who_claims_to_be_a_user_takes_nothing_from_it() -> None:
    kit = guarded(userRequestsPerSecond=3)
    for _ in range(6):
        wrong = {**signed("alice", SEND, b"x"), "Signature": "x"}
        assert kit.ask(310, wrong, b"x", OTHER).code == DENIED
    assert kit.ask(310, signed("alice", SEND, b"x"), b"x").code == OK


def test_requests_that_a_user_has_no_right_to_count_for_it() -> None:
    kit = guarded(userRequestsPerSecond=3)
    found = [kit.ask(215, signed("alice", {"topic": "Orders"})).code for _ in range(4)]
    assert found == [DENIED] * 3 + [FLOW]
    kit.open(FAR, Peer("10.0.0.8", 1))
    assert kit.ask(310, signed("alice", SEND, b"x"), b"x", FAR).code == BUSY


def made(kit: BrokerKit, user: str, name: str, queues: int = 4) -> bool:
    answer = ask_as(kit, user, 17, create_fields(TopicConfig(name, queues, queues)))
    assert answer.code == 0 or "may have made 2 topics" in answer.remark, answer.remark
    return answer.code == OK


def makers() -> BrokerKit:
    """A broker of users who may make topics."""
    kit = guarded(userTopicsMax=2)
    for name in ("alice", "bob"):
        set_rules(kit, name, Rule("Topic:*", ("Create", "Update", "Delete", "Pub")))
    return kit


def test_a_user_makes_no_more_topics_than_it_may() -> None:
    kit = makers()
    assert [made(kit, "alice", name) for name in ("a1", "a2", "a3")] == [True, True, False]
    assert made(kit, "alice", "a1", queues=8)  # one that it has is changed
    assert made(kit, "bob", "b1")
    assert all(made(kit, "root", f"r{number}") for number in range(3))
    first = {**SEND, "c": "TBW102", "d": "4"}  # a first send makes a topic, too
    assert "could not be made" in ask_as(kit, "alice", 310, {**first, "b": "a4"}, b"x").remark
    assert ask_as(kit, "bob", 310, {**first, "b": "b2"}, b"x").code == OK
    assert not made(kit, "bob", "b3")
    assert ask_as(kit, "alice", 215, {"topic": "a1"}).code == OK
    assert made(kit, "alice", "a3")
    assert ask_as(kit, "root", 25, {}, b"userTopicsMax=0\n").code == OK
    assert made(kit, "alice", "a4")


def test_makers_are_known_after_a_restart() -> None:
    kit = makers()
    assert made(kit, "alice", "a1")
    kit = kit.restarted()
    assert ask_as(kit, "root", 25, {}, b"userTopicsMax=2\n").code == OK
    assert [made(kit, "alice", name) for name in ("a2", "a3")] == [True, False]


def test_refusals_are_shown() -> None:
    limits = RequestLimits(LimitConfig(address_connections=1), {}, None)
    assert limits.opened("10.0.0.9")
    assert not limits.opened("10.0.0.9")
    (metric,) = limits.metrics(Now(0, 0))
    assert [sample.value for sample in metric.samples] == [1]
