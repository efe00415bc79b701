from aerobee.net.round import Round
from aerobee.ports.clock import Now


def test_a_turn_has_one_time_until_it_ends() -> None:
    times = iter([Now(1, 10), Now(2, 20)])
    turn = Round(lambda: next(times))
    assert not turn.is_begun
    turn.begin()
    assert turn.is_begun
    assert (turn.now, turn.monotonic_ms) == (Now(1, 10), 10)
    turn.end()
    assert not turn.is_begun
    turn.begin()
    assert turn.now == Now(2, 20)
