import zlib
from collections.abc import Sequence
from dataclasses import replace

from aerobee.model.access import Rights, Rule, User
from aerobee.ports.clock import Now
from aerobee.ports.service import Dial, Effects
from aerobee.protocol.bodies.access import UserChange, encode_rights_list, encode_users
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.headers.replicating import CopiedStateHeader
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.access.access_table import AccessTable
from aerobee.service.access.table_text import encode_table, transfer_key
from aerobee.service.gateway.broker_requests import BrokerRequests
from aerobee.service.gateway.caller_users import LOOK_MS, CallerUsers
from aerobee.service.proxy.desk import Learnt, Names
from aerobee.service.proxy.outcomes import CallRefused
from tests.access_kit import ACCESS, INNER

TABLE = AccessTable().with_user(UserChange("alice", "secret"), None)
NAMES = Names(("orders",))
REFUSED = RemotingCommand(ResponseCode.INVALID_PARAMETER, remark="there is no such file")


def sealed(table: AccessTable) -> RemotingCommand:
    content = encode_table(table, transfer_key(INNER))
    fields = write_header(CopiedStateHeader(len(content), zlib.crc32(content)))
    return RemotingCommand(0, ext_fields=fields, body=content)


class Rig:
    """The users of a proxy, whose brokers' answers the test gives."""

    def __init__(self, *addresses: str) -> None:
        self.outbox: Effects = []
        self.requests = BrokerRequests(self.outbox)
        self.addresses: Sequence[str] = addresses
        self.ms = 0
        self.learnt: list[CallRefused | None] = []
        self.users = CallerUsers(
            ACCESS, self.requests, lambda now, then: then(self.addresses), self
        )

    def learn(self, names: Names, now: Now, then: Learnt) -> bool:
        """What comes after users is known at once."""
        assert names == NAMES
        return True

    def call(self) -> bool:
        """A call begins: whether it can be handled at once."""
        return self.users.learn(NAMES, self.now, lambda refusal, now: self.learnt.append(refusal))

    @property
    def now(self) -> Now:
        return Now(0, self.ms)

    def asked(self, ms: int = 0) -> Dial:
        """The question after so much time."""
        self.ms += ms
        self.users.on_tick(self.now)
        return self.next()

    def next(self) -> Dial:
        (dial,) = self.outbox
        self.outbox.clear()
        assert isinstance(dial, Dial)
        return dial

    def knows(self, name: str) -> bool:
        return self.users.accounts.find(name) is not None


def test_calls_wait_for_the_first_table_and_no_longer() -> None:
    rig = Rig("a:1")
    dial = rig.asked()
    assert (rig.call(), rig.call(), rig.learnt) == (False, False, [])
    rig.requests.on_answer(dial.ticket, sealed(TABLE))
    assert rig.learnt == [None, None]
    assert rig.knows("alice")
    assert rig.call()


def test_calls_are_refused_while_nobody_tells_users_and_the_next_broker_is_asked_then() -> None:
    rig = Rig("a:1", "b:1")
    dial = rig.asked()
    assert dial.address == "a:1"
    rig.call()
    rig.requests.on_answer(dial.ticket, None)
    (refusal,) = rig.learnt
    assert refusal is not None
    assert refusal.status.code == GrpcCode.PROXY_TIMEOUT
    assert not rig.users.is_known
    assert rig.asked(LOOK_MS).address == "b:1"


def test_without_a_broker_calls_are_refused_too() -> None:
    rig = Rig()
    rig.call()
    rig.users.on_tick(rig.now)
    assert len(rig.learnt) == 1
    assert rig.users.rest_ms(rig.now) == LOOK_MS


def test_a_change_is_known_at_the_next_look_and_the_last_table_holds_while_nobody_answers() -> None:
    rig = Rig("a:1")
    rig.requests.on_answer(rig.asked().ticket, sealed(TABLE))
    dial = rig.asked(LOOK_MS)
    said = sealed(TABLE)
    assert dial.command.ext_fields["knownCrc"] == str(zlib.crc32(said.body))
    rig.requests.on_answer(dial.ticket, None)
    assert rig.knows("alice")
    rig.requests.on_answer(rig.asked(LOOK_MS).ticket, sealed(TABLE.without_user("alice", None)))
    assert not rig.knows("alice")
    assert rig.knows("root"), "as the settings have it"


def test_another_brokers_answer_is_not_compared_with_the_last_ones() -> None:
    rig = Rig("a:1", "b:1")
    rig.requests.on_answer(rig.asked().ticket, sealed(TABLE))
    rig.requests.on_answer(rig.asked(LOOK_MS).ticket, None)
    assert rig.asked(LOOK_MS).command.ext_fields["knownCrc"] != str(zlib.crc32(sealed(TABLE).body))


def test_rocketmqs_broker_lists_users_and_rules_and_odd_ones_are_left_out() -> None:
    rig = Rig("a:1")
    dial = rig.asked()
    code = ResponseCode.REQUEST_CODE_NOT_SUPPORTED
    rig.requests.on_answer(dial.ticket, RemotingCommand(code))
    asked = rig.next()
    assert asked.command.code == RequestCode.AUTH_LIST_USER
    users = [User(name, "secret") for name in ("alice", "odd")]
    body = encode_users([*users, User("hidden", "")])
    rig.requests.on_answer(asked.ticket, RemotingCommand(0, body=body))
    asked = rig.next()
    assert asked.command.code == RequestCode.AUTH_LIST_ACL
    rule = Rule("Topic:orders", ("Pub",))
    rights = [
        Rights("User:alice", (rule,)),
        Rights("User:odd", (rule, replace(rule, resource="Moon:*"))),
    ]
    rig.requests.on_answer(asked.ticket, RemotingCommand(0, body=encode_rights_list(rights)))
    assert [name for name in ("alice", "odd", "hidden") if rig.knows(name)] == ["alice"]
    assert rig.users.accounts.table.rules["alice"] == (rule,)


def test_where_brokers_keep_no_users_those_of_the_settings_are_all() -> None:
    rig = Rig("a:1")
    rig.requests.on_answer(rig.asked().ticket, REFUSED)
    assert rig.users.is_known
    assert rig.knows("root")
    assert rig.knows("inner")


def test_a_table_that_cannot_be_read_changes_nothing() -> None:
    rig = Rig("a:1")
    rig.requests.on_answer(rig.asked().ticket, sealed(TABLE))
    broken = sealed(AccessTable())
    broken.body = b"nonsense"
    rig.requests.on_answer(rig.asked(LOOK_MS).ticket, broken)
    assert rig.knows("alice")


def test_a_process_without_a_user_of_its_own_asks_nobody() -> None:
    access = replace(ACCESS, inner=None)
    outbox: Effects = []
    users = CallerUsers(access, BrokerRequests(outbox), lambda now, then: then(["a:1"]), Rig("a:1"))
    users.on_tick(Now(0, 0))
    assert outbox == []
    assert users.is_known
