from aerobee.console.session.attempts import ENTRIES_MAX, FREE, WAIT_MAX_SECONDS, Attempts


def test_five_may_fail_and_then_the_wait_doubles_up_to_five_minutes() -> None:
    attempts = Attempts()
    now, waits = 0.0, []
    for _ in range(FREE + 12):
        waits.append(attempts.wait_seconds("alice", "10.0.0.1", now))
        now += waits[-1]
        attempts.failed("alice", "10.0.0.1", now)
    assert waits[:FREE] == [0.0] * FREE
    assert waits[FREE : FREE + 4] == [1.0, 2.0, 4.0, 8.0]
    assert waits[-1] == WAIT_MAX_SECONDS


def test_a_user_waits_from_every_address_and_an_address_for_every_user() -> None:
    attempts = Attempts()
    for _ in range(FREE):
        attempts.failed("alice", "10.0.0.1", 0.0)
    assert attempts.wait_seconds("alice", "10.0.0.2", 0.0) > 0
    assert attempts.wait_seconds("bob", "10.0.0.1", 0.0) > 0
    assert attempts.wait_seconds("bob", "10.0.0.2", 0.0) == 0


def test_a_success_clears_and_an_hour_forgets() -> None:
    attempts = Attempts()
    for _ in range(FREE + 3):
        attempts.failed("alice", "10.0.0.1", 0.0)
    attempts.succeeded("alice", "10.0.0.1")
    assert attempts.wait_seconds("alice", "10.0.0.1", 0.0) == 0
    for _ in range(FREE + 3):
        attempts.failed("alice", "10.0.0.1", 0.0)
    attempts.failed("alice", "10.0.0.1", 4000.0)
    assert attempts.wait_seconds("alice", "10.0.0.1", 4000.0) == 0


def test_the_table_is_bounded() -> None:
    attempts = Attempts()
    for _ in range(FREE):
        attempts.failed("first", "10.0.0.1", 0.0)
    for number in range(ENTRIES_MAX):
        attempts.failed(f"user{number}", "10.0.0.2", 1.0)
    assert attempts.wait_seconds("first", "10.0.0.3", 1.0) == 0
