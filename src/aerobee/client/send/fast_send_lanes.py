"""`FastSendLanes` keeps the fast paths of a client (`fast_send`), one for each topic that it sends
to.

A lane is made when a topic's route is known, and dropped when the route changes. There is none
where every request needs the general path: with credentials, which sign each request, with latency
faults, which choose the queue, with traces, and with a small `max_message_bytes`.
"""

from collections.abc import Callable, Sequence

from aerobee.client.connection.session import Session
from aerobee.client.core.namespace import without_namespace
from aerobee.client.core.send.outgoing import Draft
from aerobee.client.core.send.queue_choice import find_queue
from aerobee.client.send.fast_send import FastQueue, FastSend
from aerobee.model.message_queue import MessageQueue
from aerobee.model.properties import INSTANCE_ID, UNIQUE_KEY, encode_properties
from aerobee.protocol.remoting.command_header import CommandHeader
from aerobee.protocol.send.send_frame_template import SendFrameTemplate

HeaderOf = Callable[[Draft, MessageQueue], CommandHeader]

LANE_BYTES_MAX = 1 << 20  # of what one request of a lane may hold: no limit is to be below it


class FastSendLanes:
    def __init__(self, session: Session, header: HeaderOf) -> None:
        """`header` makes the header of a draft for a queue, as every send has it."""
        self._session = session
        self._header = header
        options = session.options
        self._namespace = options.namespace
        self._is_useful = (
            options.credentials is None
            and not options.latency_table
            and not options.trace
            and options.max_message_bytes >= LANE_BYTES_MAX
        )
        said = {INSTANCE_ID: self._namespace} if self._namespace else {}
        self._text = encode_properties(said)
        identity = {UNIQUE_KEY: "i" * session.unique_ids.size}
        self.properties_bytes = len(encode_properties({**identity, **said}))
        """Of what every message of this client says, besides its own."""
        self._lanes: dict[str, FastSend] = {}
        # By what applications call the topic: read at every send.
        self.find = self._lanes.get
        session.routes.watch(self._forget)

    def open(self, topic: str, wire_topic: str, last: MessageQueue | None = None) -> None:
        """Make a lane after a first send to the topic: it begins with the queue after `last`."""
        route = self._session.routes.find(wire_topic)
        if not self._is_useful or route is None or topic in self._lanes:
            return
        queues = []
        for queue in route.writable:
            address = route.master_of(queue)
            if address is None:
                return
            queues.append(self._fast_queue(queue, address))
        if queues:
            session = self._session
            self._lanes[topic] = FastSend(
                queues,
                0 if last is None else _place_of(last, route.writable),
                session.unique_ids,
                session.connections.find,
                session.moment,
                session.options.max_message_bytes,
            )

    def shown(self, queue: MessageQueue) -> MessageQueue:
        """A queue with the application's name of its topic."""
        if not self._namespace:
            return queue
        name = without_namespace(self._namespace, queue.topic)
        return MessageQueue(name, queue.broker_name, queue.queue_id)

    def _fast_queue(self, queue: MessageQueue, address: str) -> FastQueue:
        return FastQueue(
            self.shown(queue),
            address,
            self._template(queue, is_batch=False),
            self._template(queue, is_batch=True),
        )

    def _template(self, queue: MessageQueue, *, is_batch: bool) -> SendFrameTemplate:
        draft = Draft(queue.topic, b"", {}, is_batch=is_batch)
        return SendFrameTemplate(self._header(draft, queue), self._text)

    def _forget(self, wire_topic: str) -> None:
        self._lanes.pop(without_namespace(self._namespace, wire_topic), None)


def _place_of(wanted: MessageQueue, queues: Sequence[MessageQueue]) -> int:
    found = find_queue(queues, wanted)
    return 0 if found is None else queues.index(found)
