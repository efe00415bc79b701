"""Calls of gRPC that are refused, by name, and what they are answered.

`tests/vectors/grpc_refusals.json` has the answers of Apache's broker 5.5.0 with its proxy, recorded
by `tests/interop/features/grpc/test_refusals.py`; `tests/vectors/test_grpc_refusals.py` compares
ours.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from aerobee.protocol.grpc.calls import (
    AckMessageEntry,
    AckMessageRequest,
    ChangeInvisibleDurationRequest,
    EndTransactionRequest,
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
from aerobee.protocol.grpc.codes import SQL_FILTER, TAG_FILTER, ClientType, GrpcMessageType
from aerobee.protocol.grpc.resources import (
    Address,
    BrokerEntry,
    ClientSettings,
    Duration,
    Endpoints,
    FilterExpression,
    GrpcMessage,
    GrpcSubscription,
    Publishing,
    QueueEntry,
    Resource,
    SubscriptionEntry,
    Timestamp,
)
from tests.grpc_requests import plain_message

TOPICS = {"normals": "NORMAL", "fifos": "FIFO", "delays": "DELAY", "halves": "TRANSACTION"}
GROUP = "refused"
PRODUCER, CONSUMER, STRANGER = "producer", "consumer", "stranger"
NAMES = {
    "absent": None,
    "empty": "",
    "blank": "  ",
    "spaced": "a b",
    "dotted": "a.b",
    "long": "t" * 128,
}
TOPIC_NAMES = {**NAMES, "of the system": "SCHEDULE_TOPIC_XXXX", "reserved": "TBW102"}
GROUP_NAMES = {**NAMES, "of the system": "CID_RMQ_SYS_x"}
EXPIRED = "0 1000000000000 30000 0 0 broker-a 0 0 0"
FAR_FUTURE = Timestamp(4_000_000_000)
UNKNOWN = Resource("", "unknown")
NORMALS = Resource("", "normals")
ENDPOINTS = Endpoints(1, [Address("127.0.0.1", 8081)])


class Call(NamedTuple):
    method: str
    request: object
    client: str = PRODUCER
    timeout_ms: int = 30_000
    version: str = "5.1.2"


def resource(name: str | None) -> Resource | None:
    return None if name is None else Resource("", name)


def sends(*messages: GrpcMessage) -> Call:
    return Call("SendMessage", SendMessageRequest(list(messages)))


def _sends() -> Iterable[tuple[str, Call]]:
    one = plain_message
    yield "no message", sends()
    for what, name in TOPIC_NAMES.items():
        message = one()
        message.topic = resource(name)
        yield f"topic {what}", sends(message)
    yield "an unknown topic", sends(one("unknown"))
    yield "two topics", sends(one("normals"), one("delays"))
    yield "an empty body", sends(one("normals", b""))
    yield "a body of more than 4 MiB", sends(one("normals", bytes((4 << 20) + 1)))
    many = {f"k{number}": "v" for number in range(129)}
    yield "129 properties", sends(one("normals", properties=many))
    for name in ("KEYS", "TAGS", "DELAY", "UNIQ_KEY", "TRAN_MSG", "PGROUP", "__BORNHOST", "WAIT"):
        yield f"the property {name}", sends(one("normals", properties={name: "v"}))
    yield "a key with a control character", sends(one("normals", properties={"a\x01b": "v"}))
    yield "a value with a control character", sends(one("normals", properties={"a": "v\x02"}))
    yield "properties of 17 KiB", sends(one("normals", properties={"a": "v" * 17_000}))
    for what, tag in (("blank", "  "), ("with a bar", "a|b"), ("with a control", "a\x01")):
        yield f"a tag {what}", sends(one("normals", tag=tag))
    for what, key in (("blank", "  "), ("with a control", "a\x7f")):
        yield f"a key {what}", sends(one("normals", keys=[key]))
    for what, text in (("empty", ""), ("blank", "  ")):
        yield f"a message id {what}", sends(one("normals", message_id=text))
    half: dict[str, Any] = {"message_type": GrpcMessageType.TRANSACTION}
    late = half | {"orphaned_transaction_recovery_duration": Duration(3_601)}
    yield "a recovery after more than an hour", sends(one("halves", **late))
    yield (
        "a delivery after more than a day",
        sends(one("delays", message_type=GrpcMessageType.DELAY, delivery_timestamp=FAR_FUTURE)),
    )
    for what, group in (("blank", "  "), ("with a control", "a\x01"), ("long", "g" * 64)):
        fifo: dict[str, Any] = {"message_type": GrpcMessageType.FIFO, "message_group": group}
        yield f"a message group {what}", sends(one("fifos", **fifo))
    typed: dict[str, dict[str, Any]] = {
        "normals": {},
        "fifos": {"message_type": GrpcMessageType.FIFO, "message_group": "g"},
        "delays": {"message_type": GrpcMessageType.DELAY, "delivery_timestamp": Timestamp(1)},
        "halves": half,
    }
    for topic in typed:
        for kind, said in typed.items():
            if topic != kind:
                yield f"one of {kind} to {topic}", sends(one(topic, **said))


def receives(
    topic: Resource | None = NORMALS,
    group: Resource | None = Resource("", GROUP),  # noqa: B008 - nobody changes it
    expression: FilterExpression | None = None,
    invisible: Duration | None = Duration(30),  # noqa: B008
    broker: str = "broker-a",
    poll_s: int = 5,
    **more: Any,
) -> Call:
    queue = QueueEntry(topic, 0, broker=BrokerEntry(broker))
    poll = Duration(poll_s)
    wanted = expression or FilterExpression(TAG_FILTER, "*")
    request = ReceiveMessageRequest(group, queue, wanted, 1, invisible, False, poll)
    return Call("ReceiveMessage", request, **{"client": CONSUMER, **more})


def _receives() -> Iterable[tuple[str, Call]]:
    for what, name in TOPIC_NAMES.items():
        yield f"topic {what}", receives(resource(name))
    for what, name in GROUP_NAMES.items():
        yield f"group {what}", receives(group=resource(name))
    yield "an unknown topic", receives(UNKNOWN)
    yield "an unknown broker", receives(broker="nobody")
    yield "an empty expression of SQL", receives(expression=FilterExpression(SQL_FILTER, ""))
    yield "an expression of separators", receives(expression=FilterExpression(TAG_FILTER, " || "))
    for what, time in (
        ("absent", None),
        ("nine seconds", Duration(9)),
        ("thirteen hours", Duration(13 * 3_600)),
        ("below nothing", Duration(-1)),
    ):
        yield f"invisible time {what}", receives(invisible=time)
    yield "no time to poll", receives(poll_s=20, timeout_ms=2_000)
    yield "no time to poll, an old client", receives(poll_s=20, timeout_ms=2_000, version="5.0.2")
    yield "no settings", receives(client=STRANGER)


def _receipts() -> Iterable[tuple[str, str, Call]]:
    group = Resource("", GROUP)

    def ack(*handles: str, topic: Resource | None = NORMALS, by: Resource | None = group) -> Call:
        entries = [AckMessageEntry("ID", handle) for handle in handles]
        return Call("AckMessage", AckMessageRequest(by, topic, entries), CONSUMER)

    def change(
        handle: str, seconds: int, topic: Resource | None = NORMALS, by: Resource | None = group
    ) -> Call:
        request = ChangeInvisibleDurationRequest(by, topic, handle, Duration(seconds), "ID")
        return Call("ChangeInvisibleDuration", request, CONSUMER)

    def bury(handle: str, topic: Resource | None = NORMALS, by: Resource | None = group) -> Call:
        request = ForwardToDeadLettersRequest(by, topic, handle, "ID", 1, 1)
        return Call("ForwardMessageToDeadLetterQueue", request, CONSUMER)

    for what, name in (("empty", ""), ("spaced", "a b"), ("of the system", "TBW102")):
        yield "ack", f"topic {what}", ack(EXPIRED, topic=resource(name))
        yield "change", f"topic {what}", change(EXPIRED, 1, topic=resource(name))
        yield "bury", f"topic {what}", bury(EXPIRED, topic=resource(name))
    for what, name in (("empty", ""), ("spaced", "a b"), ("of the system", "CID_RMQ_SYS_x")):
        yield "ack", f"group {what}", ack(EXPIRED, by=resource(name))
        yield "change", f"group {what}", change(EXPIRED, 1, by=resource(name))
        yield "bury", f"group {what}", bury(EXPIRED, by=resource(name))
    yield "ack", "no entries", ack()
    yield "ack", "a handle that expired", ack(EXPIRED)
    yield "ack", "a handle that is none", ack("nonsense")
    yield "change", "a handle that expired", change(EXPIRED, 1)
    yield "change", "a handle that is none", change("nonsense", 1)
    yield "change", "a time below nothing", change(EXPIRED, -1)
    yield "change", "thirteen hours", change(EXPIRED, 13 * 3_600)
    yield "bury", "a handle that is none", bury("nonsense")
    yield "bury", "a handle without a place", bury(EXPIRED.rpartition(" ")[0])


def _others() -> Iterable[tuple[str, str, Call]]:
    for what, name in TOPIC_NAMES.items():
        request = QueryRouteRequest(resource(name), ENDPOINTS)
        yield "route", f"topic {what}", Call("QueryRoute", request)
    yield "route", "an unknown topic", Call("QueryRoute", QueryRouteRequest(UNKNOWN, ENDPOINTS))
    for what, topic, group in (
        ("topic empty", Resource(), Resource("", GROUP)),
        ("an unknown topic", UNKNOWN, Resource("", GROUP)),
        ("group empty", NORMALS, Resource()),
    ):
        asked = QueryAssignmentRequest(topic, group, ENDPOINTS)
        yield "assignment", what, Call("QueryAssignment", asked, CONSUMER)
    for what, topic, transaction in (
        ("id empty", Resource("", "halves"), ""),
        ("id blank", Resource("", "halves"), "  "),
        ("topic spaced", Resource("", "a b"), "ID"),
        ("an unknown transaction", Resource("", "halves"), "ID"),
    ):
        end = EndTransactionRequest(topic, "ID", transaction, 1, 1)
        yield "end", what, Call("EndTransaction", end)
    for what, name, handle in (
        ("topic spaced", "a b", "x"),
        ("a topic of normal messages", "normals", "x"),
        ("a handle that is none", "delays", "nonsense"),
    ):
        recall = RecallMessageRequest(resource(name), handle)
        yield "recall", what, Call("RecallMessage", recall)
    yield "beat", "no settings", Call("Heartbeat", HeartbeatRequest(), STRANGER)
    yield (
        "leave",
        "no settings",
        Call("NotifyClientTermination", NotifyClientTerminationRequest(), STRANGER),
    )
    anonymous: dict[str, object] = {
        "QueryRoute": QueryRouteRequest(NORMALS, ENDPOINTS),
        "SendMessage": SendMessageRequest([plain_message("normals")]),
        "Heartbeat": HeartbeatRequest(),
        "AckMessage": AckMessageRequest(),
    }
    for method, said in anonymous.items():
        yield "anonymous", method, Call(method, said, "")
    for method in ("PullMessage", "UpdateOffset", "GetOffset", "QueryOffset", "NoSuchMethod"):
        yield "unserved", method, Call(method, b"")


def _settings() -> Iterable[tuple[str, Call]]:
    def consumer(
        group: str,
        expression: FilterExpression | None = None,
        kind: int = 3,
        topic: str = "normals",
    ) -> ClientSettings:
        entry = SubscriptionEntry(Resource("", topic), expression or FilterExpression(1, "*"))
        subscription = GrpcSubscription(Resource("", group), [entry])
        return ClientSettings(client_type=kind, subscription=subscription)

    def producer(topic: str) -> ClientSettings:
        publishing = Publishing([Resource("", topic)])
        return ClientSettings(client_type=ClientType.PRODUCER, publishing=publishing)

    for what, settings in (
        ("of neither kind", ClientSettings(client_type=ClientType.PRODUCER)),
        ("of a producer, topic empty", producer("")),
        ("of a producer, topic spaced", producer("a b")),
        ("of a producer, topic of the system", producer("TBW102")),
        ("of a consumer, group empty", consumer("")),
        ("of a consumer, group spaced", consumer("a b")),
        ("of a consumer, group of the system", consumer("CID_RMQ_SYS_x")),
        ("of a consumer, no tag", consumer(GROUP, FilterExpression(1, " || "))),
        ("of a consumer, empty SQL", consumer(GROUP, FilterExpression(SQL_FILTER, ""))),
    ):
        yield what, Call("Telemetry", TelemetryCommand(settings=settings), "refused")


def refused_calls() -> dict[str, Call]:
    calls = {f"send: {what}": call for what, call in _sends()}
    calls |= {f"receive: {what}": call for what, call in _receives()}
    calls |= {f"settings: {what}": call for what, call in _settings()}
    return calls | {f"{kind}: {what}": call for kind, what, call in (*_receipts(), *_others())}


CALLS = refused_calls()


def told(messages: Iterable[Any], status: int, reason: str) -> dict[str, Any]:
    """An answer as it is recorded: the status of gRPC, statuses of responses and of entries."""
    answered: dict[str, Any] = {"rpc": [int(status), reason], "statuses": []}
    for message in messages:
        entries = getattr(message, "entries", [])
        for one in (message, *entries):
            if one.status is not None:
                answered["statuses"].append([int(one.status.code), one.status.message])
    return answered


def consumer_settings() -> ClientSettings:
    entry = SubscriptionEntry(NORMALS, FilterExpression(TAG_FILTER, "*"))
    subscription = GrpcSubscription(Resource("", GROUP), [entry])
    return ClientSettings(client_type=ClientType.SIMPLE_CONSUMER, subscription=subscription)


def producer_settings() -> ClientSettings:
    publishing = Publishing([Resource("", topic) for topic in TOPICS])
    return ClientSettings(client_type=ClientType.PRODUCER, publishing=publishing)
