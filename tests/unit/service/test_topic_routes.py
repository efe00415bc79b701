from aerobee.model.route import BrokerData, QueueData, TopicRoute
from aerobee.ports.clock import Now
from aerobee.ports.service import Dial, Effects
from aerobee.protocol.bodies.topic_route import encode_topic_route
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.topic_routes import BELIEVED_MS, TopicRoutes

ROUTE = TopicRoute(
    (QueueData("broker-b", 4, 4, 6, 0),), (BrokerData("c", "broker-b", {0: "10.0.0.2:10911"}),)
)
FOUND = RemotingCommand(0, body=encode_topic_route(ROUTE, is_standard=True))


class Rig:
    def __init__(self, *addresses: str) -> None:
        self.outbox: Effects = []
        self.routes = TopicRoutes(addresses, self.outbox)
        self.told: list[TopicRoute | None] = []

    def find(self, monotonic_ms: int = 0) -> None:
        self.routes.find("T", Now(0, monotonic_ms), self.told.append)

    def answer(self, answer: RemotingCommand | None, monotonic_ms: int = 0) -> str:
        """To the one question that is open; whom it was for."""
        (dial,) = self.outbox
        assert isinstance(dial, Dial)
        assert dial.command.ext_fields == {"topic": "T"}
        self.outbox.clear()
        self.routes.on_answer(dial.ticket, answer, Now(0, monotonic_ms))
        return dial.address


def test_many_who_ask_are_served_by_one_question() -> None:
    rig = Rig("a:1")
    rig.find()
    rig.find()
    assert rig.told == []
    rig.answer(FOUND)
    assert rig.told == [ROUTE, ROUTE]


def test_an_answer_is_believed_for_a_while() -> None:
    rig = Rig("a:1")
    rig.find()
    rig.answer(FOUND, 100)
    rig.find(99 + BELIEVED_MS)
    assert rig.told == [ROUTE, ROUTE]
    rig.find(100 + BELIEVED_MS)
    assert len(rig.told) == 2
    assert len(rig.outbox) == 1


def test_the_next_name_server_is_asked_when_one_does_not_answer() -> None:
    rig = Rig("a:1", "b:1")
    rig.find()
    assert rig.answer(None) == "a:1"
    assert rig.told == []
    assert rig.answer(FOUND) == "b:1"
    assert rig.told == [ROUTE]


def test_nothing_is_known_when_none_answers_or_there_is_none() -> None:
    rig = Rig("a:1")
    rig.find()
    rig.answer(RemotingCommand(17))
    assert rig.told == [None]
    rig.find()
    rig.answer(RemotingCommand(0, body=b"nonsense"))
    assert rig.told == [None, None]
    alone = Rig()
    alone.find()
    assert alone.told == [None]


def test_the_last_route_holds_on_while_nobody_answers_until_the_topic_is_gone() -> None:
    rig = Rig("a:1")
    assert rig.routes.known("T") is None
    rig.find()
    rig.answer(FOUND)
    for nonsense in (None, RemotingCommand(1), RemotingCommand(0, body=b"nonsense")):
        rig.told.clear()
        rig.find(BELIEVED_MS)
        rig.answer(nonsense)
        assert (rig.told, rig.routes.known("T")) == ([ROUTE], ROUTE)
        assert rig.routes.is_silent
    rig.find(BELIEVED_MS)
    rig.answer(RemotingCommand(17))
    assert (rig.told[-1], rig.routes.known("T")) == (None, None)
    assert not rig.routes.is_silent


def test_answers_to_others_are_left_alone() -> None:
    rig = Rig("a:1")
    rig.find()
    rig.routes.on_answer(object(), FOUND, Now(0, 0))
    assert rig.told == []
