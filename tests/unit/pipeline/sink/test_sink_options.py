import pytest

from aerobee.errors import Misuse
from aerobee.pipeline.sink.sink_options import Guarantee, SinkOptions, check_columns, sink_options

BASE = {"nameServer": "a:1;b:2", "topic": "orders"}
NO_TOPIC = sink_options({"nameServer": "a:1"}, is_stream=True)


def read(is_stream: bool = False, **more: str) -> SinkOptions:
    return sink_options({**BASE, **more}, is_stream=is_stream)


def mistake(is_stream: bool = False, **more: str) -> str:
    with pytest.raises(Misuse) as caught:
        read(is_stream, **more)
    return str(caught.value)


def test_little_is_needed_and_rows_are_stored_once_unless_told() -> None:
    options = read()
    assert options.target.name_servers == ("a:1", "b:2")
    assert options.topic == "orders"
    assert options.guarantee is Guarantee.IDEMPOTENT
    assert (options.request_bytes, options.send_seconds) == (1 << 20, 60.0)
    assert read(DELIVERYguarantee="atleastonce").guarantee is Guarantee.AT_LEAST_ONCE


def test_a_write_that_may_be_done_again_has_an_id_and_perhaps_a_number() -> None:
    options = read(writeId="nightly", batchId="17")
    assert (options.write_id, options.batch_id) == ("nightly", 17)
    assert "batchId counts the writes of one writeId" in mistake(batchId="1")
    assert "printable ASCII" in mistake(writeId="a b")
    assert "printable ASCII" in mistake(writeId="x" * 101)
    assert "at most" in mistake(writeId="x", batchId=str(1 << 30))
    assert "a stream, which has an id" in mistake(True, writeId="x")


def test_what_is_wrong_names_the_right() -> None:
    assert "was deliveryGuarantee meant" in mistake(deliverGuarantee="idempotent")
    assert "idempotent, transactional, atLeastOnce" in mistake(deliveryGuarantee="once")
    assert "startingOffsets: an option of reads" in mistake(startingOffsets="earliest")
    assert "requestBytes is at most" in mistake(requestBytes=str(4 << 20))
    assert "sendTimeout is a duration" in mistake(sendTimeout="soon")
    assert "broker is for deliveryGuarantee=transactional" in mistake(broker="a")
    assert "holds '/'" in mistake(topic="a/b")
    with pytest.raises(Misuse, match="nameServer is missing"):
        sink_options({}, is_stream=True)


def test_columns_are_checked_by_name_and_type() -> None:
    check_columns({"value": "binary"}, read())
    check_columns(
        {
            "value": "string",
            "key": "binary",
            "topic": "string",
            "tags": "string",
            "orderingKey": "string",
            "queue": "int",
            "properties": "map<string,string>",
            "delay": "bigint",
        },
        NO_TOPIC,
    )
    with pytest.raises(Misuse) as caught:
        check_columns(
            {"key": "int", "offset": "bigint", "deliverAt": "timestamp", "delay": "int"},
            NO_TOPIC,
        )
    assert str(caught.value) == (
        "the column key is string or binary, not int; the sink has no column 'offset'; the column "
        "value is missing; no topic: give the option topic, or the column topic; delay and "
        "deliverAt exclude each other (select what is to be written: value, key, topic, tags, "
        "orderingKey, queue, properties, delay, deliverAt)"
    )


def test_rows_for_a_time_are_not_published_transactionally() -> None:
    options = read(deliveryGuarantee="transactional", broker="broker-b")
    assert options.broker == "broker-b"
    with pytest.raises(Misuse, match="delay: rows that wait for a time"):
        check_columns({"value": "string", "delay": "int"}, options)
