import pytest

from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.pipeline.blocking import kept
from aerobee.pipeline.offset_ranges import QueueRange
from aerobee.pipeline.options import source_options
from aerobee.pipeline.range_pull import DataLoss, Pulled, RangePull
from aerobee.protocol.stored_message import decode_records
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


def test_what_a_filter_leaves_out_is_no_loss(server: Server) -> None:
    assert offsets(pulled(server, 0, 12, subExpression="b")) == [4, 5, 6, 7]
    assert offsets(pulled(server, 0, 12, subExpression="c")) == []


def test_a_range_that_the_queue_does_not_have_is_loss(server: Server) -> None:
    with pytest.raises(DataLoss, match="has lost") as caught:
        pulled(server, 10, 20)
    assert "failOnDataLoss" in caught.value.hint
    assert offsets(pulled(server, 10, 20, failOnDataLoss="false")) == [10, 11]
    assert offsets(pulled(server, 30, 40, failOnDataLoss="false")) == []
