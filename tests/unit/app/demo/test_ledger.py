from aerobee.app.demo.ledger import Ledger


def ledger_of(count: int, *, read: list[int]) -> Ledger:
    """All of so many messages are acknowledged at their places; some were read."""
    ledger = Ledger(0)
    for number in range(count):
        ledger.on_acknowledged(number, number)
    for offset, number in enumerate(read):
        ledger.on_read(number, offset)
    return ledger


def test_nothing_is_wrong_while_the_reader_is_on_its_way() -> None:
    ledger = ledger_of(5, read=[0, 1, 2])
    assert (ledger.acknowledged, ledger.read) == (5, 3)
    assert (ledger.lost, ledger.out_of_order, ledger.twice) == (0, 0, 0)


def test_a_message_that_the_reader_has_passed_without_seeing_it_is_lost() -> None:
    assert ledger_of(5, read=[0, 1, 3, 4]).lost == 1


def test_messages_that_changed_places_are_out_of_order() -> None:
    ledger = ledger_of(5, read=[0, 2, 1, 3])
    assert (ledger.lost, ledger.out_of_order) == (0, 1)


def test_a_message_that_comes_again_is_counted_as_that() -> None:
    ledger = ledger_of(3, read=[0, 1, 1, 2])
    assert (ledger.lost, ledger.out_of_order, ledger.twice) == (0, 0, 1)


def test_a_send_that_failed_may_come_later_than_the_next() -> None:
    ledger = Ledger(0)
    ledger.on_failed(0)
    ledger.on_acknowledged(1, 0)
    ledger.on_read(1, 0)
    ledger.on_read(0, 1)
    assert (ledger.failed, ledger.lost, ledger.out_of_order) == (1, 0, 0)


def test_what_was_read_before_its_answer_came_is_not_lost() -> None:
    ledger = Ledger(10)
    ledger.on_read(0, 10)
    ledger.on_acknowledged(0, 10)
    ledger.on_read(1, 11)
    assert ledger.lost == 0
