"""The fields of requests about consumer groups: how they are configured, not who is in them and how
far they are.
"""

from dataclasses import dataclass

from aerobee.protocol.remoting.declared_header import Int32


@dataclass(frozen=True, slots=True)
class GroupHeader:
    group: str


@dataclass(frozen=True, slots=True)
class DeleteGroupHeader:
    """Whether its offsets go as well is said in the first way by 5.x, in the second by 4.9."""

    group_name: str
    clean_offset: bool = False
    remove_offset: bool = False


@dataclass(frozen=True, slots=True)
class AllGroupsHeader:
    """Clients before 5.3.3 say none of it and want everything."""

    group_seq: Int32 | None = None
    data_version: str | None = None
    max_group_num: Int32 | None = None


@dataclass(frozen=True, slots=True)
class GroupForbiddenHeader:
    group: str
    topic: str
    readable: bool | None = None
    """Absent: only ask."""
