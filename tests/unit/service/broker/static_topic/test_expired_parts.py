import pytest

from aerobee.model.mapping_plan import BLOCK_OFFSETS
from aerobee.model.queue_mapping import UNDECIDED, Chain, MappingItem, TopicMapping
from aerobee.protocol.bodies.topic_route import encode_topic_route
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.static_topic.expired_parts import ROUND_MS, old_parts
from tests.static_topic_kit import TOPIC, StaticBrokers


def chain(brokers: StaticBrokers, name: str = "broker-b", number: int = 0) -> list[str]:
    """The brokers of a logical queue's parts, as one of them knows them."""
    return [item.broker for item in brokers.known()[name].mapping.hosted[number]]


def moved(*bodies: bytes) -> StaticBrokers:
    """A queue that went from broker-a to broker-b, with messages in its first part."""
    brokers = StaticBrokers()
    brokers.create(1, "broker-a")
    for body in bodies:
        brokers.send(0, body)
    brokers.tick("broker-b", 1)
    brokers.move("broker-b")
    brokers.send(0, b"new")
    return brokers


def min_offset(brokers: StaticBrokers) -> int:
    return int(brokers.ask(RequestCode.GET_MIN_OFFSET, 0).ext_fields["offset"])


def test_a_part_without_messages_is_taken_off_and_its_broker_may_leave() -> None:
    brokers = moved()
    assert chain(brokers) == ["broker-a", "broker-b"]
    brokers.tick("broker-b", ROUND_MS)
    assert chain(brokers) == ["broker-b"]
    brokers.away.add("broker-a")
    assert min_offset(brokers) == BLOCK_OFFSETS
    assert brokers.read(0, BLOCK_OFFSETS) == [(BLOCK_OFFSETS, b"new")]
    answer = brokers.ask(RequestCode.QUERY_CONSUMER_OFFSET, 0, consumerGroup="g")
    assert answer.code == ResponseCode.QUERY_NOT_FOUND


def test_offsets_before_the_parts_that_are_left_lead_to_the_first_message() -> None:
    brokers = moved()
    brokers.tick("broker-b", ROUND_MS)
    answer = brokers.pull(0, 3)
    assert answer.code == ResponseCode.PULL_OFFSET_MOVED
    assert answer.ext_fields["nextBeginOffset"] == str(BLOCK_OFFSETS)
    said = {"consumerGroup": "g", "commitOffset": 3}
    assert brokers.ask(RequestCode.UPDATE_CONSUMER_OFFSET, 0, **said).code == 0
    answer = brokers.ask(RequestCode.QUERY_CONSUMER_OFFSET, 0, consumerGroup="g")
    assert answer.ext_fields["offset"] == str(BLOCK_OFFSETS)
    # Apache's broker would store a negative offset.
    brokers.move("broker-c")
    assert brokers.ask(RequestCode.UPDATE_CONSUMER_OFFSET, 0, **said).code == 0
    assert brokers.forwarded[-1].ext_fields["commitOffset"] == "0"


def test_a_part_with_messages_stays() -> None:
    brokers = moved(b"old")
    brokers.tick("broker-b", ROUND_MS)
    assert chain(brokers) == ["broker-a", "broker-b"]
    assert [body for _, body in brokers.read(0)] == [b"old", b"new"]


def test_a_part_whose_broker_does_not_answer_stays_until_it_does() -> None:
    brokers = moved()
    brokers.away.add("broker-a")
    brokers.tick("broker-b", ROUND_MS)
    assert chain(brokers) == ["broker-a", "broker-b"]
    brokers.away.clear()
    brokers.tick("broker-b", ROUND_MS - 1)
    assert chain(brokers) == ["broker-a", "broker-b"]
    brokers.tick("broker-b", 1)
    assert chain(brokers) == ["broker-b"]


def test_an_answer_that_says_no_offset_is_none() -> None:
    brokers = moved()
    kit = brokers.kits["broker-b"]
    kit.tick(ROUND_MS)
    for _ in range(2):  # the route, the end of the queue
        dialed, kit.dialed = kit.dialed, []
        for dial in dialed:
            answer = RemotingCommand(0)
            if dial.command.code == RequestCode.GET_ROUTEINFO_BY_TOPIC:
                answer.body = encode_topic_route(brokers.route(), is_standard=True)
            kit.carry_out(kit.broker.on_answer(dial.ticket, answer, brokers.clock.now()))
    assert chain(brokers) == ["broker-a", "broker-b"]
    brokers.tick("broker-b", ROUND_MS)
    assert chain(brokers) == ["broker-b"]


def test_a_queue_that_lost_a_part_is_moved_on_and_back() -> None:
    brokers = moved()
    brokers.tick("broker-b", ROUND_MS)
    brokers.move("broker-a")
    brokers.send(0, b"newer")
    assert chain(brokers, "broker-a") == ["broker-b", "broker-a"]
    assert [body for _, body in brokers.read(0, BLOCK_OFFSETS)] == [b"new", b"newer"]


def test_the_change_is_on_the_disk() -> None:
    brokers = moved()
    brokers.tick("broker-b", ROUND_MS)
    brokers.kits["broker-b"] = brokers.kits["broker-b"].killed()
    assert chain(brokers) == ["broker-b"]


OLD = MappingItem(0, 0, "broker-a", 0)
LED, UNREADABLE = MappingItem(1, 0, "broker-b", 10_000), MappingItem(1, 0, "broker-b", UNDECIDED)
ELSEWHERE = MappingItem(2, 0, "broker-c", 20_000)


@pytest.mark.parametrize(
    ("items", "is_old"),
    [
        ([OLD, LED], True),
        ([LED], False),
        ([OLD, UNREADABLE], False),
        ([OLD, LED, ELSEWHERE], False),
    ],
)
def test_only_queues_that_are_led_and_readable_have_old_parts(items: Chain, is_old: bool) -> None:
    mapping = TopicMapping(TOPIC, "broker-b", 1, 4, {3: items})
    found = [(part.topic, part.number, part.item) for part in old_parts([mapping])]
    assert found == ([(TOPIC, 3, OLD)] if is_old else [])
