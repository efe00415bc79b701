import pytest

from aerobee.protocol.response_codes import ResponseCode
from tests.static_topic_kit import StaticBrokers

BLOCK = 10_000
QUERY, COMMIT, SEARCH, MAX, MIN, EARLIEST = 14, 15, 29, 30, 31, 32


def offset(brokers: StaticBrokers, code: int, **fields: object) -> int:
    answer = brokers.ask(code, 0, **fields)
    assert answer.code == ResponseCode.SUCCESS, answer
    return int(answer.ext_fields["offset"])


def three_parts() -> tuple[StaticBrokers, list[int]]:
    """A queue with two messages on each of three brokers, and the times of them."""
    brokers, times = StaticBrokers(), []
    brokers.create(1, "broker-a")
    for part, name in enumerate(("broker-a", "broker-b", "broker-c")):
        if part:
            brokers.move(name)
        for number in range(2):
            times.append(brokers.clock.advance(1_000).wall_ms)
            brokers.send(0, b"%d %d" % (part, number))
    return brokers, times


def test_bounds_are_those_of_the_oldest_and_of_the_newest_part() -> None:
    brokers, _ = three_parts()
    assert offset(brokers, MIN) == 0
    assert offset(brokers, MAX) == 2 * BLOCK + 2
    assert offset(brokers, MAX, committed="false") == 2 * BLOCK + 2


def test_a_time_is_found_in_the_part_that_has_it() -> None:
    brokers, times = three_parts()
    places = [0, 1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 1]
    for place, time_ms in zip(places, times, strict=True):
        assert offset(brokers, SEARCH, timestamp=time_ms) == place
        assert offset(brokers, SEARCH, timestamp=time_ms - 500) == place
        assert offset(brokers, SEARCH, timestamp=time_ms, boundaryType="UPPER") == place
        assert offset(brokers, SEARCH, timestamp=time_ms + 500, boundaryType="UPPER") == place
    assert offset(brokers, SEARCH, timestamp=times[-1] + 500) == 2 * BLOCK + 2
    assert offset(brokers, SEARCH, timestamp=0, boundaryType="UPPER") == 0


def test_the_first_stored_time_is_that_of_the_oldest_part_with_a_message() -> None:
    brokers = StaticBrokers()
    brokers.create(1, "broker-a")
    assert brokers.ask(EARLIEST, 0).ext_fields["timestamp"] == "-1"
    brokers.move("broker-b")
    time_ms = brokers.clock.advance(50).wall_ms
    brokers.send(0, b"b")
    assert brokers.ask(EARLIEST, 0).ext_fields["timestamp"] == str(time_ms)


def test_a_group_begins_where_it_was_on_the_broker_that_had_the_queue() -> None:
    brokers, _ = three_parts()
    assert brokers.ask(QUERY, 0, consumerGroup="g").code == ResponseCode.QUERY_NOT_FOUND
    for committed in (1, BLOCK + 2, 2 * BLOCK + 1):
        brokers.ask(COMMIT, 0, consumerGroup="g", commitOffset=committed)
        assert offset(brokers, QUERY, consumerGroup="g") == committed


def test_a_queue_that_was_never_moved_is_as_a_physical_one() -> None:
    brokers = StaticBrokers()
    brokers.create(1, "broker-a")
    brokers.send(0, b"a")
    assert offset(brokers, QUERY, consumerGroup="new") == 0  # it is young
    exact = brokers.ask(QUERY, 0, consumerGroup="new", setZeroIfNotFound="false")
    assert exact.code == ResponseCode.QUERY_NOT_FOUND


@pytest.mark.parametrize("code", [MIN, SEARCH, QUERY, EARLIEST])
def test_a_part_on_a_broker_that_is_away_is_an_error_and_no_answer(code: int) -> None:
    brokers, _ = three_parts()
    brokers.away.add("broker-a")
    answer = brokers.ask(code, 0, consumerGroup="g", timestamp=1)
    assert (answer.code, "broker-a" in answer.remark) == (ResponseCode.SYSTEM_ERROR, True)


def test_a_commit_without_its_fields_is_refused() -> None:
    brokers, _ = three_parts()
    assert brokers.ask(COMMIT, 0, consumerGroup="g").code == ResponseCode.INVALID_PARAMETER
