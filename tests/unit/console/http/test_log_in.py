import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from tempfile import TemporaryDirectory

import pytest

from aerobee.console.http.action import Ask, Record
from aerobee.console.http.log_in import LogIn
from aerobee.console.http.problem import Problem
from aerobee.console.session.accounts import Account, Accounts, write_accounts
from aerobee.console.session.passwords import PasswordPool, hash_of
from aerobee.console.session.visitor import Role, Visitor

ALICE = Account("alice", Role.OPERATOR, hash_of("right", cost=16))


async def facts() -> Record:
    return {"version": "1"}


def _with_accounts(live: Callable[[LogIn], Awaitable[None]]) -> None:
    async def run(path: str) -> None:
        write_accounts(path, [ALICE])
        pool = PasswordPool()
        try:
            await live(LogIn(Accounts(path, pool), facts, lambda: 0.0))
        finally:
            pool.close()

    with TemporaryDirectory() as folder:
        asyncio.run(run(os.path.join(folder, "users.json")))


def _ask(given: Mapping[str, str], token: str = "") -> Ask:
    return Ask(given, Visitor("10.0.0.1"), token)


def test_without_accounts_everybody_is_an_administrator_with_the_token_of_the_process() -> None:
    log_in = LogIn(None, facts)
    visitor = log_in.visitor("", "127.0.0.1")
    assert (visitor.role, visitor.user) == (Role.ADMIN, None)
    assert visitor.csrf
    told = asyncio.run(log_in.show(Ask({}, visitor)))
    assert told["login_needed"] is False
    assert told["version"] == "1"


def test_a_log_in_begins_a_session_with_a_new_token_and_a_log_out_ends_it() -> None:
    async def live(log_in: LogIn) -> None:
        assert log_in.visitor("", "10.0.0.1").role is None
        right = {"user": "alice", "password": "right"}
        first = await log_in.begin(_ask(right))
        visitor = log_in.visitor(first.token, "10.0.0.1")
        assert (visitor.user, visitor.role) == ("alice", Role.OPERATOR)
        assert first.content["csrf"] == visitor.csrf
        second = await log_in.begin(_ask(right, first.token))
        assert second.token != first.token
        assert log_in.visitor(first.token, "10.0.0.1").role is None
        await log_in.end(_ask({}, second.token))
        assert log_in.visitor(second.token, "10.0.0.1").role is None

    _with_accounts(live)


def test_a_visitor_who_has_not_logged_in_learns_nothing_of_the_cluster() -> None:
    async def live(log_in: LogIn) -> None:
        told = await log_in.show(Ask({}, log_in.visitor("", "10.0.0.1")))
        assert told.keys() == {"user", "role", "login_needed", "csrf"}

    _with_accounts(live)


def test_wrong_log_ins_are_refused_alike_and_after_five_the_right_one_waits_too() -> None:
    async def live(log_in: LogIn) -> None:
        said = set()
        for user in ("alice", "nobody", "alice", "alice", "alice"):
            with pytest.raises(Problem) as caught:
                await log_in.begin(_ask({"user": user, "password": "wrong"}))
            said.add((caught.value.status, caught.value.code, caught.value.message))
        assert len(said) == 1
        with pytest.raises(Problem) as caught:
            await log_in.begin(_ask({"user": "alice", "password": "right"}))
        assert (caught.value.status, caught.value.retry_seconds) == (429, 1.0)

    _with_accounts(live)


def test_actions_that_need_no_role_are_those_of_the_log_in() -> None:
    assert {one.name for one in LogIn(None, facts).actions()} == {"session", "logIn", "logOut"}


def test_whoever_waits_for_the_end_of_a_session_is_told_of_a_log_out_and_a_removed_user() -> None:
    class Users:
        """Users whose accounts are valid until they are removed."""

        is_there = True

        async def check(self, name: str, password: str) -> Account | None:
            return ALICE

        async def is_valid(self, account: Account) -> bool:
            return self.is_there

    async def live() -> None:
        users = Users()
        log_in = LogIn(users, facts, lambda: 0.0)
        right = {"user": "alice", "password": "right"}
        first, second, third = [(await log_in.begin(_ask(right))).token for _ in range(3)]
        waits = [asyncio.create_task(log_in.until_end(one)) for one in (first, second, third)]
        assert (await asyncio.wait(waits, timeout=0))[0] == set()
        await log_in.end(_ask({}, first))
        await waits[0]
        await log_in.look()
        waits[1].cancel()
        assert (await asyncio.wait(waits[1:], return_when=asyncio.FIRST_COMPLETED))[0] == {waits[1]}
        users.is_there = False
        await log_in.look()
        await waits[2]
        await log_in.until_end(third)
        assert log_in.visitor(second, "10.0.0.1").role is None

    asyncio.run(live())


def test_where_no_log_in_is_needed_nothing_ends() -> None:
    async def live() -> bool:
        log_in = LogIn(None, facts)
        waiting = asyncio.create_task(log_in.until_end(""))
        await log_in.end(_ask({}, "any"))
        await log_in.look()
        done, _ = await asyncio.wait({waiting}, timeout=0)
        waiting.cancel()
        await asyncio.wait({waiting})
        return not done

    assert asyncio.run(live())
