import json
import logging

import pytest

from aerobee.model.topic import TopicConfig
from aerobee.ports.service import ChannelId, Peer
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode, reply_to
from tests import wire
from tests.broker_kit import CLIENT, OPAQUE, OTHER, SYNC, BrokerKit, pull_fields
from tests.send_rig import send_frame

ORDERS = TopicConfig("Orders", 4, 4)


def frame(code: int, fields: dict[str, str] | None = None, opaque: int = OPAQUE) -> bytes:
    return b"".join(encode(RemotingCommand(code, opaque=opaque, ext_fields=fields or {})))


@pytest.mark.parametrize("code", [0, 9999, 105, 200999, 32767, -1])
def test_an_unknown_request_is_not_supported_and_the_connection_goes_on(code: int) -> None:
    kit = BrokerKit()
    answer = kit.ask(code)
    assert (answer.code, str(code) in answer.remark) == (3, True)
    assert kit.closed == []
    assert kit.ask(28).code == 0


def test_every_frame_of_a_read_is_answered_each_with_its_opaque() -> None:
    kit = BrokerKit(ORDERS)
    kit.send_frames(
        send_frame(opaque=1)
        + frame(28, opaque=2)
        + send_frame(opaque=3)
        + frame(9999, opaque=4)
        + send_frame({"b": "None", "c": ""}, opaque=5)
        + frame(11, pull_fields(queueId=1), opaque=6)
    )
    kit.finish()
    heard = {answer.opaque: answer.code for answer in kit.heard()}
    assert heard == {1: 0, 2: 0, 3: 0, 4: 3, 5: 17, 6: 0}


def test_what_was_sent_in_a_read_is_visible_to_the_next() -> None:
    kit = BrokerKit(ORDERS)
    kit.send_frames(send_frame())
    kit.heard()
    assert kit.pull(queueId=1).code == 0


def test_a_read_may_be_cut_anywhere() -> None:
    data = send_frame(opaque=1) + frame(28, opaque=2) + send_frame(opaque=3)
    for size in (1, 7, 100):
        kit = BrokerKit(ORDERS)
        for start in range(0, len(data), size):
            kit.send_frames(data[start : start + size])
        assert [answer.opaque for answer in kit.heard()] == [1, 2, 3]
        assert len(kit.bodies(queue_id=1)) == 2


def test_what_came_before_a_broken_frame_counts() -> None:
    kit = BrokerKit(ORDERS)
    kit.send_frames(send_frame() + b"\xff" * 100)
    assert kit.closed == [CLIENT]
    assert len(kit.bodies(queue_id=1)) == 1
    assert kit.ask(28, channel=OTHER).code == 0


def test_a_binary_request_is_answered() -> None:
    kit = BrokerKit()
    kit.send_frames(wire.frame(wire.binary_header(28, {}), b"", 1))
    (answer,) = kit.heard()
    assert (answer.code, answer.serialize_type) == (0, 1)


def test_a_response_that_nobody_waits_for_is_nothing() -> None:
    kit = BrokerKit()
    asked = RemotingCommand(326, opaque=5)
    kit.send_frames(b"".join(encode(reply_to(asked, 0))))
    assert (kit.heard(), kit.closed) == ([], [])


def test_a_mistake_of_a_handler_costs_that_request_and_nothing_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    kit = BrokerKit(ORDERS)
    # The one handler that can be made to fail from outside: its peer never opened a connection.
    stranger = RemotingCommand(310, opaque=9, ext_fields=dict(wire.JAVA_FIELDS))
    with caplog.at_level(logging.CRITICAL):
        effects = kit.broker.on_command(ChannelId(77), stranger, kit.clock.now())
    (reply,) = effects
    assert reply.command.code == 1  # type: ignore[union-attr]
    assert kit.ask(28).code == 0


def test_a_connection_that_closes_is_told_to_those_who_know_it() -> None:
    kit = BrokerKit(ORDERS)
    kit.beat("a", subscriptions={"Orders": "*"})
    kit.beat("b", subscriptions={"Orders": "*"}, channel=OTHER)
    kit.heard(CLIENT)
    kit.close(OTHER)
    assert [command.code for command in kit.heard(CLIENT)] == [40]
    members = json.loads(bytes(kit.ask(38, {"consumerGroup": "g"}).body))
    assert members["consumerIdList"] == ["a"]


def test_a_client_on_an_ipv6_address_is_remembered_with_it() -> None:
    kit = BrokerKit(ORDERS)
    kit.open(ChannelId(6), Peer("fe80::1%eth0", 5000))
    kit.send_frames(send_frame(), ChannelId(6))
    kit.ask(310, {**wire.JAVA_FIELDS, "i": ""}, channel=CLIENT)
    first, second = kit.messages(queue_id=1)
    assert first.born_host == ("fe80::1", 5000)
    assert second.born_host == ("10.0.0.9", 40_001)


def test_a_broker_that_has_nothing_to_do_rests_and_wakes_for_what_is_due() -> None:
    kit = BrokerKit(ORDERS)
    kit.run(3_000)
    rest = kit.broker.rest_ms(kit.clock.now())
    assert 0 < rest <= 500
    # A pull that is held is answered when it is due, and not when the rest is over.
    kit.tell(11, pull_fields(sysFlag=6, suspendTimeoutMillis=120))
    assert kit.broker.rest_ms(kit.clock.now()) == 120
    kit.send_frames(send_frame())
    assert kit.broker.rest_ms(kit.clock.now()) == 0


def test_what_was_answered_is_there_after_every_kind_of_end() -> None:
    for storage, is_sync in ((None, False), (SYNC, True)):
        kit = BrokerKit(ORDERS, storage=storage) if storage else BrokerKit(ORDERS)
        kit.send_frames(send_frame(body=b"one"))
        kit.finish()
        assert kit.killed().bodies(queue_id=1) == [b"one"]
        assert kit.restarted().bodies(queue_id=1) == [b"one"]
        if is_sync:
            kit = BrokerKit(ORDERS, storage=SYNC)
            kit.send_frames(send_frame(body=b"two"))
            kit.finish()
            assert kit.power_cut().bodies(queue_id=1) == [b"two"]
