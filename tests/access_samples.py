"""One request of every code that brokers and name servers serve, one call of every method of gRPC,
and the rules that each needs.
"""

from collections.abc import Mapping
from typing import NamedTuple

from aerobee.model.access import Rule
from aerobee.model.group import GroupConfig
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.assignment import RequestMode, encode_request_mode
from aerobee.protocol.bodies.batch_ack import BatchAck, BatchAckEntry, encode_batch_ack
from aerobee.protocol.bodies.group_config import encode_group_config, encode_group_configs
from aerobee.protocol.bodies.heartbeat import ConsumerBeat, Heartbeat, encode_heartbeat
from aerobee.protocol.bodies.locks import LockRequest, encode_lock_request
from aerobee.protocol.bodies.staged_places import encode_places
from aerobee.protocol.bodies.subscription import (
    SubscriptionCheck,
    encode_subscription_check,
    make_subscription,
)
from aerobee.protocol.bodies.topic_table import encode_topic_configs
from aerobee.protocol.grpc.calls import (
    AckMessageEntry,
    AckMessageRequest,
    ChangeInvisibleDurationRequest,
    ForwardToDeadLettersRequest,
    HeartbeatRequest,
    NotifyClientTerminationRequest,
    QueryAssignmentRequest,
    QueryRouteRequest,
    RecallMessageRequest,
    ReceiveMessageRequest,
    SendMessageRequest,
    TelemetryCommand,
)
from aerobee.protocol.grpc.codes import ClientType
from aerobee.protocol.grpc.resources import (
    BrokerEntry,
    ClientSettings,
    Duration,
    FilterExpression,
    GrpcSubscription,
    QueueEntry,
    Resource,
    SubscriptionEntry,
)
from aerobee.protocol.text.json_text import write_compact
from tests.grpc_requests import plain_message

ORDERS = TopicConfig("Orders", 4, 4)
OTHER = TopicConfig("Other", 4, 4)
INNER_ONLY = "inner"
"""Instead of rules: no rule allows it."""


class Sample(NamedTuple):
    fields: Mapping[str, str]
    body: bytes
    rules: tuple[tuple[str, str], ...]
    """The resource and action of each rule that is needed."""


def topic(action: str, *, field: str = "topic") -> Sample:
    return Sample({field: "Orders"}, b"", (("Topic:Orders", action),))


def group(action: str, *, field: str = "consumerGroup") -> Sample:
    return Sample({field: "g"}, b"", (("Group:g", action),))


def both(action: str, *, field: str = "consumerGroup") -> Sample:
    rules = (("Topic:Orders", action), ("Group:g", action))
    return Sample({field: "g", "topic": "Orders"}, b"", rules)


def with_body(body: bytes, *rules: tuple[str, str]) -> Sample:
    return Sample({}, body, rules)


def cluster(action: str) -> Sample:
    return Sample({}, b"", (("Cluster:DefaultCluster", action),))


INNER_SAMPLE = Sample({}, b"", ((INNER_ONLY, ""),))
SUB_BOTH = (("Topic:Orders", "Sub"), ("Group:g", "Sub"))
QUEUE = MessageQueue("Orders", "broker-a", QueueId(0))
SUBSCRIPTION = make_subscription("Orders")


