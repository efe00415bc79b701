"""Copies the table of topics or of groups from a master, page by page.

A page says the version of the table and the number of all rows. If the version changes on the way,
the master begins again, and so does the copy. Brokers before 5.3.3 answer with the whole table and
without the number. A page of one row is enough to learn that the version has not moved.

Imports more than 15 modules because it copies three tables.
"""

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from aerobee.errors import RemoteProtocolError
from aerobee.model.group import GroupConfig
from aerobee.model.queue_mapping import TopicMapping
from aerobee.model.topic import DataVersion, TopicConfig
from aerobee.protocol.bodies.topic_config import encode_data_version
from aerobee.protocol.headers.groups import AllGroupsHeader
from aerobee.protocol.headers.topics import AllTopicsHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.text.fields import Fields
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import parse
from aerobee.service.broker.state.groups import GROUP_FORM, Forbidden, forbidden_from
from aerobee.service.broker.state.queue_mappings import MAPPING_FORM
from aerobee.service.broker.state.topics import TOPIC_FORM
from aerobee.service.broker.state.versioned_table import CopiedTable, Form, copied_table
from aerobee.service.question import Question, require

PAGE_ROWS = 2_000
PAGES_MAX = 1_000
"""Of one copy; a table that changes again and again is left to the next round."""

C = TypeVar("C")


class CopiedTopics(NamedTuple):
    table: CopiedTable[TopicConfig]
    mappings: CopiedTable[TopicMapping]
    """Of static topics."""


class CopiedGroups(NamedTuple):
    table: CopiedTable[GroupConfig]
    forbidden: Forbidden


class _Kind(NamedTuple, Generic[C]):
    """A table: its request, its form, and the name of the field with the number of rows."""

    code: RequestCode
    header: Callable[[int, str, int], object]
    """(first row, version, rows at most) → the request's header."""
    form: Form[C]
    total: str


class _Page(NamedTuple, Generic[C]):
    table: CopiedTable[C]
    forbidden: Forbidden
    mappings: CopiedTable[TopicMapping]
    total: int
    """The number of rows of the whole table."""


_MAPPINGS = MAPPING_FORM._replace(member="topicQueueMappingDetailMap")
_TOPICS = _Kind(RequestCode.GET_ALL_TOPIC_CONFIG, AllTopicsHeader, TOPIC_FORM, "totalTopicNum")
_GROUPS = _Kind(
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, AllGroupsHeader, GROUP_FORM, "totalGroupNum"
)


def copy_topics(known: DataVersion | None) -> Question[CopiedTopics | None]:
    """The topics; None: their version is still the known one."""
    found = yield from _copy(_TOPICS, known)
    return None if found is None else CopiedTopics(found.table, found.mappings)


def copy_groups(known: DataVersion | None) -> Question[CopiedGroups | None]:
    """The groups; None: their version is still the known one."""
    found = yield from _copy(_GROUPS, known)
    return None if found is None else CopiedGroups(found.table, found.forbidden)


def _copy(kind: _Kind[C], known: DataVersion | None) -> Question[_Page[C] | None]:
    """The whole table as one page."""
    if known is not None:
        page = yield from _ask(kind, 0, None, 1)
        if page.table.version == known:
            return None
        if len(page.table.rows) >= page.total:
            return page
    whole: _Page[C] | None = None
    for _ in range(PAGES_MAX):
        if whole is None:
            page = yield from _ask(kind, 0, None, PAGE_ROWS)
        else:
            page = yield from _ask(kind, len(whole.table.rows), whole.table.version, PAGE_ROWS)
        if whole is None or page.table.version != whole.table.version:
            whole = page
        else:
            rows = {**whole.table.rows, **page.table.rows}
            if len(rows) == len(whole.table.rows):
                raise RemoteProtocolError(f"{kind.code.name} has a page without further rows")
            whole = _Page(
                CopiedTable(page.table.version, rows),
                {**whole.forbidden, **page.forbidden},
                CopiedTable(page.mappings.version, {**whole.mappings.rows, **page.mappings.rows}),
                page.total,
            )
        if len(whole.table.rows) >= whole.total:
            return whole
    raise RemoteProtocolError(f"{kind.code.name} does not end after {PAGES_MAX} pages")


def _ask(
    kind: _Kind[C], first: int, version: DataVersion | None, rows_max: int
) -> Question[_Page[C]]:
    text = "" if version is None else encode_data_version(version).decode()
    answer = yield from require(kind.code, kind.header(first, text, rows_max))
    members = Members(parse(bytes(answer.body)), kind.form.member)
    table = copied_table(members, kind.form)
    total = Fields(answer.ext_fields).int32(kind.total, len(table.rows))
    mappings = copied_table(members, _MAPPINGS, "mappingDataVersion")
    return _Page(table, forbidden_from(members), mappings, total)
