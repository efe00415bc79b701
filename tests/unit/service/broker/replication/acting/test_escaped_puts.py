import pytest

from aerobee.errors import StoreBusy
from aerobee.model.route import TopicRoute
from aerobee.ports.clock import Now
from aerobee.ports.service import Dial, Effects
from aerobee.protocol.bodies.topic_route import encode_topic_route
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.replication.acting import escaped_puts
from aerobee.service.broker.replication.acting.escaped_puts import (
    PUTS_MAX,
    RETRY_MS,
    EscapedPuts,
    Over,
    RecordWaits,
)
from aerobee.service.topic_routes import TopicRoutes
from tests.acting_kit import route_to
from tests.store_kit import StoreKit, draft, properties


class Rig:
    def __init__(self) -> None:
        self.outbox: Effects = []
        self.routes = TopicRoutes(["ns:1"], self.outbox)
        store = StoreKit().store
        self.puts = EscapedPuts(
            "broker-a", "Cluster", "revive", self.routes, store.appender, self.outbox
        )
        self.known: dict[str, TopicRoute] = {"Orders": route_to("b:1", "c:1")}
        self.ms = 0

    def put(self, topic: bytes = b"Orders", queue_id: int = 0, **named: str) -> int:
        one = draft(topic, queue_id, b"body", properties(**named))
        return self.puts.appender.append(one, 0)

    def sends(self, ms: int = 0) -> list[Dial]:
        """Time passes, name servers answer; the sends that go out."""
        self.ms += ms
        self.puts.on_tick(Now(0, self.ms))
        found = []
        while self.outbox:
            dial = self.outbox.pop(0)
            assert isinstance(dial, Dial)
            if dial.command.code == 310:
                found.append(dial)
                continue
            route = self.known.get(dial.command.ext_fields["topic"])
            body = b"" if route is None else encode_topic_route(route, is_standard=True)
            answer = RemotingCommand(17 if route is None else 0, body=body)
            self.routes.on_answer(dial.ticket, answer, Now(0, self.ms))
        return found

    def answer(self, dial: Dial, code: int | None = 0) -> None:
        answer = None if code is None else RemotingCommand(code)
        self.puts.on_answer(dial.ticket, answer, Now(0, self.ms))


def test_what_is_lasting_ends_before_the_first_put_that_is_not_acknowledged() -> None:
    rig = Rig()
    told: list[bool] = []
    assert [rig.put(), rig.put()] == [1, 2]
    rig.puts.when_safe(2, told.append)
    first, second = rig.sends()
    assert rig.puts.lasting_offset == 0
    rig.answer(second)
    assert (rig.puts.lasting_offset, told) == (0, [])
    rig.answer(first)
    assert (rig.puts.lasting_offset, rig.puts.waiting, told) == (2, 0, [True])


@pytest.mark.parametrize("code", [10, 11, 12])
def test_a_message_that_is_stored_with_too_few_copies_is_not_sent_again(code: int) -> None:
    rig = Rig()
    rig.put()
    rig.answer(rig.sends()[0], code)
    assert rig.puts.waiting == 0


@pytest.mark.parametrize("code", [None, 1, 2, 13, 14, 17])
def test_a_refused_put_goes_to_the_next_master_later(code: int | None) -> None:
    rig = Rig()
    rig.put()
    (dial,) = rig.sends()
    rig.answer(dial, code)
    assert rig.sends(RETRY_MS - 1) == []
    (again,) = rig.sends(1)
    assert (dial.address, again.address) == ("b:1", "c:1")
    rig.answer(again)
    assert rig.puts.lasting_offset == 1


def test_queues_are_spread_and_those_that_the_other_master_has_not_are_folded() -> None:
    rig = Rig()
    for queue_id in (0, 1, 6):
        rig.put(queue_id=queue_id)
    sent = [(dial.address, dial.command.ext_fields["e"]) for dial in rig.sends()]
    assert sent == [("b:1", "0"), ("c:1", "1"), ("b:1", "2")]


def test_a_topic_that_no_other_master_has_goes_to_any_of_the_cluster() -> None:
    rig = Rig()
    rig.put(b"Rare", 3)
    assert rig.sends() == []
    rig.known["Cluster"] = route_to("b:1")
    (dial,) = rig.sends(RETRY_MS)
    assert (dial.address, dial.command.ext_fields["b"], dial.command.ext_fields["e"]) == (
        "b:1",
        "Rare",
        "0",
    )


def test_more_than_may_wait_is_refused_and_nothing_is_lost() -> None:
    rig = Rig()
    for _ in range(PUTS_MAX):
        rig.put()
    with pytest.raises(StoreBusy, match="wait for another master"):
        rig.put()
    assert rig.puts.end_offset == PUTS_MAX
    rig.answer(rig.sends()[0])
    assert rig.put() == PUTS_MAX + 1


def test_bytes_that_may_wait_are_bounded() -> None:
    rig = Rig()
    body = bytes(escaped_puts.BYTES_MAX)
    rig.puts.appender.append(draft(b"Orders", 0, body), 0)
    with pytest.raises(StoreBusy):
        rig.put()


def test_a_record_of_pops_is_lasting_when_the_copies_of_its_messages_are() -> None:
    rig = Rig()
    taken: list[tuple[int, str, Over]] = []
    rig.puts.revive = lambda queue_id, tag, body, over: taken.append((queue_id, tag, over))
    rig.put(b"revive", 5, TAGS="ck")
    ((queue_id, tag, over),) = taken
    assert (queue_id, tag) == (5, "ck")
    copies = [rig.put(), rig.put()]
    over(copies)
    first, second = rig.sends()
    rig.answer(first)
    assert rig.puts.lasting_offset == 0
    rig.answer(second)
    assert rig.puts.lasting_offset == 3
    rig.put(b"revive", 5, TAGS="ack")
    taken[-1][2]([])
    assert rig.puts.lasting_offset == 4


def test_a_record_of_pops_that_the_timer_puts_back_is_refused_and_other_messages_are_not() -> None:
    rig = Rig()
    rig.puts.revive = lambda queue_id, tag, body, over: None
    waiting = {"TIMER_OUT_MS": "5000", "REAL_QID": "0"}
    with pytest.raises(RecordWaits):
        rig.put(b"rmq_sys_wheel_timer", 0, REAL_TOPIC="revive", **waiting)
    assert (rig.puts.end_offset, rig.puts.waiting) == (0, 0)
    assert rig.put(b"rmq_sys_wheel_timer", 0, REAL_TOPIC="Orders", **waiting) == 1


def test_it_needs_a_tick_when_something_is_to_be_sent() -> None:
    rig = Rig()
    assert rig.puts.rest_ms(Now(0, 0)) > 0
    rig.put()
    assert rig.puts.rest_ms(Now(0, 0)) == 0
