from bench.soak.ledger import Ledger


def test_what_was_acknowledged_is_missing_until_it_comes() -> None:
    ledger = Ledger("x")
    ledger.begin(1)
    assert ledger.missing == 0
    ledger.ack(1)
    assert (ledger.missing, ledger.oldest_missing()) == (1, [1])
    ledger.see(1, "q:0")
    assert (ledger.missing, ledger.repeated) == (0, 0)
    ledger.see(1, "q:0")
    assert (ledger.seen, ledger.repeated, ledger.faults) == (2, 1, [])


def test_what_comes_before_its_answer_is_not_missing_after_it() -> None:
    ledger = Ledger("x")
    for number in (1, 2):
        ledger.begin(number)
        ledger.see(number, "q:0")
    ledger.ack(1)
    ledger.fail(2)
    assert (ledger.missing, ledger.acked, ledger.failed) == (0, 1, 1)


def test_what_was_rolled_back_must_not_come() -> None:
    ledger = Ledger("x")
    ledger.begin(1)
    ledger.refuse(1)
    ledger.see(1, "q:0")
    assert ledger.faults == ["x 1 came, and was rolled back"]


def test_first_arrivals_of_a_lane_are_in_order_and_repeats_may_not_be() -> None:
    ledger = Ledger("x", is_ordered=True)
    for number in (1, 2, 3):
        ledger.begin(number)
        ledger.ack(number)
    ledger.see(1, "q:0", "a")
    ledger.see(3, "q:2", "a")
    ledger.see(1, "q:0", "a")
    assert ledger.faults == []
    ledger.see(2, "q:1", "a")
    assert ledger.faults == ["x 2 came after 3"]


def test_one_that_lies_in_two_places_was_stored_twice() -> None:
    ledger = Ledger("x", is_stored_once=True)
    ledger.begin(1)
    ledger.ack(1)
    ledger.see(1, "q:0")
    ledger.see(1, "q:0")
    assert ledger.faults == []
    ledger.see(1, "q:7")
    assert ledger.faults == ["x 1 lies at q:0 and at q:7"]
