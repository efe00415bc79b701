"""An access table ⇄ JSON, with sealed secrets: the file `config/access.json`, and what brokers send
each other and name servers.

    {"version":7,
     "users":[{"username":"alice","userType":"Normal","userStatus":"enable","secret":"…"}],
     "acls":[{"subject":"User:alice","policies":[…]}]}

A file is sealed with the key of the process; what travels is sealed with a key that is made of the
secret of the brokers' own user, which only they and name servers know.
"""

from types import MappingProxyType

from aerobee.errors import RemoteProtocolError
from aerobee.model.access import SUBJECT_PREFIX, Credentials, Rights, User
from aerobee.protocol.bodies.access import rights_from, rights_json, user_from, user_json
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Parsed, Value, parse, write_compact
from aerobee.service.access.access_rules import find_rule_fault
from aerobee.service.access.access_table import AccessTable
from aerobee.service.access.accounts import Accounts
from aerobee.service.access.sealing import key_from, seal, unseal

_SECRET = "secret"


def transfer_key(inner: Credentials) -> bytes:
    """The key of what brokers and name servers send each other."""
    return key_from(inner.secret_key, "aerobee: users and rules between brokers")


def table_json(table: AccessTable, key: bytes) -> dict[str, Value]:
    users: list[Value] = [_user_json(user, key) for user in table.users.values()]
    rules: list[Value] = [
        rights_json(Rights(f"{SUBJECT_PREFIX}{name}", rules)) for name, rules in table.rules.items()
    ]
    return {"version": table.version, "users": users, "acls": rules}


def table_from(value: Parsed, key: bytes) -> AccessTable:
    """BadSeal: the key is another one. RemoteProtocolError: it is no table."""
    members = Members(value, "the table of users")
    users = [_user_from(Members(one, "a user"), key) for one in members.array("users")]
    rules = {}
    for one in members.array("acls"):
        rights = rights_from(Members(one, "rules"))
        if any(find_rule_fault(rule) is not None for rule in rights.rules):
            raise RemoteProtocolError(f"a rule of {rights.subject[:100]} cannot be read")
        rules[rights.subject.removeprefix(SUBJECT_PREFIX)] = rights.rules
    return AccessTable(
        MappingProxyType({user.name: user for user in users}),
        MappingProxyType(rules),
        members.int64("version", 0),
    )


class SealedTable:
    """The table in force as it travels, made once for each epoch."""

    def __init__(self, accounts: Accounts, inner: Credentials) -> None:
        self._accounts = accounts
        self._key = transfer_key(inner)
        self._text = b""
        self._epoch = -1

    @property
    def epoch(self) -> int:
        return self._accounts.epoch

    def text(self) -> bytes:
        if self._epoch != self._accounts.epoch:
            self._text = encode_table(self._accounts.table, self._key)
            self._epoch = self._accounts.epoch
        return self._text


def encode_table(table: AccessTable, key: bytes) -> bytes:
    return write_compact(table_json(table, key))


def decode_table(body: bytes, key: bytes) -> AccessTable:
    return table_from(parse(body), key)


def _user_json(user: User, key: bytes) -> Value:
    shown = user_json(User(user.name, "", user.kind, user.is_enabled))
    return {**shown, _SECRET: seal(user.password, key, user.name)}


def _user_from(members: Members, key: bytes) -> User:
    user = user_from(members)
    return User(
        user.name, unseal(members.text(_SECRET), key, user.name), user.kind, user.is_enabled
    )
