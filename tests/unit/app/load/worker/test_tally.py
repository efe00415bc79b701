from aerobee.app.load.worker.tally import Tally


def test_latency_counts_from_when_it_was_due_and_service_from_when_it_began() -> None:
    tally = Tally(0)
    tally.done(100, 160, 200, 2, 50)
    said = tally.take_interval()
    assert said["latency"]["smallest"] == said["latency"]["largest"] == 100
    assert said["latency"]["count"] == 2
    whole = tally.to_json()
    assert whole["late"]["largest"] == 60
    assert whole["service_ns"] == 40
    assert (whole["messages"], whole["bytes"], whole["last_ns"]) == (2, 50, 200)


def test_what_was_due_in_the_warm_up_is_not_counted() -> None:
    tally = Tally(1000)
    tally.done(999, 999, 2000, 1, 10)
    tally.failed(999, 1, "refused")
    tally.received(999, 10, None)
    tally.received(2000, 10, 999)
    assert tally.take_interval()["messages"] == 0
    assert tally.errors == {}


def test_failures_are_counted_by_their_reason() -> None:
    tally = Tally(0)
    tally.failed(5, 3, "busy")
    tally.failed(6, 1, "busy")
    tally.failed(7, 1, "gone")
    assert tally.take_interval()["errors"] == 5
    assert tally.errors == {"busy": 4, "gone": 1}


def test_what_was_never_sent_is_late_and_no_message() -> None:
    tally = Tally(0)
    tally.never_sent(500, 7)
    said = tally.take_interval()
    assert (said["messages"], said["latency"]["count"]) == (0, 7)


def test_what_is_received_is_timed_if_it_says_when_it_was_due() -> None:
    tally = Tally(0)
    tally.received(50, 8, 20)
    tally.received(60, 8, None)
    said = tally.take_interval()
    assert said["messages"] == 2
    assert (said["latency"]["count"], said["latency"]["largest"]) == (1, 30)
    assert (tally.first_ns, tally.last_ns) == (50, 60)