def _alike() -> dict[int, Sample]:
    """Codes of which several are asked for in the same way."""
    found = dict.fromkeys((29, 30, 31, 32), topic("Sub"))
    found |= dict.fromkeys((202, 300, 351, 354), topic("Get"))
    found |= dict.fromkeys((203, 307), group("Get"))
    found |= dict.fromkeys((343, 352), group("Get", field="group"))
    found |= dict.fromkeys((222, 353), both("Update", field="group"))
    found |= dict.fromkeys((223, 303, 345), both("Get", field="group"))
    found |= dict.fromkeys((310, 320, 325, 28002), topic("Pub", field="b"))
    found |= dict.fromkeys((200050, 200051, 200052, 200053, 200054), both("Sub"))
    update = (
        25,
        306,
        316,
        329,
        513,
        906,
        908,
        2001,
        2002,
        2004,
        5001,
        28008,
        28011,
        200056,
        200079,
    )
    found |= dict.fromkeys((*update, 3001, 3002, 3003, 3006, 3007, 3008), cluster("Update"))
    get = (21, 26, 28, 201, 204, 305, 315, 317, 328, 355, 907, 1007, 2003, 28001, 28012)
    found |= dict.fromkeys((*get, *range(200074, 200079), 3004, 3005, 3009, 3010), cluster("Get"))
    found |= dict.fromkeys((43, 45, 60, 61, 402, 905, 28007, 28009), INNER_SAMPLE)
    return found


def _by_fields() -> dict[int, Sample]:
    return {
        10: topic("Pub"),
        11: both("Sub"),
        12: topic("Sub"),
        14: both("Get"),
        15: both("Update"),
        17: topic("Create"),
        38: group("Get"),
        207: group("Delete", field="groupName"),
        215: topic("Delete"),
        324: topic("Pub"),
        361: both("Sub"),
        370: topic("Pub"),
        28003: topic("Pub"),
        28004: topic("Pub"),
        28006: topic("Pub"),
        200055: both("Get"),
        208: Sample(
            {"consumerGroup": "g", "topicList": "Orders;Other"},
            b"",
            (("Group:g", "Get"), ("Topic:Orders", "Get"), ("Topic:Other", "Get")),
        ),
        308: Sample(
            {"topic": "Orders", "compareGroup": "g", "filterGroups": "f"},
            b"",
            (("Topic:Orders", "Get"), ("Group:g", "Get"), ("Group:f", "Get")),
        ),
        321: Sample(
            {"topic": "Orders", "consumerGroup": "g"},
            b"",
            (("Topic:Orders", "Get"), ("Group:g", "Get")),
        ),
        314: Sample(
            {"srcGroup": "f", "destGroup": "g", "topic": "Orders"},
            b"",
            (("Group:f", "Get"), ("Group:g", "Update"), ("Topic:Orders", "Update")),
        ),
    }


def broker_samples(place: int) -> dict[int, Sample]:
    """`place` is the log offset of a message of Orders."""
    message_id = f"7F00000100002A9F{place:016X}"
    ack = BatchAckEntry("g", "Orders", "0", 0, 0, 0, 1, 1000, (0,))
    beat = Heartbeat("c", ("p",), (ConsumerBeat("g", subscriptions=(SUBSCRIPTION,)),))
    by_message = {"offset": str(place), "group": "g", "topic": "Other", "originTopic": "Other"}
    question = write_compact(
        {
            "topic": "Orders",
            "consumerGroup": "g",
            "clientId": "c",
            "strategyName": "AVG",
            "messageModel": "CLUSTERING",
        }
    )
    lock = encode_lock_request(LockRequest("c", "g", (QUEUE,)))
    found = {
        18: with_body(encode_topic_configs([ORDERS]), ("Topic:Orders", "Create")),
        33: Sample(by_message, b"", (("Topic:Orders", "Get"),)),
        34: with_body(encode_heartbeat(beat), *SUB_BOTH),
        35: Sample({"clientID": "c", "consumerGroup": "g"}, b"", (("Group:g", "Sub"),)),
        36: Sample(by_message, b"", SUB_BOTH),
        37: Sample(
            {"commitLogOffset": str(place), "topic": "Other"}, b"", (("Topic:Orders", "Pub"),)
        ),
        41: with_body(lock, *SUB_BOTH),
        42: with_body(lock, *SUB_BOTH),
        46: with_body(
            encode_subscription_check(SubscriptionCheck("g", SUBSCRIPTION), "c"), ("Group:g", "Sub")
        ),
        200: with_body(encode_group_config(GroupConfig("g")), ("Group:g", "Update")),
        225: with_body(encode_group_configs([GroupConfig("g")]), ("Group:g", "Update")),
        309: Sample(
            {"consumerGroup": "g", "msgId": message_id, "topic": "Other", "clientId": "c"},
            b"",
            SUB_BOTH,
        ),
        323: Sample({"msgId": message_id}, b"", (("Topic:Orders", "Update"),)),
        400: with_body(question, *SUB_BOTH),
        401: with_body(
            encode_request_mode(RequestMode("Orders", "g")),
            ("Topic:Orders", "Update"),
            ("Group:g", "Update"),
        ),
        28005: with_body(encode_places([place]), ("Topic:Orders", "Pub")),
        200151: with_body(encode_batch_ack(BatchAck("broker-a", (ack,))), *SUB_BOTH),
    }
    return {**found, **_by_fields(), **_alike()}


