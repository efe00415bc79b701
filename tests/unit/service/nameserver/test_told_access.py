from aerobee.model.access import Credentials, Rule
from aerobee.protocol.bodies.access import UserChange
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.access.access_table import AccessTable
from aerobee.service.access.table_text import encode_table, transfer_key
from tests.access_kit import ACCESS, INNER, ask_as, is_refused, secret_of
from tests.nameserver_kit import NameServerKit

EMPTY = AccessTable()


def table(name: str, *rules: Rule) -> AccessTable:
    made = EMPTY.with_user(UserChange(name, secret_of(name)), None)
    return made.with_rules(name, rules) if rules else made


def tell(
    kit: NameServerKit,
    told: AccessTable | None,
    broker: str = "broker-a",
    *,
    by: Credentials = INNER,
    digest: str = "1",
) -> RemotingCommand:
    body = b"" if told is None else encode_table(told, transfer_key(by))
    fields = {"clusterName": "C", "brokerName": broker, "digest": digest}
    return ask_as(kit, "inner", 28010, fields, body)


def test_a_digest_is_known_once_its_table_was_told() -> None:
    kit = NameServerKit(access=ACCESS)
    assert tell(kit, None).ext_fields["known"] == "false"
    assert tell(kit, EMPTY).code == 0
    assert tell(kit, None).ext_fields["known"] == "true"
    assert tell(kit, None, digest="2").ext_fields["known"] == "false"
    assert tell(kit, None, "broker-b").ext_fields["known"] == "false"


def test_what_one_broker_allows_is_allowed() -> None:
    kit = NameServerKit(access=ACCESS)
    tell(kit, table("alice"), "broker-a")
    assert is_refused(ask_as(kit, "alice", 105, {"topic": "T"}))
    tell(kit, table("alice", Rule("Topic:T", ("Sub",))), "broker-b")
    assert not is_refused(ask_as(kit, "alice", 105, {"topic": "T"}))
    tell(kit, EMPTY, "broker-b")
    assert is_refused(ask_as(kit, "alice", 105, {"topic": "T"}))


def test_a_table_sealed_by_others_is_refused() -> None:
    kit = NameServerKit(access=ACCESS)
    answer = tell(kit, table("alice"), by=Credentials("inner", "guess"))
    assert answer.code != 0
    assert is_refused(ask_as(kit, "alice", 105, {"topic": "TBW102"}))


def test_a_name_server_without_users_asks_nobody() -> None:
    kit = NameServerKit()
    assert kit.ask(106).code == 0
    fields = {"clusterName": "C", "brokerName": "broker-a", "digest": "1"}
    assert kit.ask(28010, fields).ext_fields["known"] == "true"
