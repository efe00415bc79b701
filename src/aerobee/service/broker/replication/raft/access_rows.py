"""Rows of an access table: a user with its rules as one sealed text, for the log of a Raft group.

A row is sealed as a whole under a key that is made of the secret of the brokers' own user, with the
name of the user as its label: who reads the log learns names and lengths, and a row that a stranger
has written, or that was put in the place of another, is none.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from aerobee.errors import RemoteProtocolError
from aerobee.model.access import Credentials, Rule, User
from aerobee.service.access.access_table import AccessTable
from aerobee.service.access.sealing import BadSeal, key_from, seal, unseal
from aerobee.service.access.table_text import decode_table, encode_table

_Row: TypeAlias = tuple[User, tuple[Rule, ...]] | None
"""None: the user is gone."""


def log_key(inner: Credentials) -> bytes:
    """The key of the rows in the log of a group."""
    return key_from(inner.secret_key, "aerobee: users and rules in the log of a group")


def sealed_row(table: AccessTable, name: str, key: bytes) -> str | None:
    """A user with its rules; None: there is no such user."""
    user = table.users.get(name)
    if user is None:
        return None
    rules = table.rules.get(name)
    alone = AccessTable({name: user}, {} if rules is None else {name: rules})
    return seal(encode_table(alone, key).decode(), key, _label(name))


class ReadRows(NamedTuple):
    rows: Mapping[str, _Row]
    unreadable: tuple[str, ...]
    """Users whose rows are sealed with another key."""

    def onto(self, table: AccessTable, *, is_whole: bool) -> AccessTable:
        """The table with these rows, the same if nothing changes. `is_whole`: there are no other
        users. Of a user whose row cannot be read, what the table has stays."""
        users, rules = dict(table.users), dict(table.rules)
        if is_whole:
            kept = {**self.rows, **dict.fromkeys(self.unreadable)}
            users = {name: user for name, user in users.items() if name in kept}
            rules = {name: some for name, some in rules.items() if name in kept}
        for name, row in self.rows.items():
            users.pop(name, None)
            rules.pop(name, None)
            if row is not None:
                users[name] = row[0]
                if row[1]:
                    rules[name] = row[1]
        if users == table.users and rules == table.rules:
            return table
        return AccessTable(MappingProxyType(users), MappingProxyType(rules), table.version + 1)


def read_rows(rows: Iterable[tuple[str, object]], key: bytes) -> ReadRows:
    found: dict[str, _Row] = {}
    unreadable = []
    for name, text in rows:
        try:
            found[name] = None if text is None else _read(name, text, key)
        except (BadSeal, RemoteProtocolError):
            unreadable.append(name)
    return ReadRows(found, tuple(unreadable))


def _read(name: str, text: object, key: bytes) -> _Row:
    """BadSeal: it was sealed with another key. RemoteProtocolError: it is no row."""
    if not isinstance(text, str):
        raise RemoteProtocolError("a row of users that is no text")
    alone = decode_table(unseal(text, key, _label(name)).encode(), key)
    return alone.users[name], alone.rules.get(name, ())


def _label(name: str) -> str:
    return f"row {name}"
