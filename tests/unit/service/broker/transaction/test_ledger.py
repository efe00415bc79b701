from dataclasses import replace

import pytest

from aerobee.errors import DiskFull, MessageIllegal, StoreBusy
from aerobee.service.broker.transaction.open_halves import Half
from aerobee.storage.config import FlushMode
from tests.broker_kit import STORAGE
from tests.store_kit import draft
from tests.transaction_kit import GIVEN_UP, GROUP, HALF, OP, Book


def found(book: Book, offset: int) -> Half:
    half = book.ledger.halves.find(offset)
    assert half is not None
    return half


def renew(book: Book, offset: int, times: int = 1) -> int:
    """Where it is then."""
    half = found(book, offset)
    message = book.ledger.read(half)
    assert message is not None
    return book.ledger.renew(half, message, times, book.clock.now()).message.queue_offset


def test_a_half_is_stored_and_open() -> None:
    book = Book()
    assert [book.begin(b"%d" % number) for number in range(3)] == [0, 1, 2]
    assert [message.body for message in book.messages(HALF)] == [b"0", b"1", b"2"]
    assert book.open_offsets() == [0, 1, 2]
    assert book.messages("Orders", 1) == []


def test_a_commit_stores_the_message_and_then_writes_down_that_it_is_over() -> None:
    book = Book()
    offset = book.begin(b"paid", UNIQ_KEY="id")
    book.tick()
    assert book.commit(offset) == [True]
    (real,) = book.messages("Orders", 1)
    (half,) = book.messages(HALF)
    assert (real.body, real.sys_flag & 0xC, real.prepared_offset) == (b"paid", 8, half.log_offset)
    assert book.messages(OP) == []
    book.tick()
    (op,) = book.messages(OP)
    assert (op.body, op.log_offset > real.log_offset) == (b"0,", True)
    assert book.saved() == (1, 1)


def test_a_rollback_stores_nothing_but_that_it_is_over() -> None:
    book = Book()
    told = book.roll_back(book.begin())
    assert told == []
    book.tick()
    assert told == [True]
    assert [op.body for op in book.messages(OP)] == [b"0,"]
    assert book.messages("Orders", 1) == []


def test_with_synchronous_flush_nothing_is_over_before_the_message_is_on_the_disk() -> None:
    book = Book(storage=replace(STORAGE, flush_mode=FlushMode.SYNC))
    offset = book.begin()
    book.store.sync()
    book.store.dispatch()
    told = book.commit(offset)
    book.ledger.on_tick(book.clock.advance(5))
    end = book.store.end_offset
    book.ledger.on_tick(book.clock.advance(5))
    assert (told, book.store.end_offset) == ([], end), "no op record yet"
    for _ in range(3):
        for ticket in book.kit.step().safe:
            ticket(True)  # type: ignore[operator]
        book.kit.worker.run_all()
    assert told == [True]
    assert not book.messages(OP)
    book.tick()
    assert [op.body for op in book.messages(OP)] == [b"0,"]


def test_what_ended_since_the_last_tick_shares_a_record() -> None:
    book = Book()
    offsets = [book.begin() for _ in range(5)]
    book.tick()
    for offset in offsets[:3]:
        book.roll_back(offset)
    book.commit(offsets[4])
    book.tick()
    assert [op.body for op in book.messages(OP)] == [b"0,1,2,4,"]
    assert book.saved() == (3, 0)


def test_more_than_a_record_takes_goes_into_several() -> None:
    book = Book(storage=replace(STORAGE, log_file_bytes=1 << 22))
    for _ in range(1_500):
        book.begin(b"")
    for offset in range(1_500):
        book.roll_back(offset)
    book.tick()
    ops = book.messages(OP)
    assert len(ops) == 2
    assert all(len(op.body) <= 4096 for op in ops)
    assert book.saved() == (1_500, 2)


def test_a_half_that_is_renewed_stands_at_the_end_and_is_ended_by_any_of_its_places() -> None:
    book = Book()
    book.begin()
    book.begin()
    book.tick()
    assert renew(book, 0) == 2
    book.tick()
    assert book.open_offsets() == [1, 2]
    assert found(book, 0) is found(book, 2)
    book.roll_back(0)
    book.tick()
    assert [op.body for op in book.messages(OP)] == [b"0,2,"]
    assert book.open_offsets() == [1]


def test_a_half_that_was_renewed_is_passed_once_its_copy_is_on_the_disk() -> None:
    book = Book()
    book.begin()
    book.tick()
    renew(book, 0)
    book.ledger.on_tick(book.clock.now())
    assert book.saved()[0] == 0
    book.tick()
    assert book.saved()[0] == 1


def test_what_is_given_up_is_in_its_topic_and_over() -> None:
    book = Book()
    offset = book.begin(b"lost", TAGS="A")
    book.tick()
    half = found(book, offset)
    message = book.ledger.read(half)
    assert message is not None
    book.ledger.give_up(half, message, book.clock.now())
    book.tick()
    (parked,) = book.messages(GIVEN_UP)
    assert (parked.body, parked.properties) == (b"lost", message.properties)
    assert [op.body for op in book.messages(OP)] == [b"0,"]
    assert book.open_offsets() == []


