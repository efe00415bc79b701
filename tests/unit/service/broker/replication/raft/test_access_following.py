"""Users and rules of a group go with its log: what a majority has, every member has."""

from dataclasses import replace

from aerobee.model.access import Credentials, Rights, Rule, User
from aerobee.model.names import TABLES_TOPIC
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.access import encode_rights, encode_user
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.access.access_store import FILE
from aerobee.service.access.accounts import Account
from aerobee.service.broker.replication.raft.table_change import (
    ChangeKind,
    TableChange,
    decode_change,
)
from tests.access_kit import ACCESS as ASKING
from tests.access_kit import secret_of, signed
from tests.broker_kit import create_fields
from tests.member_kit import Member, MemberGroup

PUB = Rule("Topic:Orders", ("Pub",))
CREATE, UPDATE, DELETE, ADD_RULES, DELETE_RULES = 3001, 3002, 3003, 3006, 3008


def ask_as(
    group: MemberGroup,
    member: Member,
    name: str,
    code: int,
    fields: dict[str, str],
    body: bytes = b"",
) -> RemotingCommand:
    return group.ask(member, code, signed(name, fields, body), body)


def make(
    group: MemberGroup, member: Member, name: str, kind: str = "Normal", by: str = "root"
) -> RemotingCommand:
    body = encode_user(User(name, secret_of(name), kind))
    return ask_as(group, member, by, CREATE, {"username": name}, body)


def allow(group: MemberGroup, member: Member, name: str, *rules: Rule) -> RemotingCommand:
    subject = f"User:{name}"
    body = encode_rights(Rights(subject, rules))
    return ask_as(group, member, "root", ADD_RULES, {"subject": subject}, body)


def account(member: Member, name: str) -> Account | None:
    (realm,) = member.kit.broker.reception.gate.realms()
    return realm.accounts.find(name)


def has(member: Member, name: str) -> bool:
    return account(member, name) is not None


def all_have(group: MemberGroup, name: str) -> bool:
    return all(has(one, name) for one in group.members if one.is_up)


def changes_of(member: Member) -> list[TableChange]:
    return [decode_change(one.body) for one in member.kit.messages(TABLES_TOPIC)]


def copied(group: MemberGroup) -> Member:
    """The leader, once its first copy of the tables is with everybody."""
    leader = group.elected()
    group.until(
        lambda: all(
            any(one.kind is ChangeKind.END for one in changes_of(member))
            for member in group.members
        )
    )
    return leader


def asking_group() -> tuple[MemberGroup, Member]:
    group = MemberGroup(3, access=ASKING)
    return group, copied(group)


def others(group: MemberGroup, member: Member) -> list[Member]:
    return [one for one in group.members if one is not member]


def test_a_user_and_its_rules_are_on_every_member_soon_after_they_are_answered() -> None:
    group, leader = asking_group()
    assert make(group, leader, "alice").code == 0
    assert allow(group, leader, "alice", PUB).code == 0
    group.run(100)
    for member in group.members:
        found = account(member, "alice")
        assert found is not None
        assert found.user.password == secret_of("alice")
        (realm,) = member.kit.broker.reception.gate.realms()
        assert realm.accounts.table.rules["alice"] == (PUB,)


def test_a_change_is_answered_when_a_majority_has_it() -> None:
    group, leader = asking_group()
    group.cuts = {frozenset((leader.number, one.number)) for one in group.members}
    leader.kit.heard()
    body = encode_user(User("alice", secret_of("alice"), "Normal"))
    leader.kit.tell(CREATE, signed("root", {"username": "alice"}, body), body)
    group.run(200)
    assert leader.kit.heard() == []
    group.cuts.clear()
    group.run(400)
    assert [one.code for one in leader.kit.heard()] == [0]


def test_no_password_and_no_rule_is_in_the_log_in_clear() -> None:
    group, leader = asking_group()
    assert make(group, leader, "alice").code == 0
    assert allow(group, leader, "alice", PUB).code == 0
    log = b"".join(bytes(one.body) for one in leader.kit.messages(TABLES_TOPIC))
    assert b"alice" in log
    for secret in (secret_of("alice"), "root-secret", "inner-secret", PUB.resource):
        assert secret.encode() not in log


def test_a_new_leader_has_every_change_that_was_answered() -> None:
    group, leader = asking_group()
    for name in ("alice", "bob", "carol"):
        assert make(group, leader, name).code == 0
    assert ask_as(group, leader, "root", DELETE, {"username": "bob"}).code == 0
    group.stop(leader.number)
    second = group.elected(leader.number)
    assert [has(second, name) for name in ("alice", "bob", "carol")] == [True, False, True]


def test_a_user_that_only_a_deposed_leader_has_is_gone_when_it_follows() -> None:
    group, leader = asking_group()
    group.cuts = {frozenset((leader.number, one.number)) for one in group.members}
    body = encode_user(User("lost", secret_of("lost"), "Super"))
    leader.kit.tell(CREATE, signed("root", {"username": "lost"}, body), body)
    group.run(50)
    assert has(leader, "lost")
    second = group.elected(leader.number)
    group.cuts.clear()
    group.until(lambda: not has(leader, "lost"))
    assert make(group, second, "found").code == 0
    group.until(lambda: all_have(group, "found"))


