import pytest

from aerobee.errors import Misuse
from aerobee.model.access import Credentials
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.pipeline.source.source_options import SourceOptions, StartPlace, source_options
from aerobee.pipeline.source.stream_offsets import EARLIEST, LATEST

BASE = {"nameServer": "a:1;b:2", "topic": "orders"}


def read(is_stream: bool = False, **more: str) -> SourceOptions:
    return source_options({**BASE, **more}, is_stream=is_stream)


def mistake(is_stream: bool = False, **more: str) -> str:
    with pytest.raises(Misuse) as caught:
        read(is_stream, **more)
    return str(caught.value)


def test_little_is_needed_and_the_rest_has_sensible_defaults() -> None:
    batch = read()
    assert batch.target.name_servers == ("a:1", "b:2")
    assert batch.topics == ("orders",)
    assert (batch.start, batch.end) == (StartPlace(EARLIEST), StartPlace(LATEST))
    assert batch.fails_on_loss
    assert read(is_stream=True).start == StartPlace(LATEST)


def test_names_are_spelt_as_spark_spells_them_in_any_case() -> None:
    assert read(MINPARTITIONS="7").partitions_min == 7


def test_what_is_read_can_be_said_in_four_ways_and_in_one_at_a_time() -> None:
    def chosen(**way: str) -> SourceOptions:
        return source_options({"nameServer": "a:1", **way}, is_stream=False)

    assert chosen(topics=" a, b ,a").topics == ("a", "b")
    assert chosen(topicsPattern="ord.*").pattern == "ord.*"
    assert chosen(assign='{"t":{"b":[1,0]}}').assigned == (
        MessageQueue("t", "b", QueueId(0)),
        MessageQueue("t", "b", QueueId(1)),
    )
    assert "topic and topics" in mistake(topics="x")
    with pytest.raises(Misuse, match="none is given"):
        chosen()
    with pytest.raises(Misuse, match="regular expression"):
        chosen(topicsPattern="(")
    with pytest.raises(Misuse, match="assign"):
        chosen(assign='{"t":5}')


def test_places_can_be_named_written_and_timed() -> None:
    key = MessageQueue("t", "a", QueueId(0))
    assert read(startingOffsets="latest").start.offset == LATEST
    assert read(startingOffsets='{"t":{"a":{"0":5}}}').start.offsets == {key: 5}
    assert read(startingTimestamp="123").start.timestamp_ms == 123
    assert read(startingOffsetsByTimestamp='{"t":{"a":{"0":9}}}').start.timestamps_ms == {key: 9}
    assert read(startingOffsets="group", group="g").start.is_group
    assert read(endingTimestamp="9").end == StartPlace(LATEST, timestamp_ms=9)
    assert read(startingTimestamp="1").start.is_late_refused
    relaxed = read(startingTimestamp="1", startingOffsetsByTimestampStrategy="latest")
    assert not relaxed.start.is_late_refused


def test_credentials_and_encryption_come_with_the_address_or_beside_it() -> None:
    assert read(accessKey="k", secretKey="s").target.credentials == Credentials("k", "s")
    assert read(nameServer="rmq://k:s@a?tls=on").target.is_tls
    assert read(tls="on").target.is_tls


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"nameServr": "x"}, "was nameServer meant?"),
        ({"frobnicate": "x"}, "there is no option frobnicate"),
        ({"pullBatchBytes": "1"}, "pullBatchBytes: how much a broker answers at once"),
        ({"nameServer": ""}, "nameServer is missing"),
        ({"nameServer": "a:b"}, "nameServer: "),
        ({"startingOffsets": "early"}, "earliest, latest"),
        ({"startingOffsets": "{"}, "startingOffsets: "),
        ({"startingOffsets": "earliest", "startingTimestamp": "1"}, "exclude each other"),
        ({"startingOffsets": "begin"}, "is one of earliest, latest, group, JSON, not 'begin'"),
        ({"maxOffsetsPerTrigger": "5"}, "a batch does not take maxOffsetsPerTrigger"),
        ({"minPartitions": "0"}, "from 1 on"),
        ({"minPartitions": "many"}, "'many'"),
        ({"failOnDataLoss": "maybe"}, "true, false"),
        ({"columns": "offsets"}, "no column 'offsets'"),
        ({"subExpression": "a", "filterExpression": "b > 1"}, "exclude each other"),
        ({"accessKey": "k"}, "go together"),
        ({"commitOffsets": "true"}, "need the option group"),
    ],
)
def test_a_mistake_says_what_was_meant(given: dict[str, str], said: str) -> None:
    assert said in mistake(False, **given)


def test_a_stream_ends_nowhere_and_has_limits() -> None:
    assert "does not take endingOffsets" in mistake(is_stream=True, endingOffsets="latest")
    options = read(
        is_stream=True, maxOffsetsPerTrigger="5", maxBytesPerTrigger="6", maxTriggerDelay="2m"
    )
    assert (options.batch_messages_max, options.batch_bytes_max) == (5, 6)
    assert options.batch_delay_seconds == 120.0
    assert "duration" in mistake(is_stream=True, maxTriggerDelay="soon")
    said = mistake(is_stream=False, group="g", commitOffsets="true", maxTriggerDelay="1s")
    assert "a batch does not take maxTriggerDelay" in said
    assert "commitOffsets" in said


def test_every_mistake_is_told_at_once() -> None:
    said = mistake(minPartitions="x", colums="offset", failOnDataLoss="perhaps")
    assert all(name in said for name in ("minPartitions", "colums", "failOnDataLoss"))


def test_a_secret_is_never_repeated() -> None:
    assert "hush" not in mistake(secretKey="hush", minPartitions="x")


def test_a_format_of_values_makes_a_column_of_its_own_type() -> None:
    given = {"nameServer": "h:1", "topic": "t", "valueFormat": "json", "valueSchema": "n int"}
    options = source_options(given, is_stream=False)
    assert options.schema.ddl().startswith("key binary, value struct<`n`:int>, topic string")
    assert options.values is not None
    assert options.values.on_error == "fail"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"valueSchema": "n int"}, "valueSchema without valueFormat"),
        ({"valueFormat": "json"}, "needs valueSchema"),
        ({"valueFormat": "xml", "valueSchema": "x"}, "json, avro, protobuf"),
        ({"valueFormat": "json", "valueSchema": "n nothing"}, "no type 'nothing'"),
        ({"valueFormat": "json", "valueSchema": "n int", "onDecodeError": "dlq"}, "go together"),
        ({"valueFormat": "json", "valueSchema": "n int", "deadLetterTopic": "x"}, "go together"),
        ({"valueFormat": "json", "valueSchema": "n int", "columns": "key"}, "not chosen"),
    ],
)
def test_what_contradicts_itself_about_values_is_named(given: dict[str, str], said: str) -> None:
    with pytest.raises(Misuse, match=said):
        source_options({"nameServer": "h:1", "topic": "t", **given}, is_stream=False)
