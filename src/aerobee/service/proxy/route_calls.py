"""QueryRoute and QueryAssignment: the queues of a topic, and where a consumer receives from.

The queues that can be read and written have the first numbers, because one client uses queue 0
alone. Clients talk to the endpoints of the answer only (`entry_points`).
"""

from collections.abc import Iterator

from aerobee.model.flags import is_readable, is_writable
from aerobee.model.message_type import MessageType
from aerobee.model.route import MASTER_ID, QueueData, TopicRoute
from aerobee.model.topic import MESSAGE_TYPE
from aerobee.ports.clock import Now
from aerobee.protocol.grpc.calls import (
    QueryAssignmentRequest,
    QueryAssignmentResponse,
    QueryRouteRequest,
    QueryRouteResponse,
)
from aerobee.protocol.grpc.codes import (
    GrpcCode,
    GrpcMessageType,
    QueuePermission,
)
from aerobee.protocol.grpc.message_mapping import GRPC_TYPES
from aerobee.protocol.grpc.resources import (
    Assignment,
    BrokerEntry,
    Endpoints,
    QueueEntry,
    Resource,
    Status,
)
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.proxy.call_checks import group_in, names_of, topic_in
from aerobee.service.proxy.desk import Desk
from aerobee.service.proxy.entry_points import EntryPoints
from aerobee.service.proxy.open_call import Method, OpenCall, answering
from aerobee.service.proxy.outcomes import OK_STATUS

ANY_QUEUE = -1


class RouteCalls:
    def __init__(self, desk: Desk, entry_points: EntryPoints) -> None:
        self._desk = desk
        self._entry_points = entry_points

    def methods(self) -> list[Method]:
        return [
            Method(
                "QueryRoute",
                RequestCode.GET_ROUTEINFO_BY_TOPIC,
                QueryRouteRequest,
                self._query_route,
                answering(QueryRouteResponse),
                lambda request: names_of(request.topic),
            ),
            Method(
                "QueryAssignment",
                RequestCode.POP_MESSAGE,
                QueryAssignmentRequest,
                self._query_assignment,
                answering(QueryAssignmentResponse),
                lambda request: names_of(request.topic, request.group),
            ),
        ]

    def _query_route(self, call: OpenCall, request: QueryRouteRequest, now: Now) -> None:
        topic = topic_in(request.topic)
        self._desk.check(call.asker, RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": topic}, now)

        def answer(route: TopicRoute | None) -> None:
            if route is None or not route.queues:
                call.answer(QueryRouteResponse(_no_topic(topic)))
                return
            types = self._types(topic)
            assert request.topic is not None
            queues = [
                QueueEntry(request.topic, number, permission, broker, types)
                for data, entry in self._brokers(route, request.endpoints)
                for broker in entry
                for number, permission in enumerate(_permissions(data))
            ]
            call.answer(QueryRouteResponse(OK_STATUS, queues))

        self._desk.find_route(topic, now, answer)

    def _query_assignment(self, call: OpenCall, request: QueryAssignmentRequest, now: Now) -> None:
        topic, group = topic_in(request.topic), group_in(request.group)
        popping = {"topic": topic, "consumerGroup": group}
        self._desk.check(call.asker, RequestCode.POP_MESSAGE, popping, now)
        config = self._desk.find_group(group)
        is_orderly = config is not None and config.is_orderly

        def answer(route: TopicRoute | None) -> None:
            if route is None or not route.queues:
                call.answer(QueryAssignmentResponse(_no_topic(topic)))
                return
            brokers = self._brokers(route, request.endpoints)
            assert request.topic is not None
            assignments = list(_assignments(brokers, request.topic, is_orderly))
            if assignments:
                call.answer(QueryAssignmentResponse(OK_STATUS, assignments))
            else:
                refusal = Status(GrpcCode.FORBIDDEN, "no readable queue")
                call.answer(QueryAssignmentResponse(refusal))

        self._desk.find_route(topic, now, answer)

    def _brokers(
        self, route: TopicRoute, asked: Endpoints | None
    ) -> Iterator[tuple[QueueData, list[BrokerEntry]]]:
        """The queues of each broker name, with its brokers; `asked`: the endpoints that the client
        was told to use."""
        by_name = {broker.name: broker for broker in route.brokers}
        for data in route.queues:
            broker = by_name.get(data.broker_name)
            if broker is not None:
                yield (
                    data,
                    [
                        BrokerEntry(
                            broker.name, number, self._entry_points.of(broker, number, asked)
                        )
                        for number in sorted(broker.addresses)
                    ],
                )

    def _types(self, topic: str) -> list[int]:
        config = self._desk.find_topic(topic)
        if config is None:
            return [GrpcMessageType.UNSPECIFIED]
        return accepted_types(config.attributes.get(MESSAGE_TYPE))


def accepted_types(attribute: str | None) -> list[int]:
    """The types of messages that clients may send to a topic with this attribute."""
    if attribute is None:
        return [GrpcMessageType.NORMAL]
    if attribute == MessageType.MIXED.value:
        types = (MessageType.NORMAL, MessageType.FIFO, MessageType.DELAY, MessageType.TRANSACTION)
        return [GRPC_TYPES[one] for one in types]
    found = [GRPC_TYPES[one] for one in GRPC_TYPES if one.value == attribute]
    return [*found] or [GrpcMessageType.UNSPECIFIED]


def _assignments(
    brokers: Iterator[tuple[QueueData, list[BrokerEntry]]], topic: Resource, is_orderly: bool
) -> Iterator[Assignment]:
    for data, entries in brokers:
        masters = [broker for broker in entries if broker.id == MASTER_ID]
        if not is_readable(data.permission) or not masters:
            continue
        permission = _permission(data.permission)
        for number in range(data.read_queues) if is_orderly else (ANY_QUEUE,):
            yield Assignment(QueueEntry(topic, number, permission, masters[0]))


def _permissions(data: QueueData) -> list[QueuePermission]:
    """The permission of each queue, by its number."""
    reads, writes = data.read_queues, data.write_queues
    if is_readable(data.permission) and is_writable(data.permission):
        both = min(reads, writes)
        return (
            [QueuePermission.READ_WRITE] * both
            + [QueuePermission.READ] * (reads - both)
            + [QueuePermission.WRITE] * (writes - both)
        )
    if is_writable(data.permission):
        return [QueuePermission.WRITE] * writes
    if is_readable(data.permission):
        return [QueuePermission.READ] * reads
    return [QueuePermission.NONE] * max(1, reads, writes)


def _permission(permission: int) -> QueuePermission:
    if is_readable(permission):
        return QueuePermission.READ_WRITE if is_writable(permission) else QueuePermission.READ
    return QueuePermission.WRITE if is_writable(permission) else QueuePermission.NONE


def _no_topic(topic: str) -> Status:
    return Status(
        GrpcCode.TOPIC_NOT_FOUND, f"No topic route info in name server for the topic: {topic}"
    )
