"""QueueTurns chooses the queue of a topic's next message, and the broker to receive from.

The writable queues of all masters are numbered, by broker name and queue: a message group has the
queue that its hash names, any other message the next in turn. All proxies number alike.
"""

from aerobee.model.flags import is_readable, is_writable
from aerobee.model.route import MASTER_ID, TopicRoute
from aerobee.protocol.grpc.group_queues import queue_of_group
from aerobee.service.gateway.known_brokers import serving_address
from aerobee.service.proxy.desk import QueuePlace
from aerobee.service.topic_routes import TopicRoutes

_NOWHERE = TopicRoute((), ())


class QueueTurns:
    def __init__(self, routes: TopicRoutes) -> None:
        self._routes = routes
        self._next = 0

    def queue_of(self, topic: str, group: str) -> QueuePlace | None:
        """The queue for a message, of a message group if one is named. None: there is none."""
        route = self._routes.known(topic) or _NOWHERE
        masters = {broker.name for broker in route.brokers if MASTER_ID in broker.addresses}
        places = [
            QueuePlace(data.broker_name, queue_id)
            for data in sorted(route.queues)
            if data.broker_name in masters and is_writable(data.permission)
            for queue_id in range(data.write_queues)
        ]
        if not places:
            return None
        if group:
            return places[queue_of_group(group, len(places))]
        return places[self._turn() % len(places)]

    def broker_of(self, topic: str, wanted: str) -> str:
        """The broker to receive from: the wanted one, if it has readable queues and serves; else
        the next that does. Empty: none does."""
        route = self._routes.known(topic) or _NOWHERE
        serving = {broker.name for broker in route.brokers if serving_address(broker) is not None}
        names = [
            data.broker_name
            for data in sorted(route.queues)
            if data.broker_name in serving and is_readable(data.permission)
        ]
        if wanted in names or not names:
            return wanted if wanted in names else ""
        return names[self._turn() % len(names)]

    def _turn(self) -> int:
        self._next += 1
        return self._next
