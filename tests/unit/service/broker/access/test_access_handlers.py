from dataclasses import replace

from aerobee.model.access import Rights, Rule, User
from aerobee.model.broker_role import BrokerRole
from aerobee.protocol.bodies.access import (
    decode_rights,
    decode_rights_list,
    decode_user,
    decode_users,
    encode_rights,
    encode_user,
)
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.replication.config import ReplicationConfig
from tests.access_kit import IDENTITY, ask_as, guarded_broker, make_user
from tests.broker_kit import BrokerKit

ALICE = {"username": "alice"}
SUBJECT = {"subject": "User:alice"}
PUB = Rule("Topic:T", ("Pub", "Sub"))
ADMIN = (Rule("Cluster:DefaultCluster", ("Update", "Get")),)


def create(kit: BrokerKit, user: User, by: str = "root") -> RemotingCommand:
    return ask_as(kit, by, 3001, {"username": user.name}, encode_user(user))


def test_users_are_made_shown_changed_and_deleted() -> None:
    kit = guarded_broker()
    assert create(kit, User("alice", "hidden")).code == 0
    assert decode_user(bytes(ask_as(kit, "root", 3004, ALICE).body)) == User("alice")
    body = b'{"username":"alice","userStatus":"disable"}'
    assert ask_as(kit, "root", 3002, ALICE, body).code == 0
    shown = decode_user(bytes(ask_as(kit, "root", 3004, ALICE).body))
    assert shown == User("alice", is_enabled=False)
    assert ask_as(kit, "root", 3003, ALICE).code == 0
    answer = ask_as(kit, "root", 3004, ALICE)
    assert (answer.code, bytes(answer.body)) == (0, b"")
    assert ask_as(kit, "root", 3003, ALICE).code == 0


def test_users_are_listed_by_a_part_of_their_name() -> None:
    kit = guarded_broker()
    for name in ("zoe", "alice", "alan"):
        make_user(kit, name)
    found = decode_users(bytes(ask_as(kit, "root", 3005, {"filter": "al"}).body))
    assert [user.name for user in found] == ["alan", "alice"]
    assert len(decode_users(bytes(ask_as(kit, "root", 3005).body))) == 5
    assert bytes(ask_as(kit, "root", 3005, {"filter": "nobody"}).body) == b""


def test_no_answer_has_a_secret() -> None:
    kit = guarded_broker()
    make_user(kit, "alice", PUB)
    for code, fields in ((3004, ALICE), (3005, {}), (3009, SUBJECT), (3010, {}), (26, {})):
        answer = ask_as(kit, "root", code, fields)
        assert answer.code == 0
        assert b"-secret" not in bytes(answer.body)
        assert b"password" not in bytes(answer.body).lower()


def test_refusals_have_rocketmqs_codes_and_words() -> None:
    kit = guarded_broker()
    make_user(kit, "admin", *ADMIN)
    cases = [
        (create(kit, User("", "x")), 29, "The username is blank"),
        (create(kit, User("admin", "x")), 16, "The user is existed"),
        (create(kit, User("bob")), 16, "password can not be blank"),
        (
            create(kit, User("bob", "x", "Super"), "admin"),
            1,
            "The super user can only be create by super user",
        ),
        (ask_as(kit, "root", 3002, ALICE, b"{}"), 16, "The user is not exist"),
        (
            ask_as(kit, "admin", 3003, {"username": "root"}),
            16,
            "The super user can only be update by super user",
        ),
        (ask_as(kit, "root", 3004, {"username": " "}), 29, "The username is blank"),
        (ask_as(kit, "root", 3006, SUBJECT), 1, "The body of acl is null"),
        (
            ask_as(kit, "root", 3006, SUBJECT, encode_rights(Rights("User:alice", (PUB,)))),
            16,
            "The subject of User:alice is not exist.",
        ),
        (ask_as(kit, "root", 3008, SUBJECT), 16, "The subject is not exist."),
        (ask_as(kit, "root", 3009, SUBJECT), 16, "The subject is not exist."),
        (ask_as(kit, "root", 3008, {"subject": "User:root"}), 16, "The acl is not exist."),
        (ask_as(kit, "root", 3009, {"subject": "root"}), 16, "The subject is null."),
    ]
    for answer, code, remark in cases:
        assert (answer.code, answer.remark) == (code, remark)


def test_rules_are_added_shown_and_deleted() -> None:
    kit = guarded_broker()
    make_user(kit, "alice", PUB, Rule("Group:g", ("Sub",), "Deny", ("10.0.0.0/8",)))
    rights = decode_rights(bytes(ask_as(kit, "root", 3009, SUBJECT).body))
    assert rights is not None
    assert rights.rules == (PUB, Rule("Group:g", ("Sub",), "Deny", ("10.0.0.0/8",)))
    assert ask_as(kit, "root", 3008, {**SUBJECT, "resource": "Group:g"}).code == 0
    assert decode_rights_list(bytes(ask_as(kit, "root", 3010).body)) == [
        Rights("User:alice", (PUB,))
    ]
    filtered = ask_as(kit, "root", 3010, {"subjectFilter": "bob"})
    assert bytes(filtered.body) == b""
    filtered = ask_as(kit, "root", 3010, {"resourceFilter": "Group"})
    assert bytes(filtered.body) == b""
    assert ask_as(kit, "root", 3008, SUBJECT).code == 0
    assert bytes(ask_as(kit, "root", 3009, SUBJECT).body) == b""


def test_a_slave_takes_a_user_again_that_it_has_copied() -> None:
    replication = ReplicationConfig(role=BrokerRole.SLAVE)
    slave = BrokerKit(identity=replace(IDENTITY, broker_id=1, replication=replication))
    assert create(slave, User("alice", "hidden")).code == 0
    assert create(slave, User("alice", "hidden")).code == 0
    assert create(slave, User("alice", "other")).code == 16
