from aerobee.model.route import BrokerData, TopicRoute
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Dial, Effects
from aerobee.protocol.bodies.heartbeat import (
    ConsumerBeat,
    Heartbeat,
    decode_heartbeat,
)
from aerobee.protocol.bodies.subscription import make_subscription
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.gateway.broker_requests import BrokerRequests
from aerobee.service.gateway.known_brokers import KnownBrokers
from aerobee.service.gateway.registrations import BEAT_MS, SOON_MS, Registrations

ONE, TWO = ChannelId(1), ChannelId(2)


class Rig:
    def __init__(self) -> None:
        self.outbox: Effects = []
        brokers = KnownBrokers()
        brokers.note(TopicRoute((), (BrokerData("c", "a", {0: "a:1"}),)))
        requests = BrokerRequests(self.outbox)
        self.table = Registrations("me", brokers, requests, lambda now, then: then(()))

    def beats(self, monotonic_ms: int) -> list[Heartbeat]:
        """What brokers hear when time has come so far."""
        return [
            decode_heartbeat(bytes(dial.command.body))
            for dial in self._told(monotonic_ms)
            if dial.command.code == RequestCode.HEART_BEAT
        ]

    def left(self, monotonic_ms: int) -> list[tuple[str, str]]:
        """The producer and consumer groups that brokers hear are gone."""
        return [
            (fields.get("producerGroup", ""), fields.get("consumerGroup", ""))
            for dial in self._told(monotonic_ms)
            if dial.command.code == RequestCode.UNREGISTER_CLIENT
            for fields in [dial.command.ext_fields]
        ]

    def _told(self, monotonic_ms: int) -> list[Dial]:
        self.table.on_tick(Now(0, monotonic_ms))
        told = [effect for effect in self.outbox if isinstance(effect, Dial)]
        self.outbox.clear()
        return told


def consuming(group: str, version: int = 1, **topics: str) -> Heartbeat:
    subscriptions = tuple(
        make_subscription(topic, expression, version) for topic, expression in topics.items()
    )
    return Heartbeat("c", (), (ConsumerBeat(group, subscriptions=subscriptions),))


def test_all_clients_are_one_to_brokers_soon_after_a_change_and_again_and_again() -> None:
    rig = Rig()
    rig.table.put(ONE, Heartbeat("c1", ("t1", "t2")), Now(0, 0))
    rig.table.put(TWO, Heartbeat("c2", ("t2", "t3")), Now(0, 10))
    assert rig.table.rest_ms(Now(0, 10)) == SOON_MS - 10
    assert rig.beats(SOON_MS - 1) == []
    (beat,) = rig.beats(SOON_MS)
    assert (beat.client_id, beat.producers) == ("me", ("t1", "t2", "t3"))
    assert rig.beats(SOON_MS + BEAT_MS - 1) == []
    assert len(rig.beats(SOON_MS + BEAT_MS)) == 1


def test_a_heartbeat_that_says_nothing_new_changes_nothing() -> None:
    rig = Rig()
    rig.table.put(ONE, consuming("g", t="*"), Now(0, 0))
    rig.beats(SOON_MS)
    rig.table.put(ONE, consuming("g", 2, t="*"), Now(0, 500))
    assert rig.beats(500 + SOON_MS) == []


def test_members_of_a_group_are_one_member_with_the_latest_subscriptions() -> None:
    rig = Rig()
    rig.table.put(ONE, consuming("g", 5, t="new", u="*"), Now(0, 0))
    rig.table.put(TWO, consuming("g", 4, t="old", v="*"), Now(0, 0))
    (beat,) = rig.beats(SOON_MS)
    (member,) = beat.consumers
    said = {one.topic: one.expression for one in member.subscriptions}
    assert said == {"t": "new", "u": "*", "v": "*"}


def test_brokers_hear_of_a_group_that_its_last_client_has_left() -> None:
    rig = Rig()
    rig.table.put(ONE, Heartbeat("c1", ("t",)), Now(0, 0))
    rig.table.put(TWO, Heartbeat("c2", ("t",), consuming("g", t="*").consumers), Now(0, 0))
    rig.beats(SOON_MS)
    rig.table.drop(ONE)
    assert rig.left(SOON_MS) == []
    rig.table.drop(TWO)
    assert rig.table.rest_ms(Now(0, SOON_MS)) == 0
    assert rig.left(SOON_MS) == [("t", ""), ("", "g")]
    assert rig.beats(SOON_MS + BEAT_MS) == []
    assert rig.table.rest_ms(Now(0, SOON_MS + BEAT_MS)) is None


def test_one_that_comes_back_in_time_was_never_gone() -> None:
    rig = Rig()
    rig.table.put(ONE, Heartbeat("c1", ("t",)), Now(0, 0))
    rig.beats(SOON_MS)
    rig.table.drop(ONE)
    rig.table.put(TWO, Heartbeat("c2", ("t",)), Now(0, SOON_MS))
    assert rig.left(SOON_MS) == []


def test_producers_of_a_topic_are_asked_in_turn() -> None:
    rig = Rig()
    for channel in (ONE, TWO):
        rig.table.put(channel, Heartbeat("c", ("t",)), Now(0, 0))
    assert rig.table.producers_of("t") == [ONE, TWO]
    rig.table.asked("t", ONE)
    assert rig.table.producers_of("t") == [TWO, ONE]
    assert rig.table.producers_of("other") == []


def test_many_groups_are_told_in_several_heartbeats() -> None:
    rig = Rig()
    topics = tuple(f"t{number:03}" for number in range(450))
    rig.table.put(ONE, Heartbeat("c", topics), Now(0, 0))
    beats = rig.beats(SOON_MS)
    assert [len(beat.producers) for beat in beats] == [200, 200, 50]
    assert sorted(topic for beat in beats for topic in beat.producers) == list(topics)


def test_at_the_end_everything_is_unregistered() -> None:
    rig = Rig()
    rig.table.put(ONE, Heartbeat("c1", ("t",)), Now(0, 0))
    rig.table.leave(Now(0, 0))
    codes = [effect.command.code for effect in rig.outbox if isinstance(effect, Dial)]
    assert codes == [RequestCode.UNREGISTER_CLIENT]
