from aerobee.app.load.workload.bodies import STAMP_BYTES, bodies_of, stamp_in, stamped


def test_one_size_is_one_body() -> None:
    (body,) = bodies_of(100, 100, seed=1)
    assert len(body) == 100


def test_sizes_of_a_range_reach_both_ends_evenly() -> None:
    bodies = bodies_of(100, 1000, seed=1)
    assert (min(map(len, bodies)), max(map(len, bodies))) == (100, 1000)
    assert abs(sum(map(len, bodies)) / len(bodies) - 550) < 5
    assert [len(body) for body in bodies] != sorted(len(body) for body in bodies)


def test_the_same_seed_makes_the_same_bodies() -> None:
    assert bodies_of(10, 20, seed=3) == bodies_of(10, 20, seed=3)
    assert bodies_of(10, 20, seed=3) != bodies_of(10, 20, seed=4)


def test_bodies_of_a_file_are_pieces_of_it() -> None:
    payload = b"abcdefghij"
    for body in bodies_of(3, 25, seed=1, payload=payload):
        assert body in payload * 4
    assert max(map(len, bodies_of(3, 25, seed=1, payload=payload))) == 25


def test_a_stamp_is_read_again_by_its_own_run_only() -> None:
    run = b"12345678"
    body = stamped(run, 987654321, bytes(100))
    assert len(body) == 100
    assert stamp_in(run, body) == 987654321
    assert stamp_in(b"another.", body) is None
    assert stamp_in(run, run) is None
    assert len(stamped(run, 1, b"")) == STAMP_BYTES
