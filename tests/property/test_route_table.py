"""The route table against flat lists of facts, under random registrations, losses and commands."""

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from aerobee.errors import RemoteProtocolError
from aerobee.model.route import QueueData
from aerobee.model.topic import DataVersion, TopicConfig
from aerobee.ports.service import ChannelId
from aerobee.protocol.bodies.register_broker import RegisterBroker
from aerobee.service.nameserver.route_table import (
    BrokerEntry,
    BrokerPlace,
    Registered,
    RouteTable,
)
from aerobee.sim.clock import SimClock

TOPICS = ("T1", "T2", "T3")
NAMES = ("a", "b")

# Mostly the same few processes, each over its own connection: else they would hardly ever meet.
usual_places = st.sampled_from(
    (
        BrokerPlace("c", "a", 0, "h:1"),
        BrokerPlace("c", "a", 1, "h:2"),
        BrokerPlace("c", "b", 0, "h:3"),
    )
)
any_places = st.builds(
    BrokerPlace,
    cluster=st.sampled_from(("c", "c", "c", "x")),
    name=st.sampled_from(NAMES),
    broker_id=st.integers(0, 2),
    address=st.sampled_from(("h:1", "h:2", "h:3")),
)
places = usual_places | usual_places | usual_places | any_places
versions = st.builds(DataVersion, st.integers(0, 1), st.integers(0, 3), st.just(0))
uploads = st.builds(
    lambda topics, version: RegisterBroker(
        {
            name: TopicConfig(name, queues, queues, permission)
            for name, queues, permission in topics
        },
        version,
    ),
    st.lists(
        st.tuples(st.sampled_from(TOPICS), st.integers(1, 9), st.sampled_from((4, 6, 7))),
        unique_by=lambda topic: topic[0],
    ),
    versions,
)
channels = st.integers(1, 3).map(ChannelId)


def usual_channel(place: BrokerPlace) -> ChannelId:
    return ChannelId(1 if place.address == "h:3" else int(place.address[-1]))


@dataclass
class Fact:
    """One process, as it registered last."""

    place: BrokerPlace
    channel: ChannelId
    heard_ms: int
    expiry_ms: int
    version: DataVersion
    acting: bool | None


@dataclass
class Facts:
    """What ought to be known, as lists that are searched from end to end."""

    processes: list[Fact] = field(default_factory=list)
    topics: dict[tuple[str, str], QueueData] = field(default_factory=dict)
    wiped: set[str] = field(default_factory=set)
    acting: dict[str, bool] = field(default_factory=dict)

    def of(self, name: str) -> list[Fact]:
        return [fact for fact in self.processes if fact.place.name == name]

    def ids(self, name: str) -> set[int]:
        return {fact.place.broker_id for fact in self.of(name)}

    def keep(self, kept: list[Fact]) -> None:
        self.processes = kept
        alive = {fact.place.name for fact in kept}
        self.topics = {key: queue for key, queue in self.topics.items() if key[0] in alive}
        self.wiped &= alive

    def register(self, place: BrokerPlace, upload: RegisterBroker, fact: Fact) -> None:
        """ValueError: refused."""
        others = [f for f in self.of(place.name) if f.place.cluster != place.cluster]
        if others:
            if any(f.place.address != place.address for f in others):
                raise ValueError("another cluster's")
            self.check_single(None, upload)
            self.keep([f for f in self.processes if f not in others])
        same_id = [f for f in self.of(place.name) if f.place.broker_id == place.broker_id]
        earlier = same_id[0] if same_id and same_id[0].place.address == place.address else None
        state_version = upload.version.state_version
        if earlier is None and any(f.version.state_version > state_version for f in same_id):
            return
        self.check_single(earlier, upload)
        is_late = (
            earlier is not None
            and earlier.channel == fact.channel
            and upload.version < earlier.version
        )
        if is_late and earlier is not None:
            fact.version = earlier.version
        self.processes = [
            f
            for f in self.processes
            if f.place.name != place.name
            or (f.place.broker_id != place.broker_id and f.place.address != place.address)
        ] + [fact]
        self.acting[place.name] = bool(fact.acting)
        first = 0 if fact.acting is None else min(self.ids(place.name))
        if place.broker_id == first:
            for topic in upload.topics.values():
                key = (place.name, topic.name)
                if not is_late or key not in self.topics:
                    self.topics[key] = QueueData(
                        place.name, topic.read_queues, topic.write_queues, topic.permission, 0
                    )

    def check_single(self, earlier: Fact | None, upload: RegisterBroker) -> None:
        if earlier is None and len(upload.topics) == 1:
            raise ValueError("one topic only")

    def route(self, topic: str) -> dict[str, tuple[QueueData, dict[int, str]]]:
        found = {}
        for (name, known), queue in self.topics.items():
            if known == topic:
                if name in self.wiped or (self.acting[name] and 0 not in self.ids(name)):
                    queue = queue._replace(permission=queue.permission & 5)
                found[name] = (
                    queue,
                    {f.place.broker_id: f.place.address for f in self.of(name)},
                )
        return found


class RouteTableMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.clock = SimClock()
        self.table = RouteTable()
        self.facts = Facts()

    @rule(
        place=places,
        upload=uploads,
        chosen=st.none() | st.none() | channels,
        expiry_ms=st.sampled_from((10, 20)),
        acting=st.sampled_from((None, False, True)),
    )
    def register(
        self,
        place: BrokerPlace,
        upload: RegisterBroker,
        chosen: ChannelId | None,
        expiry_ms: int,
        acting: bool | None,
    ) -> None:
        channel = chosen or usual_channel(place)
        now = self.clock.now()
        fact = Fact(place, channel, now.monotonic_ms, expiry_ms, upload.version, acting)
        registration = BrokerEntry(place, upload, expiry_ms, f"ha-{place.address}", "", acting)
        try:
            self.facts.register(place, upload, fact)
        except ValueError:
            try:
                self.table.register(registration, channel, now)
            except RemoteProtocolError:
                return
            raise AssertionError("this should have been refused") from None
        told = self.table.register(registration, channel, now)
        masters = [f for f in self.facts.of(place.name) if f.place.broker_id == 0]
        if fact in self.facts.processes and place.broker_id != 0 and masters:
            address = masters[0].place.address
            assert told == Registered(address, f"ha-{address}")
        else:
            assert told == Registered()

    @rule(place=places)
    def unregister(self, place: BrokerPlace) -> None:
        self.table.unregister(place)
        self.facts.keep(
            [
                f
                for f in self.facts.processes
                if (f.place.cluster, f.place.name, f.place.address)
                != (place.cluster, place.name, place.address)
            ]
        )

    @rule(place=places)
    def refresh(self, place: BrokerPlace) -> None:
        self.table.refresh(place, self.clock.now())
        for fact in self.facts.processes:
            if fact.place._replace(broker_id=0) == place._replace(broker_id=0):
                fact.heard_ms = self.clock.now().monotonic_ms

    @rule(channel=channels)
    def close(self, channel: ChannelId) -> None:
        gone = [f.place.address for f in self.facts.processes if f.channel == channel]
        assert sorted(self.table.drop_channel(channel)) == sorted(gone)
        self.facts.keep([f for f in self.facts.processes if f.channel != channel])

    @rule(ms=st.integers(1, 12))
    def pass_time(self, ms: int) -> None:
        now = self.clock.advance(ms)
        kept = [f for f in self.facts.processes if f.heard_ms + f.expiry_ms >= now.monotonic_ms]
        gone = [f for f in self.facts.processes if f not in kept]
        addresses, closed = self.table.drop_silent(now)
        assert sorted(addresses) == sorted(f.place.address for f in gone)
        assert closed == {f.channel for f in gone} - {f.channel for f in kept}
        self.facts.keep(kept)

    @rule(name=st.sampled_from(NAMES), is_wiped=st.booleans())
    def wipe(self, name: str, is_wiped: bool) -> None:
        count = self.table.set_wiped(name, is_wiped=is_wiped)
        assert count == sum(known == name for known, _ in self.facts.topics)
        if is_wiped and self.facts.of(name):
            self.facts.wiped.add(name)
        else:
            self.facts.wiped.discard(name)

    @rule(topic=st.sampled_from(TOPICS))
    def forget(self, topic: str) -> None:
        self.table.forget_topic(topic)
        self.facts.topics = {k: q for k, q in self.facts.topics.items() if k[1] != topic}

    @invariant()
    def routes_are_those_of_the_facts(self) -> None:
        for topic in TOPICS:
            found = self.table.find_route(topic)
            routed: dict[str, Any] = {}
            if found is not None:
                for queue, broker in zip(found.queues, found.brokers, strict=True):
                    assert queue.broker_name == broker.name
                    routed[broker.name] = (queue, dict(broker.addresses))
            assert routed == self.facts.route(topic)
        assert sorted(self.table.topics()) == sorted({topic for _, topic in self.facts.topics})

    @invariant()
    def brokers_are_those_of_the_facts(self) -> None:
        found = {
            (broker.cluster, broker.name, number, address)
            for broker in self.table.cluster_info().brokers
            for number, address in broker.addresses.items()
        }
        assert found == {
            (f.place.cluster, f.place.name, f.place.broker_id, f.place.address)
            for f in self.facts.processes
        }
        for fact in self.facts.processes:
            assert self.table.find_version(fact.place) == fact.version


TestRouteTable = RouteTableMachine.TestCase
