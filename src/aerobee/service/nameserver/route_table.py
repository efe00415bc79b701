"""RouteTable has the registered brokers and their topics: all state of a name server but
key-values.

    name ─▶ broker: cluster, zone
              ├─ members: id ─▶ address, connection, version, last heartbeat
              └─ topics: name ─▶ queues

Everything belongs to a broker, so that removing a broker removes all of its data and nothing can be
left over. A route is built when it is asked for.

Differences from Apache's RouteInfoManager, with reasons, are in the decision on registrations:
every upload is applied, whatever its data version, unless it is older than one that came before it
on the same connection; and a wiped write permission is a flag of the broker, so that restoring it
brings back the former permissions.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple, cast

from aerobee.errors import RemoteProtocolError
from aerobee.model.flags import Permission
from aerobee.model.route import MASTER_ID, BrokerData, ClusterInfo, QueueData, TopicRoute
from aerobee.model.topic import UNIT, UNIT_SUBSCRIPTION, DataVersion
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.protocol.bodies.register_broker import RegisterBroker
from aerobee.protocol.text.json_text import Key, Parsed, Value, write_compact

# A topic for brokers only: they must see the real master, not an acting one.
_MEMBERSHIP_TOPIC_PREFIX = "rmq_sys_SYNC_BROKER_MEMBER_"


class RouteLimits(NamedTuple):
    """Limits of the state that peers can create. A topic on a broker costs about 250 bytes."""

    brokers_max: int = 1_000
    members_max: int = 32
    """Members of one broker name."""
    topics_max: int = 500_000
    """Topics of all brokers, a topic counted once for each."""
    name_chars_max: int = 255
    mapping_bytes_max: int = 16 << 20
    """Encoded mappings of static topics, of all brokers."""


_LIMITS = RouteLimits()


class BrokerPlace(NamedTuple):
    """The identity of a broker in a request."""

    cluster: str
    name: str
    broker_id: int
    address: str


class BrokerEntry(NamedTuple):
    place: BrokerPlace
    upload: RegisterBroker
    expiry_ms: int
    """How long it stays without a heartbeat."""
    ha_address: str = ""
    zone: str = ""
    is_acting_enabled: bool | None = None
    """Whether a slave may act as the master; None: the broker's version does not know of it."""


class Registered(NamedTuple):
    """The master's addresses, for a slave; empty for a master, or if there is none."""

    master_address: str = ""
    master_ha_address: str = ""


class MinIdChange(NamedTuple):
    """A change of the smallest broker id of one name, whose slaves may act as master."""

    addresses: Mapping[int, str]
    """Of all members after it, by broker id."""
    offline_address: str = ""
    """Of the member that had the smallest id and left; empty: a smaller one came."""
    ha_address: str = ""
    """Where the member that came serves its log."""


class _Member:
    """One broker process.

    M1. `version` is the newest that it registered over its present connection; `is_whole` tells
    whether the topics here are all that it has at that version.
    """

    __slots__ = ("address", "channel", "expiry_ms", "ha_address", "heard_ms", "is_whole", "version")

    def __init__(self, registration: BrokerEntry, channel: ChannelId, heard_ms: int) -> None:
        self.address = registration.place.address
        self.ha_address = registration.ha_address
        self.expiry_ms = registration.expiry_ms
        self.channel = channel
        self.heard_ms = heard_ms
        self.version = registration.upload.version
        self.is_whole = True  # the first upload of a connection is of all topics

    def follow(self, earlier: "_Member", upload: RegisterBroker, known: Collection[str]) -> bool:
        """Take over the state of an earlier registration of the same process. Returns whether that
        one is newer: brokers register from several threads."""
        if earlier.channel != self.channel:
            return False
        if self.version < earlier.version:
            self.version, self.is_whole = earlier.version, earlier.is_whole
            return True
        if not upload.topics.keys() >= set(known):
            # An upload of changed topics only: it is complete if that was one change.
            steps = self.version.counter - earlier.version.counter
            is_next = steps <= 1 and self.version.state_version == earlier.version.state_version
            self.is_whole = earlier.is_whole and is_next
        return False

    def is_silent(self, now: Now) -> bool:
        return self.heard_ms + self.expiry_ms < now.monotonic_ms


