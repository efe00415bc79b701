from aerobee.console.session import sessions
from aerobee.console.session.accounts import Account
from aerobee.console.session.sessions import IDLE_SECONDS, LIFE_SECONDS, Sessions
from aerobee.console.session.visitor import Role

ALICE = Account("alice", Role.VIEWER, "")


def test_a_session_is_found_by_its_token_alone_and_ends_with_the_log_out() -> None:
    table = Sessions()
    token, session = table.begin(ALICE, 0.0)
    other, _ = table.begin(ALICE, 0.0)
    assert token != other
    assert table.find(token, 1.0) is session
    assert table.find(token + "x", 1.0) is None
    table.end(token)
    assert table.find(token, 1.0) is None
    assert table.find(other, 1.0) is not None


def test_a_session_ends_when_it_is_idle_for_half_an_hour() -> None:
    table = Sessions()
    token, _ = table.begin(ALICE, 0.0)
    assert table.find(token, IDLE_SECONDS - 1) is not None
    assert table.find(token, 2 * IDLE_SECONDS - 2) is not None
    assert table.find(token, 3 * IDLE_SECONDS - 2) is None
    assert len(table) == 0


def test_a_session_ends_after_twelve_hours_however_busy_it_is() -> None:
    table = Sessions()
    token, _ = table.begin(ALICE, 0.0)
    now = 0.0
    while now + 60 < LIFE_SECONDS:
        now += 60
        assert table.find(token, now) is not None
    assert table.find(token, LIFE_SECONDS) is None


def test_the_table_is_bounded_and_the_least_used_goes_first() -> None:
    table = Sessions()
    tokens = [table.begin(ALICE, at)[0] for at in range(sessions.SESSIONS_MAX)]
    assert table.find(tokens[0], 1000.5) is not None
    newest, _ = table.begin(ALICE, 1001.0)
    assert len(table) == sessions.SESSIONS_MAX
    assert table.find(tokens[0], 1002.0) is not None
    assert table.find(tokens[1], 1002.0) is None
    assert table.find(newest, 1002.0) is not None


def test_the_end_of_a_session_is_told_once_however_it_comes() -> None:
    table = Sessions()
    told: list[str] = []
    bob = Account("bob", Role.ADMIN, "")
    for way, account in (("log-out", ALICE), ("user", bob), ("idle", ALICE), ("asked", ALICE)):
        token, session = table.begin(account, 0.0)
        session.on_end.add(lambda way=way: told.append(way))  # type: ignore[misc]
        if way == "log-out":
            table.end(token)
            table.end(token)
        elif way == "user":
            table.end_of(bob)
        elif way == "idle":
            table.drop_ended(IDLE_SECONDS)
        else:
            assert table.find(token, LIFE_SECONDS) is None
    assert told == ["log-out", "user", "idle", "asked"]
    assert len(table) == 0
    assert table.accounts() == set()
