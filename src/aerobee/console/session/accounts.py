"""Accounts: the console's own users, in a file that only its owner may read.

    {"users": {"alice": {"role": "operator", "password": "scrypt$…"}}}

Passwords are kept as hashes (`passwords.py`). A name that nobody has costs as much time as one that
somebody has: it is compared with a hash that fits no password. The file is read anew when it has
changed, so a user that is added, changed or removed is known to a console that runs.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from aerobee.console.session.passwords import PasswordPool, hash_of, random_password
from aerobee.console.session.visitor import Role, role_of
from aerobee.errors import Misuse

FILE = "users.json"
FIRST_USER = "admin"
_NAME = re.compile(r"[A-Za-z0-9_.@-]{1,64}")
_OTHERS = 0o077
PASSWORD_CHARS = (8, 256)


class Account(NamedTuple):
    name: str
    role: Role
    password: str
    """Its hash."""


class Accounts:
    def __init__(self, path: str, pool: PasswordPool) -> None:
        """Misuse: the file is none of users, or others may read it."""
        self._path = path
        self._pool = pool
        self._nobody = hash_of(random_password())
        self._seen: tuple[int, ...] | None = None
        self._accounts: Mapping[str, Account] = {}
        self._known()

    async def is_valid(self, account: Account) -> bool:
        """Whether an account is still what it was. A file that cannot be read has none."""
        try:
            return self._known().get(account.name) == account
        except Misuse:
            return False

    async def check(self, name: str, password: str) -> Account | None:
        """Return the account, if this is its password."""
        account = self._known().get(name)
        kept = self._nobody if account is None else account.password
        fits = await self._pool.is_password(password[: PASSWORD_CHARS[1] + 1], kept)
        return account if fits else None

    def _known(self) -> Mapping[str, Account]:
        """Return the accounts by name, read anew if the file is another."""
        seen = _mark_of(self._path)
        if seen != self._seen:
            self._accounts, self._seen = {}, None  # until it could be read
            self._accounts = {one.name: one for one in read_accounts(self._path)}
            self._seen = seen
        return self._accounts


def _mark_of(path: str) -> tuple[int, ...]:
    """Numbers of a file that are others when it was replaced; none: there is no file."""
    try:
        told = os.stat(path)
    except OSError:
        return ()
    return told.st_ino, told.st_mtime_ns, told.st_size, told.st_mode


def read_accounts(path: str) -> list[Account]:
    """Return the accounts in a file; none, if there is no file. Misuse: others may read it, or it
    is no such file."""
    try:
        with open(path, encoding="utf-8") as file:
            mode = os.fstat(file.fileno()).st_mode
            told = json.load(file)
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise Misuse(f"{path} cannot be read: {error}") from None
    if mode & _OTHERS:
        raise Misuse(f"others may read {path}", hint=f"chmod 600 {path}")
    try:
        return [
            Account(name, role_of(one["role"]), one["password"])
            for name, one in told["users"].items()
        ]
    except (KeyError, TypeError, AttributeError, ValueError):
        raise Misuse(f"{path} is no file of users", hint="remove it, and make them anew") from None


def write_accounts(path: str, accounts: Iterable[Account]) -> None:
    """Replace the file at once."""
    users = {one.name: {"role": one.role.word, "password": one.password} for one in accounts}
    os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
    beside = f"{path}.new"
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        json.dump({"users": users}, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)


def put_account(path: str, name: str, role: Role, password: str) -> None:
    """Add an account to a file, or replace it."""
    if not _NAME.fullmatch(name):
        raise Misuse(f"{name!r} is no name of a user", hint="letters, digits, _ . @ -; at most 64")
    low, high = PASSWORD_CHARS
    if not low <= len(password) <= high:
        raise Misuse(f"a password has {low} to {high} characters")
    others = [one for one in read_accounts(path) if one.name != name]
    write_accounts(path, [*others, Account(name, role, hash_of(password))])


def remove_account(path: str, name: str) -> None:
    """Remove an account from a file. Misuse: it has none of this name."""
    known = read_accounts(path)
    others = [one for one in known if one.name != name]
    if len(others) == len(known):
        raise Misuse(f"there is no user {name!r} in {path}")
    write_accounts(path, others)


def first_account(path: str) -> str:
    """Make an administrator with a random password, which is returned and nowhere kept."""
    password = random_password()
    put_account(path, FIRST_USER, Role.ADMIN, password)
    return password
