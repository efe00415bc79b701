from collections import Counter

import pytest

from aerobee.app.demo.story import (
    ATTEMPTS_MAX,
    GROUPS,
    LOGINS,
    ORDERS,
    TOPICS,
    StoryOutcome,
    StoryVerdict,
    body,
    customer,
    delay_seconds,
    is_slow,
    key,
    login,
    pace,
    payment,
    rate,
    tag,
    was_paid,
)
from aerobee.model.names import find_group_fault, find_topic_fault

MINUTE = [second / 10 for second in range(600)]


def test_names_are_allowed_and_every_topic_is_consumed() -> None:
    assert not any(find_topic_fault(topic) for topic in TOPICS)
    assert not any(find_group_fault(group) for group in GROUPS)
    assert set(GROUPS.values()) == set(TOPICS)


def test_the_rate_is_modest_at_every_moment() -> None:
    sums = [sum(rate(topic, second) for topic in TOPICS) for second in MINUTE]
    assert min(sums) >= 50
    assert max(sums) <= 200
    assert min(rate(topic, second) for topic in TOPICS for second in MINUTE) > 0


def test_of_payments_most_are_committed_some_rolled_back_and_a_few_left_open() -> None:
    outcomes = Counter(map(payment, range(1200)))
    assert outcomes[StoryOutcome.COMMIT] > 900
    assert outcomes[StoryOutcome.ROLLBACK] > 100
    assert 40 <= outcomes[StoryOutcome.OPEN] <= 80
    left_open = [number for number in range(1200) if payment(number) is StoryOutcome.OPEN]
    assert Counter(map(was_paid, left_open)) == {True: 30, False: 30}


def test_of_logins_some_fail_once_and_a_few_for_ever() -> None:
    firsts = Counter(login(number, 1) for number in range(9000))
    assert firsts[StoryVerdict.NEVER] == 10
    assert 100 <= firsts[StoryVerdict.LATER] <= 120
    again = {login(number, 2) for number in range(9000) if login(number, 1) is StoryVerdict.LATER}
    assert again == {StoryVerdict.FINE}
    assert ATTEMPTS_MAX >= 2


def test_the_slow_one_falls_behind_and_can_catch_up() -> None:
    orders = [rate(ORDERS, second) / 10 for second in MINUTE]
    slow = [order for second, order in zip(MINUTE, orders, strict=True) if is_slow(second)]
    assert 0 < len(slow) < len(MINUTE)
    assert sum(slow) > 4 * sum(0.1 / pace(second) for second in MINUTE if is_slow(second))
    assert sum(0.1 / pace(second) for second in MINUTE) > 2 * sum(orders)


@pytest.mark.parametrize("topic", TOPICS)
def test_a_body_has_its_number_and_differs_from_the_next(topic: str) -> None:
    assert body(topic, 7)["number"] == 7
    assert body(topic, 7) != body(topic, 8)
    assert key(topic, 7) != key(topic, 8)


def test_tags_customers_and_delays_come_in_several_kinds() -> None:
    numbers = range(100)
    assert {tag(ORDERS, number) for number in numbers} == {"created", "paid", "packed", "sent"}
    assert {tag(LOGINS, number) for number in numbers} == {"web", "phone"}
    assert len({customer(number) for number in numbers}) == 50
    assert {delay_seconds(number) for number in numbers} == {2, 5, 8, 13, 21}
