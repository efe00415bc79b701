"""Header fields of requests about users and access rules. Names: Java's, of its auth requests.

An absent filter means: all of them.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UserHeader:
    username: str


@dataclass(frozen=True, slots=True)
class UserFilterHeader:
    filter: str | None = None


@dataclass(frozen=True, slots=True)
class SubjectHeader:
    subject: str
    policy_type: str | None = None
    resource: str | None = None


@dataclass(frozen=True, slots=True)
class RightsFilterHeader:
    subject_filter: str | None = None
    resource_filter: str | None = None
