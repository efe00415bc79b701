import pytest

from aerobee.errors import ProtocolError
from aerobee.model.subscription import ConsumeFrom, ConsumeType, MessageModel, Subscription
from aerobee.protocol.bodies.heartbeat import (
    GROUPS_MAX,
    SUBSCRIPTIONS_MAX,
    ConsumerBeat,
    Heartbeat,
    decode_heartbeat,
    encode_heartbeat,
)
from aerobee.protocol.text.json_text import parse, write_compact
from tests.captured import captured

# As the Java client 5.5.0 writes it.
JAVA = (
    b'{"clientID":"10.0.0.5@4321#99","consumerDataSet":[{"consumeFromWhere":'
    b'"CONSUME_FROM_FIRST_OFFSET","consumeType":"CONSUME_PASSIVELY","groupName":"g",'
    b'"messageModel":"CLUSTERING","subscriptionDataSet":[{"classFilterMode":false,"codeSet":'
    b'[2598919],"expressionType":"TAG","subString":"TagA","subVersion":1700000000000,"tagsSet":'
    b'["TagA"],"topic":"T"}],"unitMode":false}],"heartbeatFingerprint":0,"producerDataSet":'
    b'[{"groupName":"CLIENT_INNER_PRODUCER"}],"withoutSub":false}'
)
TAGGED = Subscription("T", "TagA", frozenset((2598919,)), 1700000000000, "TAG", ("TagA",))
BEAT = Heartbeat(
    "10.0.0.5@4321#99",
    ("CLIENT_INNER_PRODUCER",),
    (ConsumerBeat("g", consume_from=ConsumeFrom.FIRST_OFFSET, subscriptions=(TAGGED,)),),
)


def test_a_heartbeat_is_written_and_read_as_java_does() -> None:
    assert decode_heartbeat(JAVA) == BEAT
    assert encode_heartbeat(BEAT) == JAVA


def test_every_captured_heartbeat_is_read_and_means_the_same_when_written_again() -> None:
    for command in captured("HEART_BEAT", "request"):
        again = parse(encode_heartbeat(decode_heartbeat(bytes(command.body))))
        said = parse(bytes(command.body))
        assert isinstance(again, dict)
        assert isinstance(said, dict)
        assert {**again, **said} == again  # 4.9 says less


def test_positions_and_text_are_taken_where_cpp_writes_them() -> None:
    cpp = (
        b'{"clientID":"c","consumerDataSet":[{"consumeFromWhere":4,"consumeType":1,'
        b'"groupName":"g","messageModel":0,"subscriptionDataSet":[{"codeSet":[0],'
        b'"subString":"TagA","subVersion":"1700000000000","tagsSet":["TagA"],"topic":"T"}]}]}\n'
    )
    (consumer,) = decode_heartbeat(cpp).consumers
    assert consumer == ConsumerBeat(
        "g",
        ConsumeType.PASSIVELY,
        MessageModel.BROADCASTING,
        ConsumeFrom.FIRST_OFFSET,
        (TAGGED,),
    )
    assert not consumer.is_clustering


def test_a_name_that_nobody_knows_is_not_a_reason_to_refuse() -> None:
    text = JAVA.replace(b"CONSUME_FROM_FIRST_OFFSET", b"UNKNOWN")
    assert decode_heartbeat(text).consumers[0].consume_from is ConsumeFrom.LAST_OFFSET
    for strange in (b"true", b"[]", b"99", b"null"):
        text = JAVA.replace(b'"CLUSTERING"', strange)
        assert decode_heartbeat(text).consumers[0].message_model is MessageModel.CLUSTERING


def test_what_is_not_said_is_not_there() -> None:
    assert decode_heartbeat(b'{"clientID":"c"}') == Heartbeat("c")
    assert decode_heartbeat(b'{"clientID":"c","consumerDataSet":null}') == Heartbeat("c")


def test_subscriptions_are_left_out_only_by_those_who_say_a_fingerprint() -> None:
    with_one = b'{"clientID":"c","heartbeatFingerprint":-7,"withoutSub":true}'
    assert decode_heartbeat(with_one) == Heartbeat(
        "c", fingerprint=-7, is_without_subscriptions=True
    )
    without = b'{"clientID":"c","heartbeatFingerprint":0,"withoutSub":true}'
    assert not decode_heartbeat(without).is_without_subscriptions


def many(count: int, item: bytes) -> bytes:
    return b"[" + b",".join(count * [item]) + b"]"


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"{}",
        b'{"clientID":""}',
        b'{"clientID":"' + 256 * b"c" + b'"}',
        b'{"clientID":"c","producerDataSet":[{}]}',
        b'{"clientID":"c","producerDataSet":[7]}',
        b'{"clientID":"c","producerDataSet":{}}',
        b'{"clientID":"c","consumerDataSet":[{"groupName":""}]}',
        b'{"clientID":"c","heartbeatFingerprint":9999999999}',
        b'{"clientID":"c","producerDataSet":' + many(GROUPS_MAX + 1, b'{"groupName":"p"}') + b"}",
        b'{"clientID":"c","consumerDataSet":[{"groupName":"g","subscriptionDataSet":'
        + many(SUBSCRIPTIONS_MAX + 1, b'{"topic":"T"}')
        + b"}]}",
    ],
)
def test_what_is_no_heartbeat_is_refused(text: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_heartbeat(text)


def test_as_much_as_is_allowed_is_read() -> None:
    text = b'{"clientID":"c","producerDataSet":' + many(GROUPS_MAX, b'{"groupName":"p"}') + b"}"
    assert len(decode_heartbeat(text).producers) == GROUPS_MAX


def test_a_heartbeat_survives_being_parsed_by_anybody() -> None:
    assert write_compact(parse(encode_heartbeat(BEAT))) == JAVA
