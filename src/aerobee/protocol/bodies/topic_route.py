"""Topic routes and cluster information ⇄ JSON.

Broker ids are keys, and there are two ways to write them:

    standard   "brokerAddrs":{"0":"10.0.0.1:10911"}    asked for by version ≥ 4.9.4, or by a field
    bare       "brokerAddrs":{0:"10.0.0.1:10911"}      Go ≤ 2.1.1 can read nothing else

Both are compact: Go clients cut `brokerAddrs` at commas and colons, and a blank would become part
of an address. Readers here take both. Cluster information is always bare, as at Apache.
"""

from typing import cast

from aerobee.model.route import BrokerData, ClusterInfo, QueueData, TopicRoute
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Value, parse, write_compact, write_standard

STANDARD_VERSION_MIN = 401  # V4_9_4
DIALECT_BYTES_MAX = 256 * 1024  # 1,000 brokers


def encode_topic_route(route: TopicRoute, *, is_standard: bool) -> bytes:
    body: dict[str, Value] = {
        "brokerDatas": [_broker_json(broker) for broker in route.brokers],
        "filterServerTable": {},
    }
    if route.order_conf:
        body["orderTopicConf"] = route.order_conf
    body["queueDatas"] = [_queue_json(queue) for queue in route.queues]
    if route.mappings:
        body["topicQueueMappingByBroker"] = cast(Value, route.mappings)
    return write_standard(body) if is_standard else write_compact(body)


def decode_topic_route(body: bytes) -> TopicRoute:
    members = Members(parse(body, dialect_bytes_max=DIALECT_BYTES_MAX), "the route")
    return TopicRoute(
        queues=tuple(
            _queue_from(Members(item, "an item of queueDatas"))
            for item in members.array("queueDatas")
        ),
        brokers=tuple(
            _broker_from(Members(item, "an item of brokerDatas"))
            for item in members.array("brokerDatas")
        ),
        order_conf=members.text("orderTopicConf", ""),
        mappings={
            name: mapping.plain()
            for name, mapping in members.object("topicQueueMappingByBroker").objects()
        },
    )


def encode_cluster_info(info: ClusterInfo) -> bytes:
    return write_compact(
        {
            "brokerAddrTable": {broker.name: _broker_json(broker) for broker in info.brokers},
            "clusterAddrTable": info.names_by_cluster(),
        }
    )


def decode_cluster_info(body: bytes) -> ClusterInfo:
    """The brokers with their clusters; the second table says the same again and is not read."""
    table = Members(parse(body), "the cluster information").object("brokerAddrTable")
    return ClusterInfo(tuple(_broker_from(members) for _, members in table.objects()))


def encode_member_group(broker: BrokerData) -> bytes:
    """The brokers of one name, as other brokers of that name ask for them."""
    return write_compact({"brokerMemberGroup": _member_group_json(broker)})


def decode_member_group(body: bytes) -> BrokerData:
    return _broker_from(Members(parse(body), "the answer").object("brokerMemberGroup"))


def encode_elected_group(broker: BrokerData) -> bytes:
    """The brokers of one name, in the answer to an election: not inside another object."""
    return write_compact(_member_group_json(broker))


def decode_elected_group(body: bytes) -> BrokerData:
    return _broker_from(Members(parse(body), "the members of an election"))


def _member_group_json(broker: BrokerData) -> dict[str, Value]:
    return {
        "brokerAddrs": dict(sorted(broker.addresses.items())),
        "brokerName": broker.name,
        "cluster": broker.cluster,
    }


def _broker_json(broker: BrokerData) -> dict[str, Value]:
    found: dict[str, Value] = {
        "brokerAddrs": dict(sorted(broker.addresses.items())),
        "brokerName": broker.name,
        "cluster": broker.cluster,
        "enableActingMaster": broker.is_acting_enabled,
    }
    if broker.zone:
        found["zoneName"] = broker.zone
    return found


def _broker_from(members: Members) -> BrokerData:
    return BrokerData(
        cluster=members.text("cluster", ""),
        name=members.text("brokerName"),
        addresses=members.object("brokerAddrs").texts_by_number(),
        is_acting_enabled=members.is_true("enableActingMaster"),
        zone=members.text("zoneName", ""),
    )


def _queue_json(queue: QueueData) -> dict[str, Value]:
    return {
        "brokerName": queue.broker_name,
        "perm": queue.permission,
        "readQueueNums": queue.read_queues,
        "topicSysFlag": queue.sys_flag,
        "writeQueueNums": queue.write_queues,
    }


def _queue_from(members: Members) -> QueueData:
    return QueueData(
        members.text("brokerName"),
        members.int32("readQueueNums", 0),
        members.int32("writeQueueNums", 0),
        members.int32("perm", 0),
        members.int32("topicSysFlag", 0),
    )
