"""GET_CONSUMER_LIST_BY_GROUP and the lists of connections, for members and administrators.

Members share a group's queues by the list of its members: every member must get the same one.
"""

from aerobee.protocol.bodies.connections import (
    Connection,
    ConsumerManner,
    encode_client_ids,
    encode_consumer_connections,
    encode_producer_connections,
    encode_producer_table,
)
from aerobee.protocol.headers.clients import ConsumerGroupHeader, ProducerGroupHeader
from aerobee.protocol.remoting.declared_header import NoHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.clients.consumers import Consumers, Member
from aerobee.service.broker.clients.producers import Producers
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.request import Answer, Request


class MemberListHandlers:
    def __init__(self, consumers: Consumers, producers: Producers) -> None:
        self._consumers = consumers
        self._producers = producers

    def rows(self) -> list[Row]:
        code = RequestCode
        client, admin = Lane.CLIENT, Lane.ADMIN
        of_group, of_producers = ConsumerGroupHeader, ProducerGroupHeader
        return [
            row(code.GET_CONSUMER_LIST_BY_GROUP, of_group, self._list, client),
            row(code.GET_CONSUMER_CONNECTION_LIST, of_group, self._show, admin),
            row(
                code.GET_PRODUCER_CONNECTION_LIST,
                of_producers,
                self._show_producers,
                admin,
            ),
            row(code.GET_ALL_PRODUCER_INFO, NoHeader, self._show_all, admin),
        ]

    def _list(self, request: Request, header: ConsumerGroupHeader) -> Answer:
        group = self._consumers.find(header.consumer_group)
        if group is None:
            return Answer(
                ResponseCode.SYSTEM_ERROR,
                f"no consumer for this group, {header.consumer_group[:255]}",
            )
        return Answer(body=encode_client_ids(group.client_ids()))

    def _show(self, request: Request, header: ConsumerGroupHeader) -> Answer:
        group = self._consumers.find(header.consumer_group)
        if group is None:
            return Answer(
                ResponseCode.CONSUMER_NOT_ONLINE,
                f"the consumer group[{header.consumer_group[:255]}] not online",
            )
        return Answer(
            body=encode_consumer_connections(
                map(_connection, group.members.values()),
                ConsumerManner(group.consume_type, group.message_model, group.consume_from),
                group.subscriptions.values(),
                group.said_differently(),
            )
        )

    def _show_producers(self, request: Request, header: ProducerGroupHeader) -> Answer:
        members = self._producers.members(header.producer_group)
        if not members:
            return Answer(
                ResponseCode.SYSTEM_ERROR,
                f"the producer group[{header.producer_group[:255]}] not exist",
            )
        return Answer(body=encode_producer_connections(map(_connection, members)))

    def _show_all(self, request: Request, header: NoHeader) -> Answer:
        groups = self._producers.all()
        return Answer(
            body=encode_producer_table(
                {group: map(_connection, members) for group, members in groups.items()}
            )
        )


def _connection(member: Member) -> Connection:
    return Connection(
        member.client_id,
        member.peer,
        member.language,
        member.version,
        member.beaten_wall_ms,
        member.protocol_type,
    )
