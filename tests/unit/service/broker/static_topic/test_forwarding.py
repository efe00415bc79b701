import pytest

from aerobee.model.route import BrokerData, TopicRoute
from aerobee.ports.clock import Now
from aerobee.ports.service import Dial, Effects
from aerobee.protocol.bodies.topic_route import encode_topic_route
from aerobee.protocol.headers.offsets import QueueHeader
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.static_topic.forwarding import WAITING_MAX, Forwarding
from aerobee.service.broker.static_topic.translation import Ask
from aerobee.service.request import Answer
from aerobee.service.topic_routes import TopicRoutes

ASK = Ask("broker-b", RequestCode.GET_MIN_OFFSET, QueueHeader("T", 3))
ROUTE = TopicRoute(
    (), (BrokerData("c", "broker-b", {0: "b:1"}), BrokerData("c", "broker-c", {1: "c:1"}))
)
NOW = Now(0, 0)


class Rig:
    def __init__(self) -> None:
        self.outbox: Effects = []
        self.routes = TopicRoutes(["ns:1"], self.outbox)
        self.forwarding = Forwarding(self.routes, self.outbox)
        self.told: list[Answer] = []

    def ask(self, ask: Ask = ASK, *, is_routed: bool = True) -> None:
        before = len(self.outbox)
        self.forwarding.ask("T", ask, NOW, self.told.append)
        for dial in self.outbox[before:]:
            if isinstance(dial, Dial) and dial.address == "ns:1":
                body = encode_topic_route(ROUTE, is_standard=True)
                found = RemotingCommand(0, body=body) if is_routed else None
                self.outbox.remove(dial)
                self.routes.on_answer(dial.ticket, found, NOW)

    def dials(self) -> list[Dial]:
        return [one for one in self.outbox if isinstance(one, Dial)]


def test_a_request_goes_to_the_master_and_says_that_it_is_physical() -> None:
    rig = Rig()
    rig.ask()
    (dial,) = rig.dials()
    assert (dial.address, dial.command.code) == ("b:1", RequestCode.GET_MIN_OFFSET)
    said = {"topic": "T", "queueId": "3", "lo": "false", "bname": "broker-b"}
    assert dial.command.ext_fields == said
    answer = RemotingCommand(0, ext_fields={"offset": "5"}, body=memoryview(b"xy"))
    rig.forwarding.on_answer("another's", answer, NOW)
    assert rig.told == []
    rig.forwarding.on_answer(dial.ticket, answer, NOW)
    assert rig.told == [Answer(ResponseCode.SUCCESS, "", {"offset": "5"}, b"xy")]


@pytest.mark.parametrize(
    ("answer", "why"), [(None, "does not answer"), (RemotingCommand(4711, remark="hm"), "4711: hm")]
)
def test_a_broker_that_does_not_answer_or_answers_what_nobody_knows_is_an_error(
    answer: RemotingCommand | None, why: str
) -> None:
    rig = Rig()
    rig.ask()
    rig.forwarding.on_answer(rig.dials()[0].ticket, answer, NOW)
    ((code, remark, *_),) = rig.told
    assert code is ResponseCode.SYSTEM_ERROR
    assert "broker-b" in remark
    assert why in remark


@pytest.mark.parametrize(
    ("broker", "is_routed"), [("broker-z", True), ("broker-c", True), ("broker-b", False)]
)
def test_a_broker_without_a_known_master_is_an_error(broker: str, is_routed: bool) -> None:
    rig = Rig()
    rig.ask(ASK._replace(broker=broker), is_routed=is_routed)
    ((code, remark, *_),) = rig.told
    assert (code, broker in remark) == (ResponseCode.SYSTEM_ERROR, True)
    assert rig.dials() == []


def test_requests_that_wait_are_bounded() -> None:
    rig = Rig()
    for _ in range(WAITING_MAX + 1):
        rig.ask()
    assert [one.code for one in rig.told] == [ResponseCode.SYSTEM_BUSY]
    rig.forwarding.on_answer(rig.dials()[0].ticket, None, NOW)
    rig.ask()
    assert len(rig.told) == 2
