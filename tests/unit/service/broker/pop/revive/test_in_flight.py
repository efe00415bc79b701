from aerobee.service.broker.pop.revive.in_flight import InFlight

KEY = ("T", "g", 0, 100, 1_700_000_000_000, "b")
OTHER = ("T", "g", 0, 132, 1_700_000_000_000, "b")


def test_what_is_acknowledged_is_known_by_its_distance_from_the_start() -> None:
    known = InFlight()
    known.started(KEY, 31)
    known.acked(KEY, (100, 103))
    assert [known.is_acked(KEY, distance) for distance in range(5)] == [
        True,
        False,
        False,
        True,
        False,
    ]


def test_an_acknowledgement_of_a_stranger_is_not_kept() -> None:
    known = InFlight()
    known.acked(KEY, (100,))
    assert not known.knows(KEY)
    assert len(known) == 0


def test_an_offset_far_behind_the_last_message_is_not_kept() -> None:
    known = InFlight()
    known.started(KEY, 2)
    known.acked(KEY, (102, 103, 100 + 10**12))
    assert [known.is_acked(KEY, distance) for distance in range(3)] == [False, False, True]
    assert not known.is_acked(KEY, 3)


def test_an_offset_before_the_start_acknowledges_nothing() -> None:
    known = InFlight()
    known.started(KEY, 31)
    known.acked(KEY, (99,))
    assert not known.is_acked(KEY, 0)


def test_the_same_checkpoint_again_forgets_no_acknowledgement() -> None:
    known = InFlight()
    known.started(KEY, 31)
    known.acked(KEY, (100,))
    known.started(KEY, 31)
    assert known.is_acked(KEY, 0)


def test_what_has_no_room_is_a_stranger() -> None:
    known = InFlight(checkpoints_max=1)
    known.started(KEY, 31)
    known.started(OTHER, 31)
    assert known.knows(KEY)
    assert not known.knows(OTHER)
    known.ended(KEY)
    known.started(OTHER, 31)
    assert known.knows(OTHER)


def test_nothing_comes_back_of_a_topic_that_was_deleted() -> None:
    known = InFlight()
    kept = ("Other", *KEY[1:])
    for key in (KEY, kept):
        known.started(key, 31)
    known.acked(KEY, (100,))
    known.forget_topic("T")
    assert known.knows(KEY), "it is no stranger whose acknowledgements are read"
    assert all(known.is_acked(KEY, distance) for distance in range(32))
    assert not any(known.is_acked(kept, distance) for distance in range(32))
    assert not known.is_acked(KEY, 32)
