import gzip

import pytest

from aerobee.model.message_type import MessageType
from aerobee.model.topic import TopicConfig
from aerobee.protocol.grpc.codes import GZIP, SQL_FILTER, TAG_FILTER, GrpcCode, GrpcMessageType
from aerobee.protocol.grpc.resources import (
    Duration,
    FilterExpression,
    GrpcMessage,
    Resource,
    SystemProperties,
    Timestamp,
)
from aerobee.service.proxy.call_checks import (
    DELAY_MS_MAX,
    check_message,
    check_type,
    filter_in,
    group_in,
    topic_in,
    unpack_body,
)
from aerobee.service.proxy.outcomes import CallRefused
from tests.grpc_kit import message, typed

NOW_MS = 1_700_000_000_000


def refused_with(refusal: pytest.ExceptionInfo[CallRefused]) -> int:
    return refusal.value.status.code


def test_good_names_pass() -> None:
    assert topic_in(Resource("ns", "orders")) == "orders"
    assert group_in(Resource("", "g-1")) == "g-1"


@pytest.mark.parametrize("name", ["", " ", "a b", "x" * 128, "TBW102", "rmq_sys_x"])
def test_bad_topics_are_illegal(name: str) -> None:
    with pytest.raises(CallRefused) as refusal:
        topic_in(Resource("", name))
    assert refused_with(refusal) == GrpcCode.ILLEGAL_TOPIC


@pytest.mark.parametrize("name", ["", "a b", "x" * 121, "CID_RMQ_SYS_x"])
def test_bad_groups_are_illegal(name: str) -> None:
    with pytest.raises(CallRefused) as refusal:
        group_in(Resource("", name))
    assert refused_with(refusal) == GrpcCode.ILLEGAL_CONSUMER_GROUP


def test_filters_are_read_with_their_tags() -> None:
    assert filter_in(None).tags is None
    assert filter_in(FilterExpression(TAG_FILTER, "*")).expression == "*"
    assert filter_in(FilterExpression(0, "A || B")).tags == frozenset({"A", "B"})
    assert filter_in(FilterExpression(SQL_FILTER, "a > 1")).type == "SQL92"


@pytest.mark.parametrize("wrong", [FilterExpression(SQL_FILTER, " "), FilterExpression(1, "|| ||")])
def test_filters_that_name_nothing_are_illegal(wrong: FilterExpression) -> None:
    with pytest.raises(CallRefused) as refusal:
        filter_in(wrong)
    assert refused_with(refusal) == GrpcCode.ILLEGAL_FILTER_EXPRESSION


WRONG: list[tuple[SystemProperties, GrpcCode]] = [
    (SystemProperties(message_id=" "), GrpcCode.ILLEGAL_MESSAGE_ID),
    (SystemProperties(message_id="i", tag="a|b"), GrpcCode.ILLEGAL_MESSAGE_TAG),
    (SystemProperties(message_id="i", tag=" "), GrpcCode.ILLEGAL_MESSAGE_TAG),
    (SystemProperties(message_id="i", keys=["a\x01"]), GrpcCode.ILLEGAL_MESSAGE_KEY),
    (SystemProperties(message_id="i", message_group="\x7f"), GrpcCode.ILLEGAL_MESSAGE_GROUP),
    (SystemProperties(message_id="i", message_group="x" * 64), GrpcCode.ILLEGAL_MESSAGE_GROUP),
    (SystemProperties(message_id="i", priority=-1), GrpcCode.BAD_REQUEST),
    (
        SystemProperties(
            message_id="i", delivery_timestamp=Timestamp((NOW_MS + DELAY_MS_MAX) // 1000 + 1)
        ),
        GrpcCode.ILLEGAL_DELIVERY_TIME,
    ),
    (
        SystemProperties(
            message_id="i",
            message_type=GrpcMessageType.TRANSACTION,
            orphaned_transaction_recovery_duration=Duration(3_601),
        ),
        GrpcCode.BAD_REQUEST,
    ),
    (SystemProperties(message_id="i", keys=["x" * 17_000]), GrpcCode.MESSAGE_PROPERTIES_TOO_LARGE),
]


@pytest.mark.parametrize(("system", "code"), WRONG)
def test_wrong_system_properties_have_their_code(system: SystemProperties, code: GrpcCode) -> None:
    with pytest.raises(CallRefused) as refusal:
        check_message(GrpcMessage(Resource("", "t"), {}, system, b"x"), NOW_MS)
    assert refused_with(refusal) == code


@pytest.mark.parametrize(
    ("properties", "code"),
    [
        ({"UNIQ_KEY": "x"}, GrpcCode.ILLEGAL_MESSAGE_PROPERTY_KEY),
        ({"a": "\x02"}, GrpcCode.ILLEGAL_MESSAGE_PROPERTY_KEY),
        ({f"k{number}": "v" for number in range(129)}, GrpcCode.MESSAGE_PROPERTIES_TOO_LARGE),
        ({"k": "v" * 16_384}, GrpcCode.MESSAGE_PROPERTIES_TOO_LARGE),
    ],
)
def test_wrong_user_properties_have_their_code(properties: dict[str, str], code: GrpcCode) -> None:
    one = message()
    one.user_properties = properties
    with pytest.raises(CallRefused) as refusal:
        check_message(one, NOW_MS)
    assert refused_with(refusal) == code


def test_a_good_message_passes() -> None:
    check_message(message(tag="A", keys=["a", "b"], message_group="g", priority=0), NOW_MS)


@pytest.mark.parametrize(
    ("body", "encoding", "code"),
    [
        (b"", 0, GrpcCode.MESSAGE_BODY_EMPTY),
        (b"x" * 11, 0, GrpcCode.MESSAGE_BODY_TOO_LARGE),
        (gzip.compress(b"x" * 11), GZIP, GrpcCode.MESSAGE_BODY_TOO_LARGE),
        (b"no gzip", GZIP, GrpcCode.MESSAGE_CORRUPTED),
    ],
)
def test_bodies_have_their_limits(body: bytes, encoding: int, code: GrpcCode) -> None:
    one = GrpcMessage(None, {}, SystemProperties(body_encoding=encoding), body)
    with pytest.raises(CallRefused) as refusal:
        unpack_body(one, 10)
    assert refused_with(refusal) == code


@pytest.mark.parametrize(
    ("topic", "kind", "is_taken"),
    [
        (TopicConfig("t"), MessageType.NORMAL, True),
        (TopicConfig("t"), MessageType.FIFO, False),
        (typed("t", "FIFO"), MessageType.FIFO, True),
        (typed("t", "FIFO"), MessageType.NORMAL, False),
        (typed("t", "MIXED"), MessageType.DELAY, True),
        (TopicConfig("%RETRY%g"), MessageType.DELAY, True),
    ],
)
def test_a_topic_takes_messages_of_its_type(
    topic: TopicConfig, kind: MessageType, is_taken: bool
) -> None:
    if is_taken:
        check_type(topic, kind)
        return
    with pytest.raises(CallRefused) as refusal:
        check_type(topic, kind)
    assert refused_with(refusal) == GrpcCode.MESSAGE_PROPERTY_CONFLICT_WITH_TYPE