def test_what_was_given_up_can_be_open_again() -> None:
    book = Book()
    half = found(book, book.begin(b"lost"))
    book.tick()
    message = book.ledger.read(half)
    assert message is not None
    book.ledger.give_up(half, message, book.clock.now())
    book.tick()
    (parked,) = book.messages(GIVEN_UP)
    told: list[bool] = []
    book.ledger.resume(parked, book.clock.now(), told.append)
    assert (told, book.open_offsets()) == ([True], [1])
    book.tick()
    assert book.killed().open_offsets() == [1]


# Refusals.


def test_no_more_are_open_than_may_be() -> None:
    book = Book(open_max=2)
    book.begin()
    book.begin()
    end = book.store.end_offset
    with pytest.raises(StoreBusy, match="2 transactions are open"):
        book.begin()
    assert book.store.end_offset == end
    book.roll_back(0)
    assert book.begin() == 2


def test_a_commit_that_is_refused_leaves_the_half_open() -> None:
    book = Book()
    book.begin()
    book.tick()
    book.store.appender.refusal = DiskFull("no room")
    with pytest.raises(DiskFull):
        book.commit(0)
    assert book.open_offsets() == [0]
    book.store.appender.refusal = None
    assert book.commit(0) == [True]


def test_a_half_that_names_no_place_cannot_be_committed_and_stays_open() -> None:
    book = Book()
    book.begin()
    book.tick()
    half = found(book, 0)
    message = book.ledger.read(half)
    assert message is not None
    nowhere = replace(message, properties={"PGROUP": GROUP})
    with pytest.raises(MessageIllegal):
        book.ledger.commit(half, nowhere, book.clock.now(), lambda is_safe: None)
    assert book.open_offsets() == [0]


def test_what_cannot_be_written_down_now_is_later() -> None:
    book = Book()
    told = book.roll_back(book.begin())
    book.store.appender.refusal = DiskFull("no room")
    book.ledger.on_tick(book.clock.advance(5))
    assert (told, book.ledger.is_busy) == ([], True)
    book.store.appender.refusal = None
    book.tick()
    assert (told, book.ledger.is_busy) == ([True], False)
    assert [op.body for op in book.messages(OP)] == [b"0,"]


# Other processes.


@pytest.mark.parametrize("with_offsets", [True, False])
def test_the_next_process_knows_what_is_open(with_offsets: bool) -> None:
    book = Book()
    for _ in range(6):
        book.begin()
    book.tick()
    book.commit(0)
    book.roll_back(1)
    assert renew(book, 3) == 6
    book.commit(4)
    book.tick()
    after = book.killed(with_offsets=with_offsets)
    assert after.open_offsets() == [2, 5, 6]
    assert found(after, 3).times == 1
    assert found(after, 3).chain == (3, 6)
    # And goes on with it.
    after.roll_back(2)
    after.commit(3)
    after.roll_back(5)
    after.tick()
    assert after.killed(with_offsets=with_offsets).open_offsets() == []
    assert len(after.messages("Orders", 1)) == 3


def test_a_stop_leaves_everything_written_down_and_saved() -> None:
    book = Book()
    for _ in range(3):
        book.begin()
    book.roll_back(0)
    book.roll_back(1)
    book.ledger.stop(book.clock.now())
    assert book.saved() == (2, 1)
    assert book.killed().open_offsets() == [2]


def test_offsets_are_not_ahead_of_what_a_power_cut_leaves() -> None:
    book = Book()
    for _ in range(3):
        book.begin()
    book.tick()
    book.commit(0)
    book.roll_back(1)
    book.ledger.on_tick(book.clock.advance(5))
    assert book.saved() == (0, 0) or book.saved() == (0, -1)
    after = Book(book.disk.power_cut(), STORAGE, book.clock, book.offsets)
    assert after.open_offsets() == [0, 1, 2]


def test_the_oldest_is_what_a_start_would_begin_with() -> None:
    book = Book()
    for _ in range(4):
        book.begin()
    book.tick()
    book.roll_back(0)
    book.roll_back(2)
    book.tick()
    oldest = book.ledger.oldest()
    assert oldest is not None
    assert (oldest.offset, book.ledger.unread_from(oldest)) == (1, 3)
    book.roll_back(1)
    assert book.ledger.oldest() is found(book, 3)
    book.roll_back(3)
    assert book.ledger.oldest() is None


def test_what_was_ended_elsewhere_is_over_when_its_messages_are_safe() -> None:
    book = Book()
    offsets = [book.begin() for _ in range(3)]
    for offset in offsets[:2]:
        book.ledger.halves.remove(found(book, offset))
    book.ledger.end(offsets[:2])
    assert book.ledger.is_busy
    book.tick()
    assert [op.body for op in book.messages(OP)] == [b"0,1,"]
    assert (book.saved(), book.killed().open_offsets()) == ((2, 1), [2])


def test_what_was_ended_elsewhere_and_is_not_safe_is_open_in_the_next_process() -> None:
    book = Book(storage=replace(STORAGE, flush_mode=FlushMode.SYNC))
    offset = book.begin()
    book.store.sync()
    book.ledger.halves.remove(found(book, offset))
    end = book.store.append(draft(), book.clock.now().wall_ms)
    book.ledger.end([offset])
    book.ledger.on_tick(book.clock.advance(5))
    assert (book.ledger.is_busy, book.store.end_offset > end) == (False, True)
    assert book.killed().open_offsets() == [offset]
