"""Progress: what a leader knows of a member."""

from aerobee.raft.progress import Progress


def test_the_first_fetch_that_agrees_says_where_to_begin() -> None:
    progress = Progress(500)
    assert progress.agree(end=300, synced=200, is_rewind=False)
    assert (progress.next, progress.synced, progress.is_agreed) == (300, 200, True)


def test_a_report_moves_only_what_is_synced() -> None:
    progress = Progress(500)
    progress.agree(300, 200, False)
    progress.next = 450
    assert progress.agree(400, 350, False)
    assert (progress.next, progress.synced) == (450, 350)


def test_a_rewind_begins_again_at_the_end_of_the_follower() -> None:
    progress = Progress(500)
    progress.agree(300, 200, False)
    progress.next = 450
    assert not progress.agree(320, 200, True)
    assert progress.next == 320


def test_a_late_report_takes_nothing_back() -> None:
    progress = Progress(500)
    progress.agree(400, 400, False)
    assert not progress.agree(300, 300, False)
    assert (progress.next, progress.synced) == (400, 400)


def test_what_is_synced_need_not_be_sent() -> None:
    progress = Progress(500)
    progress.agree(100, 100, False)
    progress.agree(300, 250, False)
    assert progress.next == 250


def test_after_a_disagreement_the_next_fetch_says_where_to_begin() -> None:
    progress = Progress(500)
    progress.agree(400, 400, False)
    progress.disagree()
    assert not progress.is_agreed
    progress.agree(350, 350, False)
    assert progress.next == 350
    assert progress.synced == 400
