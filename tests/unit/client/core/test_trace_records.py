from aerobee.client.core.trace_records import (
    ConsumedCode,
    Received,
    SendTrace,
    TraceBuffer,
    TracedKind,
    TraceRecord,
    bodies,
    consumed_record,
    received_record,
    sent_record,
)

SENT = SendTrace(
    wall_ms=1700000000000,
    region="DefaultRegion",
    group="g",
    topic="t",
    message_id="ID1",
    tag="a",
    keys="k1 k2",
    store_host="10.0.0.1:10911",
    body_size=5,
    cost_ms=7,
    kind=TracedKind.ORDERED,
    offset_id="OFF1",
    is_stored=True,
)


def test_a_send_is_written_in_the_order_that_tools_read() -> None:
    record = sent_record(SENT)
    assert record.text.split("\x01") == [
        "Pub",
        "1700000000000",
        "DefaultRegion",
        "g",
        "t",
        "ID1",
        "a",
        "k1 k2",
        "10.0.0.1:10911",
        "5",
        "7",
        "4",
        "OFF1",
        "true",
    ]
    assert record.keys == ("k1", "k2", "ID1")


def test_what_would_break_a_record_apart_does_not() -> None:
    record = sent_record(SENT._replace(tag="a\x01b", group="c\x02d"))
    assert record.text.count("\x01") == 13
    assert "\x02" not in record.text


def test_records_share_bodies_that_are_no_larger_than_may_be() -> None:
    records = [TraceRecord("x" * 9, (f"k{number % 3}",)) for number in range(10)]
    found = list(bodies(records, 35))
    assert [len(one.body) for one in found] == [30, 30, 30, 10]
    assert b"".join(one.body for one in found) == (b"x" * 9 + b"\x02") * 10
    assert found[0].keys == "k0 k1 k2"
    assert found[3].keys == "k0"
    assert list(bodies([])) == []
    assert len(list(bodies([TraceRecord("x" * 100, ())], 35))) == 1


def test_keys_end_where_properties_would_and_of_a_large_batch_the_ids_come_first() -> None:
    few = [TraceRecord("x", ("a" * 9,)), TraceRecord("y", ("b" * 9,)), TraceRecord("z", ("c",))]
    found = list(bodies(few, keys_bytes_max=20))
    assert [(one.body, one.keys) for one in found] == [
        (b"x\x02y\x02", "a" * 9 + " " + "b" * 9),
        (b"z\x02", "c"),
    ]
    batch = sent_record(SENT._replace(message_id="ID1,ID2", keys=""), ["ID1", "ID2"])
    (only,) = bodies([batch], keys_bytes_max=10)
    assert only.keys == "ID1 ID2"


def test_of_too_many_that_wait_the_oldest_are_dropped_and_counted() -> None:
    buffer = TraceBuffer(2)
    for number in range(5):
        buffer.put(TraceRecord(str(number), ()))
    assert [one.text for one in buffer.take_all()] == ["3", "4"]
    assert (buffer.dropped, buffer.take_all()) == (3, [])


def test_what_is_not_there_is_called_null_as_java_does() -> None:
    sent = sent_record(SENT._replace(tag="", keys=""))
    assert sent.text.split("\x01")[6:8] == ["null", "null"]
    assert sent.keys == ("ID1",)
    received = Received(1, "R", "g", "req", "ID1", 0, "")
    # Java's split leaves out what is empty at the end, and its reader wants eight fields.
    assert received_record(received).text.split("\x01")[7:] == ["null"]
    assert consumed_record(received, 2, 1, ConsumedCode.FAILED).text.split("\x01")[5] == "null"