def nameserver_samples() -> dict[int, Sample]:
    found = {105: topic("Get")}
    found |= dict.fromkeys((103, 104, 322, 901, 904, 28010), INNER_SAMPLE)
    found |= dict.fromkeys((100, 102, 205, 216, 217, 318, 327), cluster("Update"))
    found |= dict.fromkeys((101, 106, 206, 219, 224, 304, 311, 312, 313, 319), cluster("Get"))
    return found


def grpc_samples(place: int, wall_ms: int) -> dict[str, tuple[object, tuple[tuple[str, str], ...]]]:
    """Requests by their method, in the order in which a client would call. `place` is the log
    offset of a message of Orders."""
    orders, g = Resource("", "Orders"), Resource("", "g")
    handle = f"0 {wall_ms} 60000 0 0 broker-a 0 0 {place}"
    wanted = SubscriptionEntry(orders, FilterExpression(1, "*"))
    settings = ClientSettings(
        client_type=ClientType.SIMPLE_CONSUMER, subscription=GrpcSubscription(g, [wanted])
    )
    queue = QueueEntry(orders, 0, broker=BrokerEntry("broker-a"))
    pub = (("Topic:Orders", "Pub"),)
    return {
        "Telemetry": (TelemetryCommand(settings=settings), SUB_BOTH),
        "Heartbeat": (HeartbeatRequest(g, ClientType.SIMPLE_CONSUMER), SUB_BOTH),
        "QueryRoute": (QueryRouteRequest(orders), (("Topic:Orders", "Get"),)),
        "QueryAssignment": (QueryAssignmentRequest(orders, g), SUB_BOTH),
        "SendMessage": (SendMessageRequest([plain_message("Orders")]), pub),
        "RecallMessage": (RecallMessageRequest(orders, "x"), pub),
        "ReceiveMessage": (ReceiveMessageRequest(g, queue, None, 1, Duration(60)), SUB_BOTH),
        "AckMessage": (AckMessageRequest(g, orders, [AckMessageEntry("i", handle)]), SUB_BOTH),
        "ChangeInvisibleDuration": (
            ChangeInvisibleDurationRequest(g, orders, handle, Duration(60), "i"),
            SUB_BOTH,
        ),
        "ForwardMessageToDeadLetterQueue": (
            ForwardToDeadLettersRequest(g, orders, handle, "i", 1, 1),
            SUB_BOTH,
        ),
        "NotifyClientTermination": (NotifyClientTerminationRequest(g), SUB_BOTH),
    }


def rules_for(wanted: tuple[tuple[str, str], ...]) -> list[Rule]:
    return [Rule(resource, (action,)) for resource, action in wanted if resource != INNER_ONLY]


BESIDE = (
    Rule("Topic:Other", ("Get", "Update", "Delete", "List")),
    Rule("Topic:Orders2*", ("All",)),
    Rule("Group:h", ("All",)),
    Rule("Cluster:AnotherCluster", ("All",)),
)
"""Rules for other things, and for other actions: they allow nothing that is asked for here."""