class _Broker:
    """The processes of one broker name: a master and its slaves, and the topics that they share."""

    __slots__ = (
        "cluster",
        "is_acting_enabled",
        "is_wiped",
        "mapping_sizes",
        "mappings",
        "members",
        "name",
        "term",
        "topics",
        "zone",
    )

    def __init__(self, place: BrokerPlace) -> None:
        self.cluster = place.cluster
        self.name = place.name
        self.zone = ""
        # The newest that one of them has registered with, also of one that is gone.
        self.term = 0
        self.is_acting_enabled = False
        self.is_wiped = False
        self.members: dict[int, _Member] = {}
        self.topics: dict[str, QueueData] = {}
        self.mappings: dict[str, Mapping[Key, Parsed]] = {}
        # The encoded size of each.
        self.mapping_sizes: dict[str, int] = {}

    def take(self, upload: RegisterBroker, *, was_overtaken: bool) -> None:
        """Take over the topics of an upload; of an overtaken one, only topics that are not
        known."""
        for name, config in upload.topics.items():
            if was_overtaken and name in self.topics:
                continue
            self.topics[name] = QueueData(
                self.name,
                config.read_queues,
                config.write_queues,
                config.permission,
                config.sys_flag,
            )
            if name in upload.mappings:
                self.mappings[name] = upload.mappings[name]
                self.mapping_sizes[name] = _size(upload.mappings[name])

    def queues_of(self, topic: str) -> QueueData:
        """The queues as clients see them: without write permission while wiped, or while a slave
        acts as master."""
        queues = self.topics[topic]
        if self.is_wiped or (self.is_acting_enabled and MASTER_ID not in self.members):
            return queues._replace(permission=queues.permission & ~Permission.WRITE)
        return queues

    def data(self, *, shows_acting_master: bool = False) -> BrokerData:
        addresses = {number: member.address for number, member in self.members.items()}
        if shows_acting_master and self.is_acting_enabled and MASTER_ID not in addresses:
            addresses[MASTER_ID] = addresses.pop(min(addresses))
        return BrokerData(self.cluster, self.name, addresses, self.is_acting_enabled, self.zone)

    def told_of_master(self, number: int) -> Registered:
        master = self.members.get(MASTER_ID)
        if number == MASTER_ID or master is None:
            return Registered()
        return Registered(master.address, master.ha_address)


