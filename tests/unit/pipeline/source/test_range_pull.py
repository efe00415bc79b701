import pytest

from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.pipeline.source.offset_ranges import QueueRange
from aerobee.pipeline.source.range_pull import RANGES_AHEAD, DataLoss, Pulled, RangePull, answers_of
from aerobee.pipeline.source.source_options import source_options
from aerobee.pipeline.spark.worker_client import kept
from aerobee.protocol.message.stored_message import decode_records
from tests.server_kit import Server


def pulled(
    server: Server, start: int, end: int, topic: str = "Pulled", **more: str
) -> list[Pulled]:
    given = {"nameServer": server.name_server, "topic": topic, **more}
    options = source_options(given, is_stream=False)
    blocking = kept(options.target, 3.0)
    wanted = QueueRange(MessageQueue(topic, "broker-a", QueueId(0)), start, end)

    async def all_of_it() -> list[Pulled]:
        return [one async for one in RangePull(blocking.session, options, wanted).answers()]

    return blocking.run(all_of_it())


def offsets(answers: list[Pulled]) -> list[int]:
    return [message.queue_offset for one in answers for message in decode_records(one.records)]


@pytest.fixture(scope="module", autouse=True)
def _filled(server: Server) -> None:
    for number in range(3):  # four queues, a third of a megabyte for each: more than one answer
        server.send("Pulled", [bytes(90_000)] * 16, tag="ab"[number % 2], compress=False)


def test_a_range_comes_whole_and_in_order_in_several_answers(server: Server) -> None:
    answers = pulled(server, 0, 12)
    assert offsets(answers) == list(range(12))
    assert len(answers) > 1
    assert offsets(pulled(server, 5, 7))[:2] == [5, 6]
    assert pulled(server, 5, 5) == []


def of_ranges(
    server: Server, ranges: list[tuple[int, int, int]], count: int = 1000
) -> list[tuple[int, int]]:
    """Queue and offset of the messages of at most so many answers."""
    options = source_options({"nameServer": server.name_server, "topic": "Pulled"}, is_stream=False)
    blocking = kept(options.target, 3.0)
    wanted = [
        QueueRange(MessageQueue("Pulled", "broker-a", QueueId(queue)), start, end)
        for queue, start, end in ranges
    ]

    async def some_of_it() -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        answers = answers_of(blocking.session, options, wanted)
        async for one, answer in answers:
            messages = decode_records(answer.records)
            assert {message.queue_id for message in messages} == {one.queue.queue_id}
            found += [(message.queue_id, message.queue_offset) for message in messages]
            if len(found) >= count:
                break
        await answers.aclose()
        return found

    return blocking.run(some_of_it())


def test_ranges_come_one_after_the_other_however_many_are_asked_for_ahead(server: Server) -> None:
    ranges = [(queue, start, start + 1) for start in range(5) for queue in (2, 0, 3)]
    assert len(ranges) > RANGES_AHEAD
    assert of_ranges(server, ranges) == [(queue, start) for queue, start, _ in ranges]
    whole = [(0, 0, 12), (1, 0, 0), (1, 3, 12)]  # several answers, none, several
    expected = [(0, offset) for offset in range(12)] + [(1, offset) for offset in range(3, 12)]
    assert of_ranges(server, whole) == expected


def test_what_was_asked_for_ahead_and_is_not_wanted_any_more_is_let_go(server: Server) -> None:
    lost = (2, 100, 110)  # its answer is an error that nobody gets to see
    several = [(0, offset) for offset in range(12)]  # answers, so that it is there by then
    assert of_ranges(server, [(0, 0, 12), lost], count=12) == several
    assert of_ranges(server, [(3, 0, 2)]) == [(3, 0), (3, 1)]


def test_what_a_filter_leaves_out_is_no_loss(server: Server) -> None:
    assert offsets(pulled(server, 0, 12, subExpression="b")) == [4, 5, 6, 7]
    assert offsets(pulled(server, 0, 12, subExpression="c")) == []


def test_a_range_that_the_queue_does_not_have_is_loss(server: Server) -> None:
    with pytest.raises(DataLoss, match="has lost") as caught:
        pulled(server, 10, 20)
    assert "failOnDataLoss" in caught.value.hint
    assert offsets(pulled(server, 10, 20, failOnDataLoss="false")) == [10, 11]
    assert offsets(pulled(server, 30, 40, failOnDataLoss="false")) == []
