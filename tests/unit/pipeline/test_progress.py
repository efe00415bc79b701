from collections.abc import Mapping
from typing import Any

from aerobee.errors import NoAnswer
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.pipeline.progress import QueryProgress, QueueLag, lags_of, query_name
from aerobee.pipeline.source.stream_offsets import as_dict


def queue(number: int, topic: str = "t") -> MessageQueue:
    return MessageQueue(topic, "broker-a", QueueId(number))


def told(ends: Mapping[MessageQueue, int], latest: object, **more: Any) -> dict[str, Any]:
    source = {"description": "x", "endOffset": as_dict(ends), "latestOffset": latest}
    return {"id": "1-2", "name": None, "sources": [source], "numInputRows": 3, **more}


def test_lag_is_what_lies_between_a_query_and_the_ends_of_its_queues() -> None:
    progress = told({queue(1): 5, queue(0): 7}, as_dict({queue(0): 9, queue(1): 5, queue(2): 4}))
    assert lags_of(progress) == [QueueLag(queue(0), 7, 9), QueueLag(queue(1), 5, 5)]
    assert [lag.messages for lag in lags_of(progress)] == [2, 0]
    assert QueueLag(queue(0), 9, 3).messages == 0


def test_what_is_not_ours_and_what_is_not_told_is_left_out() -> None:
    assert lags_of({"sources": [{"endOffset": {"kafka": {"0": 5}}}]}) == []
    assert (
        lags_of({"sources": [{"endOffset": None}, {"endOffset": "12"}, {"endOffset": "x{"}]}) == []
    )
    assert lags_of({"sources": [{"endOffset": {"o": {}, "v": 9}}]}) == []
    assert lags_of({}) == []
    assert lags_of(told({queue(0): 5}, None)) == [QueueLag(queue(0), 5, 5)]
    text = '{"o":{"t":{"broker-a":{"0":5}}},"v":1}'
    assert lags_of({"sources": [{"endOffset": text}]}) == [QueueLag(queue(0), 5, 5)]


def test_the_last_word_of_every_query_is_shown() -> None:
    seen: list[Any] = []
    watch = QueryProgress(on_lag=lambda name, lags: seen.append((name, lags)))
    latest = as_dict({queue(0): 9})
    watch.took(told({queue(0): 5}, latest, name="a", batchDuration=250))
    watch.took(told({queue(0): 8}, latest, name="a", batchDuration=1500))
    watch.took(told({queue(0, 'u"'): 1}, latest))
    watch.took({"sources": []})
    text = watch.text().decode()
    labels = '{query="a",topic="t",broker="broker-a",queue="0"}'
    for line in (
        f"aerobee_query_lag_messages{labels} 1",
        f"aerobee_query_offset{labels} 8",
        'aerobee_query_rows_total{query="a"} 6',
        'aerobee_query_batches_total{query="a"} 2',
        'aerobee_query_batch_seconds{query="a"} 1.5',
        'aerobee_query_lag_messages{query="1-2",topic="u\\"",broker="broker-a",queue="0"} 0',
    ):
        assert f"{line}\n" in text
    assert [name for name, _ in seen] == ["a", "a", "1-2"]
    assert query_name({"id": "x", "name": "y"}) == "y"


def test_a_group_that_cannot_be_told_stops_nothing() -> None:
    told_to: list[Mapping[MessageQueue, int]] = []

    def commit(offsets: Mapping[MessageQueue, int]) -> None:
        told_to.append(offsets)
        raise NoAnswer("nobody", address="x")

    watch = QueryProgress(commit)
    watch.took(told({queue(0): 5}, None))
    assert told_to == [{queue(0): 5}]
    assert b"aerobee_query_offset" in watch.text()
