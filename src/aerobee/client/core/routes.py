"""`ClientRoute`: the route of a topic as a client uses it, made from a name server's answer.

The name server's route has numbers of queues per broker and addresses per broker id. A client needs
lists: the queues that it may write to, those that it may read from, and an address for each.

R1. Writable queues are on brokers whose master is known, sorted by broker name, then by id; an
    order configuration replaces them by the queues that it names.
R2. A topic that does not exist may be sent to if the default topic does: with its brokers, and no
    more queues than a producer may ask for.
R3. The queues of a static topic are its logical queues, all of them, whatever brokers they are on;
    `holder` names the broker of each.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace

from aerobee.errors import Misuse
from aerobee.model.flags import is_readable, is_writable
from aerobee.model.message_id import parse_offset_message_id
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.queue_mapping import NO_BROKER, is_logical_broker, logical_queues
from aerobee.model.route import MASTER_ID, BrokerData, QueueData, TopicRoute
from aerobee.protocol.bodies.queue_mapping import decode_infos

DEFAULT_TOPIC = "TBW102"
NEW_TOPIC_QUEUES = 4  # how many queues a topic gets that a send creates, at most


@dataclass(frozen=True, slots=True)
class ClientRoute:
    """The route of one topic, for a client."""

    topic: str
    writable: tuple[MessageQueue, ...]
    readable: tuple[MessageQueue, ...]
    brokers: dict[str, BrokerData] = field(default_factory=dict)
    advertised_by: str = ""
    """The name server that said so: whom to ask when an address cannot be reached."""
    holders: Mapping[int, str] = field(default_factory=dict)
    """Of a static topic: the broker of each logical queue."""
    popped: frozenset[str] = frozenset()
    """The brokers that have messages to pop, which takes no notice of logical queues."""

    @property
    def is_static(self) -> bool:
        return bool(self.holders)

    @property
    def waits_for_master(self) -> bool:
        """Whether a broker has lost its master, and nothing can be written: another one may be
        elected or promoted."""
        return not self.writable and any(self.master(name) is None for name in self.brokers)

    def physical(self, what: str) -> "ClientRoute":
        """This route, of a topic that is no static one. Misuse: it is one, and `what` cannot use
        it."""
        if self.is_static:
            raise Misuse(
                f"{self.topic} is a static topic: {what} needs queues that stay on their brokers",
                hint="use an ordinary topic",
            )
        return self

    def holder(self, queue: MessageQueue) -> str:
        """The name of the broker that has a queue, also of a logical one."""
        if not is_logical_broker(queue.broker_name):
            return queue.broker_name
        return self.holders.get(queue.queue_id, NO_BROKER)

    def keeper(self, queue: MessageQueue, offset_id: str) -> str | None:
        """The address of the broker that has a message of a logical queue, perhaps one that had the
        queue before: its id says it. None for a queue of a broker."""
        if not is_logical_broker(queue.broker_name):
            return None
        stored = parse_offset_message_id(offset_id)
        host = f"[{stored.address}]" if ":" in stored.address else stored.address
        return f"{host}:{stored.port}"

    def master_of(self, queue: MessageQueue) -> str | None:
        """The address that takes what is sent to a queue."""
        return self.master(self.holder(queue))

    def master(self, broker_name: str) -> str | None:
        broker = self.brokers.get(broker_name)
        return None if broker is None else broker.addresses.get(MASTER_ID)

    def has_replicas(self, broker_name: str) -> bool:
        """Whether others have the messages of a broker, so that its master may be replaced."""
        broker = self.brokers.get(broker_name)
        return broker is not None and len(broker.addresses) > 1

    def address(
        self, broker_name: str, broker_id: int = MASTER_ID, avoided: Container[str] = ()
    ) -> str | None:
        """The address of this broker id; else of the next slave, else of any: for reading, any will
        do. One of `avoided` is the last choice.
        """
        broker = self.brokers.get(broker_name)
        if broker is None:
            return None
        found = broker.addresses
        first = found.get(broker_id) or found.get(broker_id + 1)
        if first is not None and first not in avoided:
            return first
        others = (found[number] for number in sorted(found))
        better = next((one for one in others if one not in avoided), None)
        return better or first or next(iter(found.values()), None)


def client_route(topic: str, route: TopicRoute, *, advertised_by: str = "") -> ClientRoute:
    brokers = {broker.name: broker for broker in route.brokers}
    in_order = sorted(route.queues, key=lambda queue: queue.broker_name)
    popped = {
        queue.broker_name
        for queue in route.queues
        if is_readable(queue.permission) and queue.read_queues > 0
    }
    logical = logical_queues(topic, decode_infos(route.mappings.values()))
    if logical:
        queues = tuple(logical)
        holders: dict[int, str] = {queue.queue_id: name for queue, name in logical.items()}
        return ClientRoute(
            topic, queues, queues, brokers, advertised_by, holders, frozenset(popped)
        )
    return ClientRoute(
        topic,
        writable=tuple(_writable(topic, route, in_order, brokers)),
        readable=tuple(
            MessageQueue(topic, queue.broker_name, QueueId(number))
            for queue in in_order
            if is_readable(queue.permission)
            for number in range(queue.read_queues)
        ),
        brokers=brokers,
        advertised_by=advertised_by,
        popped=frozenset(popped),
    )


def route_of_new_topic(topic: str, default: TopicRoute, *, advertised_by: str = "") -> ClientRoute:
    """The route of a topic that the first send will create, from that of the default topic."""
    queues = tuple(
        queue._replace(
            read_queues=min(NEW_TOPIC_QUEUES, queue.read_queues),
            write_queues=min(NEW_TOPIC_QUEUES, queue.read_queues),
        )
        for queue in default.queues
    )
    return client_route(topic, replace(default, queues=queues), advertised_by=advertised_by)


def broker_addresses(routes: Iterable[ClientRoute]) -> dict[str, str]:
    """Every address that the routes name, with the name of its broker."""
    return {
        address: broker.name
        for route in routes
        for broker in route.brokers.values()
        for address in broker.addresses.values()
    }


def _writable(
    topic: str,
    route: TopicRoute,
    in_order: list[QueueData],
    brokers: dict[str, BrokerData],
) -> Iterable[MessageQueue]:
    if route.order_conf:
        for item in route.order_conf.split(";"):
            name, _, count = item.partition(":")
            for number in range(int(count) if count.isdigit() else 0):
                yield MessageQueue(topic, name, QueueId(number))
        return
    for queue in in_order:
        broker = brokers.get(queue.broker_name)
        if broker is None or MASTER_ID not in broker.addresses or not is_writable(queue.permission):
            continue
        for number in range(queue.write_queues):
            yield MessageQueue(topic, queue.broker_name, QueueId(number))