def test_a_member_that_was_away_has_what_came_meanwhile_and_nothing_that_is_gone() -> None:
    group, leader = asking_group()
    assert make(group, leader, "alice").code == 0
    group.until(lambda: all_have(group, "alice"))
    away = others(group, leader)[0]
    group.stop(away.number)
    assert make(group, leader, "bob").code == 0
    assert ask_as(group, leader, "root", DELETE, {"username": "alice"}).code == 0
    away.restart()
    assert has(away, "alice")
    group.until(lambda: has(away, "bob") and not has(away, "alice"))


def test_a_super_user_of_the_settings_that_was_deleted_is_gone_on_a_follower_that_starts() -> None:
    group, leader = asking_group()
    assert make(group, leader, "boss", "Super").code == 0
    assert ask_as(group, leader, "boss", DELETE, {"username": "root"}).code == 0
    away = others(group, leader)[0]
    group.stop(away.number)
    away.restart()
    assert has(away, "root")  # its settings say so
    group.until(lambda: not has(away, "root"))


def test_a_member_that_joins_has_the_users_of_the_group() -> None:
    group, leader = asking_group()
    assert make(group, leader, "alice").code == 0
    new = group.join()
    add = {"operation": "add", "node": str(new.number), "address": new.config.address}
    assert ask_as(group, leader, "root", 28011, add).code == 0
    group.until(lambda: has(new, "alice"))


def test_a_follower_hands_a_change_on_to_the_leader() -> None:
    group, leader = asking_group()
    follower = others(group, leader)[0]
    assert make(group, follower, "alice").code == 0
    group.until(lambda: all_have(group, "alice"))
    assert make(group, follower, "alice").code == 0  # as a tool that tells every member does
    assert make(group, leader, "alice").code != 0


def test_a_change_that_is_handed_on_may_do_no_more_than_its_user() -> None:
    group, leader = asking_group()
    assert make(group, leader, "helper").code == 0
    cluster = Rule("Cluster:*", ("All",))
    assert allow(group, leader, "helper", cluster).code == 0
    follower = others(group, leader)[0]
    group.until(lambda: account(follower, "helper") is not None)
    group.run(100)
    assert make(group, follower, "friend", by="helper").code == 0
    refused = make(group, follower, "king", "Super", by="helper")
    assert "can only be create by super user" in refused.remark
    group.run(200)
    assert not has(leader, "king")


def test_the_name_of_who_asked_is_believed_of_the_brokers_own_user_only() -> None:
    group, leader = asking_group()
    assert make(group, leader, "helper").code == 0
    assert allow(group, leader, "helper", Rule("Cluster:*", ("All",))).code == 0
    body = encode_user(User("king", secret_of("king"), "Super"))
    fields = {"username": "king", "aerobeeForwarded": "true", "aerobeeAskedBy": "root"}
    refused = ask_as(group, leader, "helper", CREATE, fields, body)
    assert "can only be create by super user" in refused.remark
    assert not has(leader, "king")


def test_a_leader_begins_with_a_change_that_nobody_knew_to_be_committed() -> None:
    group, leader = asking_group()
    group.run(1_000)
    before = leader.kit.store.end_offset
    body = encode_user(User("alice", secret_of("alice"), "Normal"))
    leader.kit.tell(CREATE, signed("root", {"username": "alice"}, body), body)
    rest = others(group, leader)
    group.until(lambda: all(one.kit.store.end_offset > before for one in rest))
    group.stop(leader.number)
    assert not any(has(one, "alice") for one in rest)
    assert has(group.elected(leader.number), "alice")


def test_a_leader_with_another_secret_keeps_the_users_of_its_file() -> None:
    group = MemberGroup(1, access=ASKING)
    leader = copied(group)
    assert make(group, leader, "alice").code == 0
    leader.access = replace(ASKING, inner=Credentials("inner2", "inner2-secret"))
    group.stop(0)
    leader.restart()
    again = group.elected()
    assert [has(again, name) for name in ("alice", "inner", "inner2")] == [True, True, True]


def test_followers_ask_nobody_for_users() -> None:
    group, leader = asking_group()
    follower = others(group, leader)[0]
    asked: list[str] = []
    for _ in range(100):
        group.clock.advance(10)
        follower.kit.tick()
        asked += [str(dial.command.ext_fields) for dial in follower.kit.dialed]
        group.run(10)
    assert asked  # other state is still copied
    assert not any(FILE in one for one in asked)


def test_an_idle_group_writes_nothing_of_its_users() -> None:
    group, leader = asking_group()
    assert make(group, leader, "alice").code == 0
    group.run(1_000)
    before = len(changes_of(leader))
    group.run(2_000)
    assert len(changes_of(leader)) == before


def test_requests_of_a_user_made_at_the_leader_pass_at_the_next_one() -> None:
    group, leader = asking_group()
    orders = TopicConfig("Orders", 4, 4)
    assert ask_as(group, leader, "root", 17, create_fields(orders)).code == 0
    assert make(group, leader, "alice").code == 0
    assert allow(group, leader, "alice", Rule("Topic:Orders", ("Get",))).code == 0
    group.stop(leader.number)
    second = group.elected(leader.number)
    assert ask_as(group, second, "alice", 351, {"topic": "Orders"}).code == 0