class RouteTable:
    """R1. Every broker in the table has a member.
    R2. An address is at most once among the members of a broker."""

    def __init__(self, limits: RouteLimits = _LIMITS) -> None:
        self._limits = limits
        self._brokers: dict[str, _Broker] = {}
        self._min_changes: list[MinIdChange] = []

    # Requests of brokers.

    def register(self, registration: BrokerEntry, channel: ChannelId, now: Now) -> Registered:
        """Add a broker and its topics. RemoteProtocolError: it is refused, and nothing is
        changed."""
        place, upload = registration.place, registration.upload
        broker = self._broker_for(place)
        earlier = broker.members.get(place.broker_id)
        if earlier is not None and earlier.address != place.address:
            if earlier.version.state_version > upload.version.state_version:
                return Registered()  # a master that was replaced and does not know it yet
            earlier = None
        if earlier is None and len(upload.topics) == 1:
            raise RemoteProtocolError(
                f"broker {place.name} must register with all its topics before it does with one"
            )
        self._check_room(broker, place, upload)
        member = _Member(registration, channel, now.monotonic_ms)
        was_overtaken = earlier is not None and member.follow(earlier, upload, broker.topics)
        smallest = min(broker.members, default=MASTER_ID)
        # Keeps R2: a slave that became the master must not have two ids.
        for number, other in list(broker.members.items()):
            if other.address == place.address:
                del broker.members[number]
        broker.members[place.broker_id] = member
        broker.zone = registration.zone
        broker.term = max(broker.term, upload.version.state_version)
        broker.is_acting_enabled = bool(registration.is_acting_enabled)
        self._brokers[place.name] = broker
        knows_acting = registration.is_acting_enabled is not None
        if place.broker_id == (min(broker.members) if knows_acting else MASTER_ID):
            broker.take(upload, was_overtaken=was_overtaken)
        if place.broker_id < smallest:
            self._note_min_change(broker, ha_address=member.ha_address)
        return broker.told_of_master(place.broker_id)

    def unregister(self, place: BrokerPlace) -> None:
        broker = self._brokers.get(place.name)
        if broker is None or broker.cluster != place.cluster:
            return
        for number, member in list(broker.members.items()):
            if member.address == place.address:
                self._remove(broker, number)

    def refresh(self, place: BrokerPlace, now: Now) -> None:
        """Note a heartbeat of a broker. One that is not in the table has to register."""
        member = self._find_member(place)
        if member is not None:
            member.heard_ms = now.monotonic_ms

    def find_version(self, place: BrokerPlace) -> DataVersion | None:
        """The version of the topics in the table."""
        member = self._find_member(place)
        return member.version if member is not None else None

    def is_current(self, place: BrokerPlace, version: DataVersion) -> bool:
        """Whether the table has everything that a broker has at this version."""
        member = self._find_member(place)
        return member is not None and member.is_whole and member.version == version

    # Removal.

    def drop_channel(self, channel: ChannelId) -> list[str]:
        """A connection closed: remove the members that registered over it. Returns their
        addresses."""
        return self._drop(lambda member: member.channel == channel)[0]

    def drop_silent(self, now: Now) -> tuple[list[str], set[ChannelId]]:
        """Remove members without a heartbeat for too long. Returns their addresses, and the
        connections that no member is left on."""
        addresses, channels = self._drop(lambda member: member.is_silent(now))
        in_use = {m.channel for broker in self._brokers.values() for m in broker.members.values()}
        return addresses, channels - in_use

    def take_min_changes(self) -> list[MinIdChange]:
        """Changes of smallest ids since the last call."""
        changes, self._min_changes = self._min_changes, []
        return changes

    # Requests of clients.

    def find_route(
        self, topic: str, *, zone: str = "", shows_acting_master: bool = False
    ) -> TopicRoute | None:
        """`zone`: only brokers of this zone, or without a master; empty: all."""
        brokers = [
            broker
            for broker in self._brokers.values()
            if topic in broker.topics
            and (not zone or MASTER_ID not in broker.members or broker.zone.lower() == zone.lower())
        ]
        if not brokers:
            return None
        shows_acting_master = shows_acting_master and not topic.startswith(_MEMBERSHIP_TOPIC_PREFIX)
        return TopicRoute(
            queues=tuple(broker.queues_of(topic) for broker in brokers),
            brokers=tuple(
                broker.data(shows_acting_master=shows_acting_master) for broker in brokers
            ),
            mappings={b.name: b.mappings[topic] for b in brokers if topic in b.mappings},
        )

    def cluster_info(self) -> ClusterInfo:
        return ClusterInfo(tuple(broker.data() for broker in self._brokers.values()))

    def find_broker(self, name: str) -> BrokerData | None:
        broker = self._brokers.get(name)
        return broker.data() if broker is not None else None

    def find_term(self, name: str) -> int:
        """The newest term of a broker of this name, as long as one of them has been there since."""
        broker = self._brokers.get(name)
        return broker.term if broker is not None else 0

    def topics(self, cluster: str | None = None) -> list[str]:
        """All topics, or those of one cluster."""
        found: dict[str, None] = {}
        for broker in self._brokers.values():
            if cluster is None or broker.cluster == cluster:
                found.update(dict.fromkeys(broker.topics))
        return list(found)

    def topics_by_unit(self, *, is_unit: bool | None, has_subscription: bool | None) -> list[str]:
        """Topics by the bits of their system flag; None: either value."""
        found: dict[str, None] = {}
        for broker in self._brokers.values():
            for topic, queues in broker.topics.items():
                if is_unit in (None, bool(queues.sys_flag & UNIT)) and has_subscription in (
                    None,
                    bool(queues.sys_flag & UNIT_SUBSCRIPTION),
                ):
                    found[topic] = None
        return list(found)

    # Requests of administrators.

    def set_wiped(self, name: str, *, is_wiped: bool) -> int:
        """Take away the write permission of all topics of a broker, or restore it. Returns the
        number of topics."""
        broker = self._brokers.get(name)
        if broker is None:
            return 0
        broker.is_wiped = is_wiped
        return len(broker.topics)

    def forget_topic(self, topic: str, cluster: str = "") -> None:
        """Remove a topic, in one cluster or in all, until a broker uploads it again."""
        for broker in self._brokers.values():
            if cluster in ("", broker.cluster):
                broker.topics.pop(topic, None)
                broker.mappings.pop(topic, None)
                broker.mapping_sizes.pop(topic, None)

    def add_topic(self, topic: str, queues: Iterable[QueueData]) -> None:
        """Add one topic on several brokers. All of them must be registered, or nothing is done."""
        wanted = {queue.broker_name: queue for queue in queues}
        for name in wanted:
            if name not in self._brokers:
                raise RemoteProtocolError(f"broker {name[:100]} is not registered")
        self._check_topics(topic for name in wanted if topic not in self._brokers[name].topics)
        for name, queue in wanted.items():
            self._brokers[name].topics[topic] = queue

    # Internals.

    def _broker_for(self, place: BrokerPlace) -> _Broker:
        """The broker of this name, or a new one that is not in the table yet."""
        broker = self._brokers.get(place.name)
        if broker is None:
            return _Broker(place)
        if broker.cluster == place.cluster:
            return broker
        if all(member.address == place.address for member in broker.members.values()):
            return _Broker(place)  # the same process, moved to another cluster
        raise RemoteProtocolError(
            f"broker {place.name} is in cluster {broker.cluster}, not in {place.cluster}"
        )

    def _check_room(self, broker: _Broker, place: BrokerPlace, upload: RegisterBroker) -> None:
        limits = self._limits
        for text in (place.cluster, place.name, place.address):
            self._check_name(text)
        if place.name not in self._brokers and len(self._brokers) >= limits.brokers_max:
            raise RemoteProtocolError(f"there are {limits.brokers_max} brokers already")
        if place.broker_id not in broker.members and len(broker.members) >= limits.members_max:
            raise RemoteProtocolError(
                f"broker {place.name} has {limits.members_max} members already"
            )
        self._check_topics(topic for topic in upload.topics if topic not in broker.topics)
        self._check_mappings(broker, upload)

    def _check_mappings(self, broker: _Broker, upload: RegisterBroker) -> None:
        if not upload.mappings:
            return
        size = sum(map(_size, upload.mappings.values())) + sum(
            known
            for other in self._brokers.values()
            for topic, known in other.mapping_sizes.items()
            if other is not broker or topic not in upload.mappings  # else it is replaced
        )
        if size > self._limits.mapping_bytes_max:
            raise RemoteProtocolError(
                f"more than {self._limits.mapping_bytes_max} bytes of mappings on all brokers"
            )

    def _check_topics(self, added: Iterable[str]) -> None:
        count = sum(len(broker.topics) for broker in self._brokers.values())
        for topic in added:
            self._check_name(topic)
            count += 1
        if count > self._limits.topics_max:
            raise RemoteProtocolError(f"more than {self._limits.topics_max} topics on all brokers")

    def _check_name(self, name: str) -> None:
        if not 0 < len(name) <= self._limits.name_chars_max:
            raise RemoteProtocolError(
                f"the name {name[:40]!r} has {len(name)} characters, "
                f"where 1 to {self._limits.name_chars_max} are allowed"
            )

    def _find_member(self, place: BrokerPlace) -> _Member | None:
        broker = self._brokers.get(place.name)
        if broker is None or broker.cluster != place.cluster:
            return None
        return next((m for m in broker.members.values() if m.address == place.address), None)

    def _drop(self, is_gone: Callable[[_Member], bool]) -> tuple[list[str], set[ChannelId]]:
        """Remove members; returns their addresses and connections."""
        addresses = []
        channels = set()
        for broker in list(self._brokers.values()):
            for number, member in list(broker.members.items()):
                if is_gone(member):
                    addresses.append(member.address)
                    channels.add(member.channel)
                    self._remove(broker, number)
        return addresses, channels

    def _remove(self, broker: _Broker, number: int) -> None:
        """Remove a member. Keeps R1."""
        member = broker.members.pop(number)
        if not broker.members:
            del self._brokers[broker.name]
        elif number < min(broker.members):
            self._note_min_change(broker, offline_address=member.address)

    def _note_min_change(
        self, broker: _Broker, *, offline_address: str = "", ha_address: str = ""
    ) -> None:
        if broker.is_acting_enabled:
            addresses = broker.data().addresses
            self._min_changes.append(MinIdChange(addresses, offline_address, ha_address))


def _size(mapping: Mapping[Key, Parsed]) -> int:
    return len(write_compact(cast("Mapping[Key, Value]", mapping)))
