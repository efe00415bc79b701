"""Header fields of requests about consumer groups and their settings; members and progress are in
`clients` and `group_status`.
"""

from dataclasses import dataclass

from aerobee.protocol.remoting.declared_header import Int32


@dataclass(frozen=True, slots=True)
class GroupHeader:
    group: str


@dataclass(frozen=True, slots=True)
class DeleteGroupHeader:
    """Two fields say whether its offsets go as well: the first is that of 5.x, the second that of
    4.9.
    """

    group_name: str
    clean_offset: bool = False
    remove_offset: bool = False


@dataclass(frozen=True, slots=True)
class AllGroupsHeader:
    """The page of groups that is wanted. Clients before 5.3.3 send no fields and want all."""

    group_seq: Int32 | None = None
    data_version: str | None = None
    max_group_num: Int32 | None = None


@dataclass(frozen=True, slots=True)
class GroupForbiddenHeader:
    group: str
    topic: str
    readable: bool | None = None
    """Absent: only ask."""
