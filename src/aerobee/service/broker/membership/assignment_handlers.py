"""QUERY_ASSIGNMENT: assigns queues to a consumer that leaves this to the broker.

A group that pops shares every queue: each member gets the topic as a whole, queue -1, or, if queues
are shared among few members only, its part of them. For a group that pulls, queues are divided
among its members, in the order of their client ids, by one of RocketMQ's two strategies (AVG,
AVG_BY_CIRCLE). Retry topics are always pulled: popped messages come back by another one.

A client asks one broker for the queues of all brokers: the route comes from the name servers.
Without one, or while none answers, only the queues of this broker are known.

Imports more than 15 modules because an assignment needs routes, members, modes and mappings.
"""

from collections.abc import Sequence

from aerobee.model.flags import is_readable
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.names import is_retry_topic
from aerobee.model.queue_mapping import logical_queues
from aerobee.model.route import TopicRoute
from aerobee.protocol.bodies.assignment import (
    POP,
    PULL,
    AssignmentQuestion,
    RequestMode,
    decode_assignment_question,
    encode_assignments,
)
from aerobee.protocol.bodies.queue_mapping import decode_infos
from aerobee.protocol.headers.popping import ANY_QUEUE
from aerobee.protocol.remoting.declared_header import NoHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.broker.clients.consumers import Consumers
from aerobee.service.broker.membership.request_modes import RequestModes
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.state.topics import Topics
from aerobee.service.request import Answer, Request
from aerobee.service.topic_routes import TopicRoutes

BY_CIRCLE = "AVG_BY_CIRCLE"


class AssignmentHandlers:
    def __init__(
        self,
        broker_name: str,
        topics: Topics,
        consumers: Consumers,
        modes: RequestModes,
        routes: TopicRoutes,
    ) -> None:
        self._broker_name = broker_name
        self._topics = topics
        self._consumers = consumers
        self._modes = modes
        self._routes = routes

    def rows(self) -> list[Row]:
        code, lane = RequestCode.QUERY_ASSIGNMENT, Lane.CLIENT
        return [row(code, NoHeader, self._query, lane)]

    def _query(self, request: Request, header: NoHeader) -> None:
        question = decode_assignment_question(request.body)

        def answer(route: TopicRoute | None) -> None:
            mode = self._mode(question)
            queues = self._assigned(question, mode, route)
            request.answer(Answer(body=encode_assignments(queues, mode.mode)))

        self._routes.find(question.topic, request.now, answer)

    def _mode(self, question: AssignmentQuestion) -> RequestMode:
        found = self._modes.find(question.topic, question.group)
        if found is None or is_retry_topic(question.topic):
            return RequestMode(question.topic, question.group, PULL)
        return found

    def _assigned(
        self, question: AssignmentQuestion, mode: RequestMode, route: TopicRoute | None
    ) -> Sequence[MessageQueue] | None:
        """The queues of one client; None: nothing is known, the client keeps what it has."""
        counts = self._queue_counts(question.topic, route)
        if not counts:
            return None
        queues = [
            MessageQueue(question.topic, broker, QueueId(queue_id))
            for broker, count in sorted(counts.items())
            for queue_id in range(count)
        ]
        if question.is_broadcasting:
            return _logical(question.topic, route) or queues
        group = self._consumers.find(question.group)
        members = sorted(group.client_ids()) if group is not None else []
        if question.client_id not in members:
            return None
        mine = members.index(question.client_id)
        if mode.mode != POP:
            queues = _logical(question.topic, route) or queues
            return dealt(queues, len(members), mine, is_by_circle=question.strategy == BY_CIRCLE)
        if 0 < mode.share_queues < len(members) - 1:
            return shared(queues, len(members), mine, mode.share_queues)
        any_queue = QueueId(ANY_QUEUE)
        return [MessageQueue(question.topic, broker, any_queue) for broker in sorted(counts)]

    def _queue_counts(self, topic: str, route: TopicRoute | None) -> dict[str, int]:
        """The number of readable queues of a topic by broker."""
        counts = {}
        if route is not None:
            counts = {
                data.broker_name: data.read_queues
                for data in route.queues
                if is_readable(data.permission)
            }
        own = self._topics.find(topic)
        if own is not None and is_readable(own.permission):
            counts[self._broker_name] = own.read_queues
        return counts


def _logical(topic: str, route: TopicRoute | None) -> list[MessageQueue]:
    """The logical queues of a static topic; none of an ordinary one. Pops take no notice of
    them."""
    mappings = route.mappings if route is not None else {}
    return list(logical_queues(topic, decode_infos(mappings.values())))


def shared(
    queues: Sequence[MessageQueue], members: int, mine: int, share_queues: int
) -> Sequence[MessageQueue]:
    """The part of one member if each queue is popped by a few: its own, and those of the next
    ones."""
    if members > len(queues):
        return [queues[mine % len(queues)]]
    parts = [dealt(queues, members, (mine + step) % members) for step in range(share_queues + 1)]
    return [queue for part in parts for queue in part]


def dealt(
    queues: Sequence[MessageQueue], members: int, mine: int, *, is_by_circle: bool = False
) -> Sequence[MessageQueue]:
    """The part of one member: a range of the queues, or (by circle) every n-th."""
    if is_by_circle:
        return queues[mine::members]
    size, over = divmod(len(queues), members)
    start = mine * size + min(mine, over)
    return queues[start : start + size + (mine < over)]
