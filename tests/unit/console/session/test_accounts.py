import asyncio
import os
from pathlib import Path

import pytest

from aerobee.console.session.accounts import (
    FILE,
    Account,
    Accounts,
    first_account,
    put_account,
    read_accounts,
    remove_account,
    write_accounts,
)
from aerobee.console.session.passwords import PasswordPool, hash_of
from aerobee.console.session.visitor import Role
from aerobee.errors import Misuse


def test_accounts_are_kept_in_a_file_of_the_owner_alone(tmp_path: Path) -> None:
    path = str(tmp_path / "sub" / FILE)
    assert read_accounts(path) == []
    put_account(path, "alice", Role.OPERATOR, "long enough")
    put_account(path, "bob", Role.VIEWER, "long enough, too")
    put_account(path, "alice", Role.ADMIN, "another one")
    assert {one.name: one.role for one in read_accounts(path)} == {
        "alice": Role.ADMIN,
        "bob": Role.VIEWER,
    }
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert "another" not in Path(path).read_text()


def test_a_file_that_others_may_read_or_that_is_none_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / FILE)
    write_accounts(path, [Account("a", Role.VIEWER, "x")])
    os.chmod(path, 0o640)
    with pytest.raises(Misuse, match="others may read"):
        read_accounts(path)
    for text in ("[]", '{"users": {"a": {}}}', "{"):
        Path(path).write_text(text)
        os.chmod(path, 0o600)
        with pytest.raises(Misuse):
            read_accounts(path)


@pytest.mark.parametrize(("name", "password"), [("", "long enough"), ("a b", "long enough")])
def test_a_name_that_is_none_is_refused(tmp_path: Path, name: str, password: str) -> None:
    with pytest.raises(Misuse, match="no name of a user"):
        put_account(str(tmp_path / FILE), name, Role.VIEWER, password)


def test_a_short_password_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="8 to 256"):
        put_account(str(tmp_path / FILE), "a", Role.VIEWER, "short")


def test_only_the_right_password_of_a_known_name_is_an_account(tmp_path: Path) -> None:
    async def live() -> list[Account | None]:
        pool = PasswordPool()
        path = str(tmp_path / FILE)
        write_accounts(path, [Account("alice", Role.ADMIN, hash_of("right", cost=16))])
        accounts = Accounts(path, pool)
        try:
            tries = (("alice", "right"), ("alice", "wrong"), ("nobody", "right"))
            return [await accounts.check(*one) for one in tries]
        finally:
            pool.close()

    right, wrong, nobody = asyncio.run(live())
    assert right is not None
    assert wrong is None
    assert nobody is None


def test_the_first_account_is_an_administrator_with_a_random_password(tmp_path: Path) -> None:
    path = str(tmp_path / FILE)
    password = first_account(path)
    (account,) = read_accounts(path)
    assert (account.name, account.role) == ("admin", Role.ADMIN)
    assert password not in Path(path).read_text()


def test_a_running_console_knows_what_was_done_to_its_users(tmp_path: Path) -> None:
    path = str(tmp_path / FILE)
    first = Account("alice", Role.OPERATOR, hash_of("first one", cost=16))
    write_accounts(path, [first])

    async def live() -> None:
        pool = PasswordPool()
        try:
            accounts = Accounts(path, pool)
            assert await accounts.is_valid(first)
            put_account(path, "bob", Role.VIEWER, "of bob alone")
            assert await accounts.check("bob", "of bob alone") is not None
            assert await accounts.is_valid(first)
            write_accounts(path, [first._replace(role=Role.VIEWER)])
            assert not await accounts.is_valid(first)
            write_accounts(path, [first])
            assert await accounts.is_valid(first)
            remove_account(path, "alice")
            assert not await accounts.is_valid(first)
            write_accounts(path, [first])
            os.chmod(path, 0o644)
            assert not await accounts.is_valid(first)
        finally:
            pool.close()

    asyncio.run(live())


def test_only_a_user_who_is_there_is_removed(tmp_path: Path) -> None:
    path = str(tmp_path / FILE)
    write_accounts(path, [Account("a", Role.VIEWER, "x"), Account("b", Role.VIEWER, "x")])
    remove_account(path, "a")
    assert [one.name for one in read_accounts(path)] == ["b"]
    with pytest.raises(Misuse, match="no user 'a'"):
        remove_account(path, "a")
