from aerobee.service.broker.transaction.queue_progress import QueueProgress


def opened(*offsets: int) -> QueueProgress:
    progress = QueueProgress(offsets[0] if offsets else 0, 0)
    for offset in offsets:
        progress.opened(offset)
    return progress


def test_without_a_transaction_everything_is_passed() -> None:
    progress = QueueProgress(12, 3)
    progress.note_flushed(1_000)
    assert (progress.half_offset, progress.half_end, progress.op_offset) == (12, 12, 3)


def test_the_first_open_half_holds_everything_behind_it() -> None:
    progress = opened(0, 1, 2)
    progress.passed([1, 2], 10)
    progress.note_flushed(10)
    assert progress.half_offset == 0
    progress.passed([0], 20)
    progress.note_flushed(20)
    assert (progress.half_offset, progress.half_end) == (3, 3)


def test_what_a_power_cut_can_undo_is_not_passed() -> None:
    progress = opened(0, 1)
    progress.op_written(0, 1)
    progress.passed([0, 1], 100)
    progress.note_flushed(99)
    assert (progress.half_offset, progress.op_offset) == (0, 0)
    progress.note_flushed(100)
    assert (progress.half_offset, progress.op_offset) == (2, 1)


def test_an_op_record_is_needed_until_all_that_it_ends_is_passed() -> None:
    progress = opened(0, 1, 2, 3)
    progress.op_written(0, 3)
    progress.passed([1, 3], 10)
    progress.op_written(1, 0)
    progress.passed([0], 20)
    progress.note_flushed(20)
    # The second ends nothing that is left, but the first does, and it comes before.
    assert (progress.half_offset, progress.op_offset) == (2, 0)
    progress.op_written(2, 2)
    progress.passed([2], 30)
    progress.note_flushed(30)
    assert (progress.half_offset, progress.op_offset) == (4, 3)


def test_offsets_that_were_never_open_are_passed_without_a_word() -> None:
    progress = opened(5)
    progress.passed([1, 2, 5], 10)
    progress.note_flushed(10)
    assert progress.half_offset == 6


def test_a_half_that_stands_further_on_holds_nothing_where_it_was() -> None:
    progress = opened(0, 1)
    progress.opened(2)
    progress.passed([0], 10)
    progress.note_flushed(10)
    assert (progress.half_offset, progress.half_end) == (1, 3)
