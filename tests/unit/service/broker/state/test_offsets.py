"""Unit tests of committed offsets: never beyond the queue, sent back only on purpose."""

from aerobee.service.broker.state.offsets import UNKNOWN, Offsets


def test_what_was_committed_is_found() -> None:
    offsets = Offsets()
    assert offsets.find("g", "t", 0) == UNKNOWN
    offsets.commit("g", "t", 0, 7, max_offset=10)
    assert offsets.find("g", "t", 0) == 7
    assert offsets.find("g", "t", 1) == UNKNOWN
    assert offsets.find("h", "t", 0) == UNKNOWN
    assert offsets.is_dirty


def test_an_offset_is_never_kept_beyond_the_end_of_its_queue_or_below_zero() -> None:
    offsets = Offsets()
    offsets.commit("g", "t", 0, 99, max_offset=10)
    assert offsets.find("g", "t", 0) == 10
    offsets.commit("g", "t", 0, -5, max_offset=10)
    assert offsets.find("g", "t", 0) == 0


def test_a_group_may_go_back() -> None:
    offsets = Offsets()
    offsets.commit("g", "t", 0, 9, max_offset=10)
    offsets.commit("g", "t", 0, 3, max_offset=10)
    assert offsets.find("g", "t", 0) == 3


def test_commits_are_ignored_until_a_reset_was_taken() -> None:
    offsets = Offsets()
    offsets.commit("g", "t", 0, 9, max_offset=10)
    offsets.reset("g", "t", 0, 2)
    offsets.commit("g", "t", 0, 10, max_offset=10)
    assert offsets.find("g", "t", 0) == 2
    assert offsets.take_reset("g", "t", 0) == 2
    assert offsets.take_reset("g", "t", 0) is None
    offsets.commit("g", "t", 0, 3, max_offset=10)
    assert offsets.find("g", "t", 0) == 3


def test_topics_and_groups_are_listed_and_removed() -> None:
    offsets = Offsets()
    offsets.commit("g", "t", 0, 1, max_offset=10)
    offsets.commit("g", "u", 0, 2, max_offset=10)
    offsets.commit("h", "t", 1, 3, max_offset=10)
    assert offsets.topics_of("g") == ["t", "u"]
    assert offsets.groups_of("t") == ["g", "h"]
    assert list(offsets) == [("t", "g", {0: 1}), ("t", "h", {1: 3}), ("u", "g", {0: 2})]
    offsets.remove_group("g")
    assert list(offsets) == [("t", "h", {1: 3})]
    offsets.remove_topic("t")
    assert list(offsets) == []
