"""Brokers and name servers that ask who sends a request, users, and requests that they signed.

kit = guarded_broker(Orders)              a broker with its first super user and the brokers' own
make_user(kit, "alice", Rule(…), …)       a user with these rules, made by the super user
ask_as(kit, "alice", 310, {...}, b"")     the answer to a request that the user signed
"""

from collections.abc import Mapping
from dataclasses import replace

from aerobee.model.access import Credentials, Rights, Rule, User
from aerobee.model.topic import TopicConfig
from aerobee.ports.audit import AuditSink
from aerobee.protocol.bodies.access import encode_rights, encode_user
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.remoting.signature import sign_fields
from aerobee.service.access.config import AccessConfig
from aerobee.service.broker.config import BrokerIdentity
from tests.broker_kit import BrokerKit, create_fields
from tests.nameserver_kit import NameServerKit

ROOT = Credentials("root", "root-secret")
INNER = Credentials("inner", "inner-secret")
ACCESS = AccessConfig(True, True, init_user=ROOT, inner=INNER, key=b"k" * 32)
IDENTITY = BrokerIdentity(access=ACCESS)
REFUSALS = ("has no permission to access", "username cannot be null.", "check signature failed.")
"""Parts of the remarks of the gate; handlers have others."""


def secret_of(name: str) -> str:
    return f"{name}-secret"


def signed(
    name: str | None, fields: Mapping[str, str] | None = None, body: bytes = b""
) -> dict[str, str]:
    """The fields of a request that a user signs; None: nobody does."""
    said = dict(fields or {})
    if name is not None:
        sign_fields(said, body, Credentials(name, secret_of(name)))
    return {**(fields or {}), **said}  # empty ones, too, as other clients than ours send them


def guarded_broker(
    *topics: TopicConfig, access: AccessConfig = ACCESS, audit: AuditSink | None = None
) -> BrokerKit:
    kit = BrokerKit(identity=replace(IDENTITY, access=access, audit=audit))
    for topic in topics:
        assert ask_as(kit, "root", 17, create_fields(topic)).code == 0
    return kit


def ask_as(
    kit: BrokerKit | NameServerKit,
    name: str | None,
    code: int,
    fields: Mapping[str, str] | None = None,
    body: bytes = b"",
) -> RemotingCommand:
    return kit.ask(code, signed(name, fields, body), body)


def make_user(kit: BrokerKit, name: str, *rules: Rule, kind: str = "Normal") -> None:
    body = encode_user(User(name, secret_of(name), kind))
    answer = ask_as(kit, "root", 3001, {"username": name}, body)
    assert answer.code == 0, answer.remark
    if rules:
        set_rules(kit, name, *rules)


def set_rules(kit: BrokerKit, name: str, *rules: Rule) -> None:
    """The user has these rules and no others."""
    ask_as(kit, "root", 3008, {"subject": f"User:{name}"})
    if rules:
        body = encode_rights(Rights(f"User:{name}", rules))
        answer = ask_as(kit, "root", 3006, {"subject": f"User:{name}"}, body)
        assert answer.code == 0, answer.remark


def is_refused(answer: RemotingCommand) -> bool:
    """Whether the gate refused it."""
    return answer.code == 16 and any(part in answer.remark for part in REFUSALS)
