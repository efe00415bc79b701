import tracemalloc
from typing import Any

import pytest

from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.pipeline.source.offset_ranges import QueueRange
from aerobee.pipeline.source.partition_reader import read_ranges
from aerobee.pipeline.source.source_options import source_options
from aerobee.pipeline.values.value_decoding import NotDecoded
from tests.server_kit import Server


def batches(server: Server, topic: str, ranges: list[tuple[int, int, int]], **more: str) -> Any:
    given = {"nameServer": server.name_server, "topic": topic, **more}
    options = source_options(given, is_stream=False)
    wanted = [
        QueueRange(MessageQueue(topic, "broker-a", QueueId(queue)), start, end)
        for queue, start, end in ranges
    ]
    return list(read_ranges(options, wanted))


def rows(found: Any) -> list[dict[str, Any]]:
    return [row for batch in found for row in batch.to_pylist()]


def test_ranges_become_batches_of_what_was_sent(server: Server) -> None:
    server.send("Read", [b"%d" % number for number in range(40)], tag="a", keys=["k"])
    found = batches(server, "Read", [(0, 0, 10), (1, 3, 5)])
    got = rows(found)
    assert [(row["queueId"], row["offset"]) for row in got] == [
        *((0, offset) for offset in range(10)),
        (1, 3),
        (1, 4),
    ]
    assert {row["topic"] for row in got} == {"Read"}
    assert {row["brokerName"] for row in got} == {"broker-a"}
    assert {row["key"] for row in got} == {b"k"}
    assert all(row["value"].isdigit() for row in got)


def test_a_batch_has_no_more_rows_than_asked_for(server: Server) -> None:
    server.send("Small", [b"x"] * 28)
    found = batches(server, "Small", [(0, 0, 7)], pullBatchSize="3")
    assert [batch.num_rows for batch in found] == [3, 3, 1]


def test_small_ranges_share_a_batch(server: Server) -> None:
    server.send("Shared", [b"%d" % number for number in range(40)])
    ranges = [(queue, 2, 4) for queue in range(4)]
    (batch,) = batches(server, "Shared", ranges)
    assert [(row["queueId"], row["offset"]) for row in batch.to_pylist()] == [
        (queue, offset) for queue, start, end in ranges for offset in range(start, end)
    ]
    found = batches(server, "Shared", ranges, pullBatchSize="3")
    assert [batch.num_rows for batch in found] == [3, 3, 2]


def test_values_of_different_queues_are_decoded_apart(server: Server) -> None:
    server.send("Apart", [b'{"n": 1}'] * 8)
    how = {"valueFormat": "json", "valueSchema": "n int", "columns": "value"}
    found = batches(server, "Apart", [(0, 0, 2), (1, 0, 2)], **how)
    assert [batch.num_rows for batch in found] == [2, 2]


def test_no_ranges_are_no_batches(server: Server) -> None:
    assert batches(server, "Nothing", []) == []


def test_compressed_bodies_come_expanded(server: Server) -> None:
    body = b"compress me " * 1000
    server.send("Packed", [body, b"small"] * 8)
    found = rows(batches(server, "Packed", [(0, 0, 4)], columns="value,offset"))
    assert [row["offset"] for row in found] == [0, 1, 2, 3]
    assert {row["value"] for row in found} <= {body, b"small"}


def test_tags_are_compared_as_text_even_where_their_hashes_are_the_same(server: Server) -> None:
    for tag in ("Aa", "BB"):  # equal in Java's hash
        server.send("Twins", [tag.encode()] * 4, tag=tag)
    found = rows(batches(server, "Twins", [(0, 0, 2)], subExpression="Aa", columns="value"))
    assert found == [{"value": b"Aa"}]


def test_a_reader_that_stops_early_leaves_nothing_behind(server: Server) -> None:
    server.send("Early", [bytes(300_000)] * 12, compress=False)
    given = {"nameServer": server.name_server, "topic": "Early", "pullBatchSize": "1"}
    options = source_options(given, is_stream=False)
    wanted = [QueueRange(MessageQueue("Early", "broker-a", QueueId(0)), 0, 3)]
    reading = read_ranges(options, wanted)
    assert next(reading).num_rows == 1
    reading.close()  # type: ignore[attr-defined]
    assert len(rows(read_ranges(options, wanted))) == 3


def test_values_are_decoded_and_what_cannot_be_is_a_dead_letter_with_its_source(
    server: Server,
) -> None:
    bodies = [b'{"n": %d}' % number for number in range(4)]
    server.create("DecodedDead", queues=4)
    server.send("Decoded", [*bodies, *([b"broken"] * 4)])
    how = {"valueFormat": "json", "valueSchema": "n int", "columns": "value"}
    dead = {"onDecodeError": "dlq", "deadLetterTopic": "DecodedDead"}
    found = rows(batches(server, "Decoded", [(0, 0, 2)], **how, **dead))
    assert len(found) == 1
    assert found[0]["value"]["n"] in range(4)
    letters = rows(
        batches(server, "DecodedDead", [(n, 0, 1) for n in range(4)], failOnDataLoss="false")
    )
    (letter,) = letters
    assert letter["value"] == b"broken"
    assert "sourceTopic\x01Decoded\x02" in letter["properties"]
    assert "sourceQueueId\x010\x02" in letter["properties"]
    assert "sourceOffset\x011\x02" in letter["properties"]
    with pytest.raises(NotDecoded, match="at 1 is no json"):
        batches(server, "Decoded", [(0, 0, 2)], **how)


def test_a_task_needs_no_more_memory_for_a_longer_range(server: Server) -> None:
    server.send("Memory", [bytes(200_000)] * 160, compress=False)
    options = source_options(
        {"nameServer": server.name_server, "topic": "Memory", "pullBatchSize": "2"},
        is_stream=False,
    )

    def peak_bytes(end: int) -> int:
        wanted = [QueueRange(MessageQueue("Memory", "broker-a", QueueId(0)), 0, end)]
        tracemalloc.start()
        count = sum(batch.num_rows for batch in read_ranges(options, wanted))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert count == end
        return peak

    peak_bytes(10)  # connections, and what is imported on the way
    assert peak_bytes(40) < 1.3 * peak_bytes(10)
