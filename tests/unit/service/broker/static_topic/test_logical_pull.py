import pytest

from aerobee.model.queue_mapping import MappingItem
from aerobee.protocol.headers.offsets import MaxOffsetHeader
from aerobee.protocol.headers.pulling import PullAnswerHeader, PullHeader
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.static_topic.logical_pull import pull
from aerobee.service.broker.static_topic.translation import Ask, LogicalQueue
from aerobee.service.request import Answer
from tests.broker_kit import records_in
from tests.static_topic_kit import TOPIC, StaticBrokers

BLOCK = 10_000
REFUSED = Answer(ResponseCode.NO_PERMISSION, "no")


def moved(*, messages: int = 3) -> StaticBrokers:
    """A queue with messages on broker-a and, behind them, on broker-b, which leads it."""
    brokers = StaticBrokers()
    brokers.create(1, "broker-a")
    for number in range(messages):
        brokers.send(0, b"a%d" % number)
    brokers.move("broker-b")
    for number in range(messages):
        brokers.send(0, b"b%d" % number)
    return brokers


def test_a_reader_goes_from_one_part_to_the_next_and_to_the_end() -> None:
    brokers = moved()
    first = [(at, b"a%d" % at) for at in range(3)]
    second = [(BLOCK + at, b"b%d" % at) for at in range(3)]
    assert brokers.read(0) == first + second
    assert brokers.read(0, 2) == first[2:] + second
    assert brokers.read(0, BLOCK + 1) == second[1:]


def test_an_answer_has_logical_offsets_and_the_difference_for_the_records() -> None:
    brokers = moved()
    answer = brokers.pull(0, 1)
    said = {name: int(text) for name, text in answer.ext_fields.items() if text.isdigit()}
    assert [one.queue_offset for one in records_in(answer)] == [1, 2]
    assert (said["nextBeginOffset"], said["offsetDelta"], said["minOffset"]) == (3, 0, 0)
    assert said["maxOffset"] == BLOCK  # as far as the mapping says it
    answer = brokers.pull(0, BLOCK + 1)
    said = {name: int(text) for name, text in answer.ext_fields.items() if text.isdigit()}
    assert [one.queue_offset for one in records_in(answer)] == [1, 2]
    assert (said["nextBeginOffset"], said["offsetDelta"]) == (BLOCK + 3, BLOCK)
    assert (said["minOffset"], said["maxOffset"]) == (BLOCK, BLOCK + 3)


def test_a_forwarded_pull_is_physical_does_not_wait_and_commits_nothing() -> None:
    brokers = moved()
    brokers.forwarded.clear()
    brokers.pull(0, 0, sysFlag=4 | 2 | 1, commitOffset=0)
    pull = brokers.forwarded[-1].ext_fields
    assert (pull["lo"], pull["bname"], pull["queueOffset"]) == ("false", "broker-a", "0")
    assert (int(pull["sysFlag"]) & 3, pull["commitOffset"]) == (0, "0")


def test_an_offset_that_a_pull_commits_belongs_to_the_part_that_has_it() -> None:
    brokers = moved()
    brokers.pull(0, BLOCK, sysFlag=4 | 1, commitOffset=2)
    assert brokers.ask(14, 0, consumerGroup="g").ext_fields["offset"] == "2"
    brokers.pull(0, BLOCK + 1, sysFlag=4 | 1, commitOffset=BLOCK + 1)
    assert brokers.ask(14, 0, consumerGroup="g").ext_fields["offset"] == str(BLOCK + 1)


def test_an_offset_in_the_gap_leads_to_the_next_part() -> None:
    brokers = moved()
    for offset in (3, 4, BLOCK - 1):
        answer = brokers.pull(0, offset)
        assert answer.code == ResponseCode.PULL_RETRY_IMMEDIATELY
        assert answer.ext_fields["nextBeginOffset"] == str(BLOCK)


def test_an_offset_behind_the_leaders_end_is_moved() -> None:
    brokers = moved()
    answer = brokers.pull(0, BLOCK + 9)
    assert answer.code == ResponseCode.PULL_OFFSET_MOVED
    assert answer.ext_fields["nextBeginOffset"] == str(BLOCK + 3)


def test_a_part_that_takes_messages_but_has_no_offset_yet_is_not_read() -> None:
    brokers = StaticBrokers()
    brokers.create(1, "broker-a")
    brokers.send(0, b"a0")
    steps: list[str] = []

    def stop(name: str, command: object) -> None:
        steps.append(name)
        if steps.count("broker-a") == 3:  # asked, told to take no more, asked for its end
            raise InterruptedError

    brokers.fan_out.after = stop
    with pytest.raises(InterruptedError):
        brokers.move("broker-b")
    answer = brokers.send(0, b"b0")
    assert (answer.code, answer.ext_fields["queueOffset"]) == (0, "-1")
    assert brokers.read(0) == [(0, b"a0")]
    answer = brokers.pull(0, 1)
    assert (answer.code, answer.ext_fields["nextBeginOffset"]) == (19, "1")
    assert brokers.ask(30, 0).ext_fields["offset"] == "1"


@pytest.mark.parametrize(
    ("end", "code", "next_offset"),
    [
        (1, ResponseCode.PULL_RETRY_IMMEDIATELY, BLOCK),
        (2, ResponseCode.PULL_NOT_FOUND, 1),
    ],
)
def test_a_reader_does_not_leave_a_queue_that_has_messages_which_are_not_visible_yet(
    end: int, code: ResponseCode, next_offset: int
) -> None:
    chain = (MappingItem(0, 3, "broker-a", 0), MappingItem(1, 0, "broker-b", BLOCK))
    steps = pull(LogicalQueue(TOPIC, 0, chain), PullHeader("g", TOPIC, 0, 1, 32))
    asked = next(steps)
    assert (asked.broker, asked.code) == ("broker-a", RequestCode.PULL_MESSAGE)
    nothing = write_header(PullAnswerHeader(0, 1, 0, 1))
    asked = steps.send(Answer(ResponseCode.PULL_NOT_FOUND, fields=nothing))
    assert asked == Ask(
        "broker-a", RequestCode.GET_MAX_OFFSET, MaxOffsetHeader(TOPIC, 3, committed=False)
    )
    with pytest.raises(StopIteration) as over:
        steps.send(Answer(fields={"offset": str(end)}))
    answer: Answer = over.value.value
    assert answer.code is code
    assert answer.fields is not None
    assert answer.fields["nextBeginOffset"] == str(next_offset)


def test_an_answer_without_offsets_is_an_error_of_its_broker() -> None:
    chain = (MappingItem(0, 3, "broker-a", 0),)
    for said, code in ((Answer(), ResponseCode.SYSTEM_ERROR), (REFUSED, REFUSED.code)):
        steps = pull(LogicalQueue(TOPIC, 0, chain), PullHeader("g", TOPIC, 0, 1, 32))
        next(steps)
        with pytest.raises(StopIteration) as over:
            steps.send(said)
        assert over.value.value.code is code


def test_a_broker_that_does_not_answer_is_named() -> None:
    brokers = moved()
    brokers.away.add("broker-a")
    answer = brokers.pull(0, 0)
    assert answer.code == ResponseCode.SYSTEM_ERROR
    assert "broker-a" in answer.remark
