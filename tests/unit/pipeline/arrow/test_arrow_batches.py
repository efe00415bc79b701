from datetime import UTC, datetime

from aerobee.pipeline.arrow.arrow_batches import arrow_schema, finish_batch
from aerobee.pipeline.arrow.message_columns import ENDED, MessageColumns
from aerobee.pipeline.arrow.schema import topic_schema
from tests.unit.pipeline.arrow.test_message_columns import FAR, record


def test_a_batch_holds_what_the_records_say_and_the_next_begins_empty() -> None:
    schema = topic_schema()
    columns = MessageColumns(schema.wanted, 10, 1 << 20)
    data = record(7) + record(8, b"", properties={"x": "y"})
    for _ in range(2):
        assert columns.take(memoryview(data), 0, len(data), FAR) == ENDED
        batch = finish_batch(columns, schema, "broker-a")
        batch.validate(full=True)
        assert batch.schema == arrow_schema(schema)
        first, second = batch.to_pylist()
        assert first == {
            "key": b"k1 k2",
            "value": b"body",
            "topic": "t",
            "brokerName": "broker-a",
            "queueId": 3,
            "offset": 7,
            "timestamp": datetime(1970, 1, 1, 0, 0, 0, 7000, UTC),
            "bornTimestamp": datetime(1970, 1, 1, 0, 0, 0, 5000, UTC),
            "tags": "a",
            "msgId": "id-7",
            "reconsumeTimes": 2,
            "properties": "UNIQ_KEY\x01id-7\x02TAGS\x01a\x02KEYS\x01k1 k2\x02",
        }
        assert (second["key"], second["tags"], second["value"]) == (None, None, b"")
        assert second["msgId"] == "0A00000100002A9F00000000000003F0"
    assert columns.rows == 0


def test_properties_can_be_maps() -> None:
    schema = topic_schema(["properties"], "map")
    columns = MessageColumns(schema.wanted, 10, 1 << 20)
    data = record(1, properties={"a": "b", "c": "d"}) + record(2, properties={})
    columns.take(memoryview(data), 0, len(data), FAR)
    batch = finish_batch(columns, schema, "b")
    assert batch.column(0).to_pylist() == [[("a", "b"), ("c", "d")], []]
