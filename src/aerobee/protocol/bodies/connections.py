"""Connected clients of groups, as administrators and other members are told: JSON.

{"consumerIdList":["10.0.0.5@4321#99"]}
{"connectionSet":[{"clientAddr":"10.0.0.5:1234","clientId":"c","language":"JAVA","version":513}],
 "consumeFromWhere":"…","consumeType":"…","messageModel":"…","subscriptionTable":{"T":{…}}}
{"connectionSet":[…]}
{"data":{"group":[{"clientId":"c","language":"JAVA","lastUpdateTimestamp":1700000000000,
 "remoteIP":"/10.0.0.5:1234","version":513}]}}

A client of gRPC has `"protocolType":"grpc"` besides.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from aerobee.model.subscription import ConsumeFrom, ConsumeType, MessageModel, Subscription
from aerobee.protocol.bodies.subscription import subscription_from, subscription_json
from aerobee.protocol.remoting.command_header import LANGUAGES, OTHER_LANGUAGE
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Value, parse, write_compact

# Version 4.0.0 and its number. Those of 3 were counted with gaps: no client of them is about.
_FIRST, _FIRST_NUMBER = 400, 212
_RELEASE = re.compile(r"([0-9])\.([0-9])\.([0-9])(?![0-9])", re.ASCII)


REMOTING = "remoting"
"""The protocol of connections of which nothing else is said."""


class Connection(NamedTuple):
    client_id: str
    address: str
    language: str
    version: int
    beaten_wall_ms: int
    protocol_type: str = REMOTING


class ConsumerManner(NamedTuple):
    """The consume type, model and start rule of a group."""

    consume_type: ConsumeType
    message_model: MessageModel
    consume_from: ConsumeFrom


class ConsumerConnections(NamedTuple):
    """A group that is online."""

    connections: list[Connection]
    manner: ConsumerManner
    subscriptions: list[Subscription]
    mismatches: Mapping[str, Mapping[str, Sequence[str]]]
    """Topics that members disagree on: by expression, the clients that say it. Empty where the
    broker is not ours."""


def encode_client_ids(client_ids: Iterable[str]) -> bytes:
    return write_compact({"consumerIdList": list(client_ids)})


def decode_client_ids(body: bytes) -> tuple[str, ...]:
    ids = Members(parse(body), "the list of members").array("consumerIdList")
    return tuple(str(one) for one in ids)


def encode_consumer_connections(
    connections: Iterable[Connection],
    manner: ConsumerManner,
    subscriptions: Iterable[Subscription],
    said_differently: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
) -> bytes:
    """The answer for a group. `said_differently` is an addition of Aerobee, left out if empty:
    topics that members subscribe to differently, with the clients of each expression.
    """
    shown: dict[str, Value] = {
        "connectionSet": [_connection_json(one) for one in connections],
        "consumeFromWhere": manner.consume_from.value,
        "consumeType": manner.consume_type.value,
        "messageModel": manner.message_model.value,
        "subscriptionTable": {one.topic: subscription_json(one) for one in subscriptions},
    }
    if said_differently:
        shown["subscriptionMismatches"] = {
            topic: {text: list(clients) for text, clients in said.items()}
            for topic, said in said_differently.items()
        }
    return write_compact(shown)


def decode_consumer_connections(body: bytes) -> ConsumerConnections:
    members = Members(parse(body), "the group")
    return ConsumerConnections(
        _connections_from(members),
        ConsumerManner(
            ConsumeType(members.text("consumeType", ConsumeType.PASSIVELY.value)),
            MessageModel(members.text("messageModel", MessageModel.CLUSTERING.value)),
            ConsumeFrom(members.text("consumeFromWhere", ConsumeFrom.LAST_OFFSET.value)),
        ),
        [subscription_from(one) for _, one in members.object("subscriptionTable").objects()],
        {
            topic: {text: [str(one) for one in said.array(text)] for text in said.names()}
            for topic, said in members.object("subscriptionMismatches").objects()
        },
    )


def encode_producer_connections(connections: Iterable[Connection]) -> bytes:
    return write_compact({"connectionSet": [_connection_json(one) for one in connections]})


def decode_producer_connections(body: bytes) -> list[Connection]:
    return _connections_from(Members(parse(body), "the group"))


def encode_producer_table(groups: Mapping[str, Iterable[Connection]]) -> bytes:
    table: dict[str, Value] = {
        group: [
            {
                "clientId": one.client_id,
                "language": _language(one),
                "lastUpdateTimestamp": one.beaten_wall_ms,
                "remoteIP": f"/{one.address}",
                "version": one.version,
                **_protocol(one),
            }
            for one in connections
        ]
        for group, connections in groups.items()
    }
    return write_compact({"data": table})


def decode_producer_table(body: bytes) -> dict[str, list[Connection]]:
    groups = Members(parse(body), "the producers").object("data")
    return {
        group: [_producer_from(Members(one, "a producer")) for one in groups.array(group)]
        for group in groups.names()
    }


def _producer_from(row: Members) -> Connection:
    return Connection(
        row.text("clientId", ""),
        row.text("remoteIP", "").lstrip("/"),
        row.text("language", ""),
        row.int32("version", 0),
        row.int64("lastUpdateTimestamp", 0),
        row.text("protocolType", REMOTING),
    )


def _connections_from(members: Members) -> list[Connection]:
    rows = [Members(one, "a connection") for one in members.array("connectionSet")]
    return [
        Connection(
            row.text("clientId", ""),
            row.text("clientAddr", ""),
            row.text("language", ""),
            row.int32("version", 0),
            0,  # not told
            row.text("protocolType", REMOTING),
        )
        for row in rows
    ]


def _connection_json(connection: Connection) -> dict[str, Value]:
    return {
        "clientAddr": connection.address,
        "clientId": connection.client_id,
        "language": _language(connection),
        "version": connection.version,
        **_protocol(connection),
    }


def _protocol(connection: Connection) -> dict[str, Value]:
    """An addition of Aerobee, left out for connections of RocketMQ's older protocol."""
    name = connection.protocol_type
    return {} if name == REMOTING else {"protocolType": name}


def _language(connection: Connection) -> str:
    """A name that Java's tools can read: they know no others."""
    return connection.language if connection.language in LANGUAGES else LANGUAGES[OTHER_LANGUAGE]


def version_name(number: int) -> str:
    """`V5_5_0`: every release has two numbers, of which the first is its snapshot's."""
    if number < _FIRST_NUMBER:
        return "V3"
    place, is_release = divmod(number - _FIRST_NUMBER, 2)
    digits = "_".join(str(_FIRST + place))
    return f"V{digits}" if is_release else f"V{digits}_SNAPSHOT"


def version_number(text: str) -> int | None:
    """The number of a release as a client names it, `5.1.2`; None: there is no such number."""
    found = _RELEASE.match(text)
    place = int("".join(found.groups())) - _FIRST if found is not None else -1
    return _FIRST_NUMBER + 2 * place + 1 if place >= 0 else None
