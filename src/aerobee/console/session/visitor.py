"""Visitor: the person or program behind one request, with a role.

    viewer     looks at everything but users, rights and the record of actions
    operator   also creates and changes topics and groups, resets offsets, sends again
    admin      also deletes, changes brokers, users and rights

A role includes those before it.
"""

from dataclasses import dataclass
from enum import IntEnum


class Role(IntEnum):
    VIEWER = 1
    OPERATOR = 2
    ADMIN = 3

    @property
    def word(self) -> str:
        return self.name.lower()


def role_of(word: str) -> Role:
    """Return the role of a name. ValueError in words that continue "must be"."""
    for role in Role:
        if role.word == word:
            return role
    raise ValueError("viewer, operator or admin")


@dataclass(frozen=True, slots=True)
class Visitor:
    address: str
    """The IP address that the request came from."""
    role: Role | None = None
    """None: nobody has logged in, and a log-in is needed."""
    user: str | None = None
    """None: no log-in is needed here, or none was made."""
    csrf: str = ""
    """The token that changes must carry."""

    def may(self, role: Role) -> bool:
        return self.role is not None and self.role >= role
