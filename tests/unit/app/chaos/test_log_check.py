"""The checker of histories: a good one passes, and each anomaly that is planted is found."""

from collections.abc import Sequence

import pytest

from aerobee.app.chaos.log_check import Found, Queue, Sent, SentOutcome, check, explain

ORDERS: Queue = (b"Orders", 0)
REFUNDS: Queue = (b"Refunds", 3)


def sent(
    number: int,
    queue: Queue = ORDERS,
    outcome: SentOutcome = SentOutcome.ACKNOWLEDGED,
    offset: int = -1,
) -> Sent:
    """One after another: number n begins at 10n and is answered at 10n + 5."""
    told = None if offset < 0 else offset
    return Sent(b"%d" % number, queue, body(number), outcome, 10 * number, 10 * number + 5, told)


def body(number: int) -> bytes:
    return b"body of %d" % number


def found(numbers: Sequence[int], first_offset: int = 0) -> list[Found]:
    return [
        Found(b"%d" % number, first_offset + index, body(number))
        for index, number in enumerate(numbers)
    ]


def kinds(
    history: Sequence[Sent], there: dict[Queue, list[Found]], tail_from: int | None = None
) -> list[str]:
    return sorted(anomaly.kind for anomaly in check(history, there, tail_from))


def test_a_log_of_all_that_was_acknowledged_is_good() -> None:
    history = [sent(0, offset=7), sent(1, REFUNDS), sent(2), sent(3, outcome=SentOutcome.UNKNOWN)]
    there = {ORDERS: found([0, 2], first_offset=7), REFUNDS: found([1])}
    assert kinds(history, there) == []


def test_a_message_of_unknown_outcome_may_be_there() -> None:
    assert kinds([sent(0, outcome=SentOutcome.UNKNOWN)], {ORDERS: found([0])}) == []


def test_a_refused_message_that_is_not_there_is_no_anomaly() -> None:
    assert kinds([sent(0, outcome=SentOutcome.REFUSED)], {ORDERS: []}) == []


def test_sends_that_overlap_may_stand_in_either_order() -> None:
    first, second = sent(0), sent(1)
    overlapping = [first._replace(ended=20), second]
    assert kinds(overlapping, {ORDERS: found([1, 0])}) == []


ANOMALIES = {
    "lost": ([sent(0), sent(1)], {ORDERS: found([0])}),
    "duplicated": ([sent(0)], {ORDERS: found([0, 0])}),
    "reordered": ([sent(0), sent(1)], {ORDERS: found([1, 0])}),
    "invented": ([sent(0)], {ORDERS: found([0, 9])}),
    "refused": ([sent(0, outcome=SentOutcome.REFUSED)], {ORDERS: found([0])}),
    "changed": ([sent(0)], {ORDERS: [Found(b"0", 0, b"body of O")]}),
    "misplaced": ([sent(0, offset=4)], {ORDERS: found([0], first_offset=5)}),
    "hole": ([sent(0), sent(1)], {ORDERS: [*found([0]), *found([1], first_offset=2)]}),
}


@pytest.mark.parametrize("kind", ANOMALIES)
def test_a_planted_anomaly_is_found_and_no_other(kind: str) -> None:
    history, there = ANOMALIES[kind]
    assert kinds(history, there) == [kind]


def test_a_message_in_another_queue_is_changed() -> None:
    assert kinds([sent(0)], {REFUNDS: found([0])}) == ["changed"]


def test_an_offset_that_goes_back_is_a_hole() -> None:
    there = [*found([0], first_offset=1), *found([1], first_offset=0)]
    assert "hole" in kinds([sent(0), sent(1)], {ORDERS: there})


def test_a_tail_may_be_lost_if_it_was_acknowledged_late_enough() -> None:
    history = [sent(number) for number in range(5)]
    assert kinds(history, {ORDERS: found([0, 1, 2])}, tail_from=35) == []
    assert kinds(history, {ORDERS: found([0, 1, 2])}, tail_from=36) == ["lost"]


def test_a_loss_with_later_messages_there_is_no_tail() -> None:
    history = [sent(0), sent(1), sent(2, REFUNDS)]
    there = {ORDERS: found([0]), REFUNDS: found([2])}
    assert kinds(history, there, tail_from=0) == ["lost"]


def test_a_long_list_of_anomalies_is_shortened() -> None:
    anomalies = check([sent(number) for number in range(20)], {})
    text = explain(anomalies, count_max=3)
    assert text.splitlines()[-1] == "and 17 more"
    assert "lost b'0'" in text
