"""Questions about the users and rules of a broker: for its slaves, and for a proxy in front of it.

A broker of Aerobee sends its table as slaves copy it, sealed under the secret of the brokers' own
user. RocketMQ's has no such request: it lists users, whose passwords are in the answer, and rules.
"""

import zlib
from types import MappingProxyType
from typing import NamedTuple

from aerobee.model.access import SUBJECT_PREFIX
from aerobee.protocol.bodies.access import decode_rights_list, decode_users
from aerobee.protocol.headers.access import RightsFilterHeader, UserFilterHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.access.access_rules import find_rule_fault, normal_rule
from aerobee.service.access.access_store import FILE
from aerobee.service.access.access_table import AccessTable
from aerobee.service.access.table_text import decode_table
from aerobee.service.file_copy import copy_file
from aerobee.service.question import Question, QuestionRefused, require


class CopiedAccess(NamedTuple):
    table: AccessTable
    crc: int
    """Of what was copied: the same, and nothing has changed."""


def sealed_table(key: bytes, known_crc: int) -> Question[CopiedAccess | None]:
    """The table of a broker of Aerobee; None: it is still the one with this checksum."""
    content = yield from copy_file(FILE, known_crc)
    if content is None:
        return None
    return CopiedAccess(decode_table(content, key), zlib.crc32(content))


def listed_table(known_crc: int) -> Question[CopiedAccess | None]:
    """The table of a broker of RocketMQ. Users without a password are left out, whom nobody could
    check, and those with a rule that cannot be read: it might be one that denies."""
    users = yield from require(RequestCode.AUTH_LIST_USER, UserFilterHeader())
    rights = yield from require(RequestCode.AUTH_LIST_ACL, RightsFilterHeader())
    crc = zlib.crc32(rights.body, zlib.crc32(users.body))
    if crc == known_crc:
        return None
    rules = {}
    odd = set()
    for one in decode_rights_list(bytes(rights.body)):
        name = one.subject.removeprefix(SUBJECT_PREFIX)
        if any(find_rule_fault(rule) is not None for rule in one.rules):
            odd.add(name)
        else:
            rules[name] = tuple(map(normal_rule, one.rules))
    known = {
        user.name: user
        for user in decode_users(bytes(users.body))
        if user.password and user.name not in odd
    }
    return CopiedAccess(AccessTable(MappingProxyType(known), MappingProxyType(rules)), crc)


def any_table(key: bytes, known_crc: int) -> Question[CopiedAccess | None]:
    """The table of a broker of either kind."""
    try:
        found = yield from sealed_table(key, known_crc)
    except QuestionRefused as refused:
        if refused.code != ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
            raise
        found = yield from listed_table(known_crc)
    return found
