from aerobee.console.watch.poll import FAILED_SECONDS, IDLE_FACTOR, SHARE, Poll


async def nothing() -> None:
    return


def test_a_cheap_question_is_asked_each_second_and_less_often_if_nobody_looks() -> None:
    poll = Poll(1.0, nothing)
    assert poll.is_due(0.0, is_watched=True)
    poll.asked(0.0, 0.001)
    assert not poll.is_due(0.5, is_watched=True)
    assert poll.is_due(1.0, is_watched=True)
    assert not poll.is_due(1.0, is_watched=False)
    assert poll.is_due(IDLE_FACTOR, is_watched=False)


def test_the_share_of_time_that_a_dear_question_takes_is_bounded() -> None:
    poll = Poll(1.0, nothing)
    now = spent = 0.0
    while now < 3600.0:
        if poll.is_due(now, is_watched=True):
            poll.asked(now, now + 0.2)
            spent += 0.2
        now += 1.0
    assert 0 < spent / now <= SHARE * 1.05


def test_a_question_that_failed_waits_and_one_that_must_be_asked_again_does_not() -> None:
    poll = Poll(1.0, nothing)
    poll.asked(0.0, 0.001, failed=True)
    assert not poll.is_due(2.0, is_watched=True)
    assert poll.is_due(FAILED_SECONDS, is_watched=True)
    poll.asked(10.0, 11.0)
    poll.again()
    assert poll.is_due(10.0, is_watched=True)
