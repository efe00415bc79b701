import zlib

import pytest

from aerobee.errors import AerobeeError
from aerobee.model.access import Rights, Rule, User
from aerobee.protocol.bodies.access import UserChange, encode_rights_list, encode_users
from aerobee.protocol.headers.replicating import NO_CRC, CopiedStateHeader
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.access.access_table import AccessTable
from aerobee.service.access.table_text import encode_table
from aerobee.service.access_questions import any_table, listed_table, sealed_table
from aerobee.service.question import QuestionRefused
from tests.question_kit import answered, run_question

KEY = b"k" * 32
TABLE = AccessTable().with_user(UserChange("alice", "secret"), None)
LISTS: dict[int, bytes] = {
    RequestCode.AUTH_LIST_USER: encode_users([User("alice", "secret"), User("bob", "")]),
    RequestCode.AUTH_LIST_ACL: encode_rights_list([Rights("User:alice", (Rule("*", ("Pub",)),))]),
}


def ours(command: RemotingCommand) -> RemotingCommand:
    content = encode_table(TABLE, KEY)
    header = CopiedStateHeader(len(content), zlib.crc32(content))
    return answered(0, content, **write_header(header))


def rocketmqs(command: RemotingCommand) -> RemotingCommand:
    body = LISTS.get(command.code)
    if body is None:
        return answered(ResponseCode.REQUEST_CODE_NOT_SUPPORTED)
    return answered(0, body)


def test_a_sealed_table_is_read_once() -> None:
    copied = run_question(sealed_table(KEY, NO_CRC), ours)
    assert copied is not None
    assert copied.table == TABLE
    assert run_question(sealed_table(KEY, copied.crc), ours) is None
    with pytest.raises(AerobeeError):
        run_question(sealed_table(b"j" * 32, NO_CRC), ours)


def test_lists_are_a_table_of_those_who_can_be_checked_and_are_read_once() -> None:
    copied = run_question(listed_table(NO_CRC), rocketmqs)
    assert copied is not None
    assert list(copied.table.users) == ["alice"]
    assert copied.table.rules["alice"] == (Rule("*", ("Pub",)),)
    assert run_question(listed_table(copied.crc), rocketmqs) is None


def test_only_a_broker_that_has_no_such_request_is_asked_for_lists() -> None:
    for broker in (ours, rocketmqs):
        copied = run_question(any_table(KEY, NO_CRC), broker)
        assert copied is not None
        assert copied.table.users["alice"].password == "secret"
    with pytest.raises(QuestionRefused):
        run_question(any_table(KEY, NO_CRC), lambda _: answered(ResponseCode.NO_PERMISSION))
