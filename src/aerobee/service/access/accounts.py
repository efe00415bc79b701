"""Accounts: the users and rules in force, ready for signatures and decisions.

Decisions are remembered with the account that they are of. Another table makes other accounts, and
a new epoch: whatever was decided before, here or elsewhere, is decided anew.
"""

from collections.abc import Collection
from functools import cached_property

from aerobee.model.access import SUPER, Action, Resource, User
from aerobee.protocol.remoting.signed_header import SigningKey
from aerobee.service.access.access_rules import Verdict, decide, ready_rules
from aerobee.service.access.access_table import AccessTable

VERDICTS_MAX = 1_000
"""Remembered for one account; beyond, all are forgotten."""


class Account:
    """One user and its rules."""

    def __init__(self, user: User, table: AccessTable) -> None:
        self.user = user
        self.is_super = user.kind == SUPER
        self._rules = ready_rules(table.rules.get(user.name, ()))
        self._verdicts: dict[tuple[Resource, Collection[Action], str], Verdict] = {}

    @cached_property
    def signing_key(self) -> SigningKey:
        """Its secret, ready for fast paths."""
        return SigningKey(self.user.password.encode())

    def verdict(self, resource: Resource, actions: tuple[Action, ...], source: str) -> Verdict:
        """Whether its rules allow one of the actions to a request from an address."""
        asked = (resource, actions, source)
        found = self._verdicts.get(asked)
        if found is None:
            if len(self._verdicts) >= VERDICTS_MAX:
                self._verdicts.clear()
            found = self._verdicts[asked] = decide(self._rules, resource, actions, source)
        return found


class Accounts:
    """A1. What `find` returns is of the table of this epoch."""

    def __init__(self, table: AccessTable | None = None) -> None:
        self.epoch = 0
        """Counts tables."""
        self.table = table or AccessTable()
        self._ready: dict[str, Account] = {}

    def replace(self, table: AccessTable) -> None:
        """Another table is in force."""
        if table is not self.table:
            self.table = table
            self.epoch += 1
            self._ready.clear()

    def find(self, name: str) -> Account | None:
        account = self._ready.get(name)
        if account is None:
            user = self.table.users.get(name)
            if user is None:
                return None
            account = self._ready[name] = Account(user, self.table)
        return account
