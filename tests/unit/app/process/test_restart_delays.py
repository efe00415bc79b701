from aerobee.app.process.restart_delays import LONGEST_SECONDS, WELL_SECONDS, RestartDelays


def test_who_keeps_ending_waits_longer_each_time_but_not_for_ever() -> None:
    restarts = RestartDelays()
    waits = []
    for second in range(10):
        restarts.begun(float(second))
        waits.append(restarts.wait_seconds(float(second)))
    assert waits[:4] == [0.5, 1.0, 2.0, 4.0]
    assert waits[-1] == LONGEST_SECONDS


def test_who_ran_well_is_started_soon() -> None:
    restarts = RestartDelays()
    for _ in range(5):
        restarts.begun(0.0)
        restarts.wait_seconds(0.0)
    restarts.begun(0.0)
    assert restarts.wait_seconds(WELL_SECONDS) == 0.5
