from collections.abc import Iterator
from pathlib import Path

import pytest

from aerobee.testing.thread_cluster import ThreadCluster
from tests.cli_kit import Said, aerobee
from tests.server_kit import Server

SETTINGS = {
    "authenticationEnabled": "true",
    "authorizationEnabled": "true",
    "initAuthenticationUser": '{"username":"root","password":"root-secret"}',
    "innerClientAuthenticationCredentials": '{"accessKey":"inner","secretKey":"inner-secret"}',
}


@pytest.fixture(scope="module")
def guarded() -> Iterator[Server]:
    with ThreadCluster(settings=SETTINGS) as cluster:
        yield Server(f"rmq://root:root-secret@{cluster.address}")


def auth(server: Server, *words: str, stdin: str | None = None) -> Said:
    said = aerobee(server, "auth", *words, stdin=stdin)
    assert "root-secret" not in said.out + said.error
    return said


def test_users_are_made_shown_changed_and_deleted(guarded: Server, tmp_path: Path) -> None:
    made = auth(guarded, "create-user", "alice")
    assert made.status == 0
    assert "its password, which is not shown again: " in made.out
    secret = tmp_path / "secret"
    secret.write_text("hidden\n")
    made = auth(guarded, "create-user", "boss", "--super", "--password-file", str(secret))
    assert made.out == "boss is made\n"
    assert auth(guarded, "create-user", "boss").status != 0
    shown = auth(guarded, "users", "-o", "json")
    assert "hidden" not in shown.out
    assert {(one["user"], one["type"]) for one in shown.records} == {
        ("root", "Super"), ("inner", "Super"), ("alice", "Normal"), ("boss", "Super"),
    }  # fmt: skip
    assert auth(guarded, "update-user", "alice", "--disable").status == 0
    assert auth(guarded, "update-user", "alice", "--password-file", "-", stdin="new").status == 0
    (alice,) = auth(guarded, "users", "--name", "ali", "-o", "json").records
    assert alice["enabled"] is False
    assert auth(guarded, "update-user", "alice").status == 1
    assert auth(guarded, "update-user", "nobody", "--enable").status == 3
    assert auth(guarded, "delete-user", "alice", "--dry-run").out.startswith("would delete")
    for name in ("alice", "boss"):
        assert auth(guarded, "delete-user", name, "--yes").status == 0
    assert len(auth(guarded, "users", "-o", "json").records) == 2


def test_rules_are_made_explained_and_deleted(guarded: Server) -> None:
    auth(guarded, "create-user", "bob")
    assert auth(guarded, "can", "bob", "Pub", "Topic:T", "-o", "json").records[0]["reason"] == (
        "no rule of the user fits"
    )
    assert auth(guarded, "allow", "bob", "Topic:T*", "Pub", "Sub").status == 0
    assert auth(guarded, "deny", "bob", "Topic:Tx", "Pub", "--from", "10.0.0.0/8").status == 0
    assert auth(guarded, "allow", "bob", "Group:*", "Sub", "--default").status == 0
    can = auth(guarded, "can", "bob", "Pub", "Topic:T1", "-o", "json")
    assert (can.status, can.records[0]["can"]) == (0, True)
    assert can.records[0]["reason"] == "by the rule Allow Pub, Sub on Topic:T*"
    cannot = auth(guarded, "can", "bob", "Pub", "Topic:Tx", "--from", "10.1.1.1", "-o", "json")
    assert (cannot.status, cannot.records[0]["can"]) == (1, False)
    assert "Deny Pub on Topic:Tx from 10.0.0.0/8" in cannot.records[0]["reason"]
    assert auth(guarded, "can", "bob", "Sub", "Group:g").status == 0
    assert auth(guarded, "can", "root", "Delete", "Topic:T").status == 0
    assert auth(guarded, "can", "nobody", "Pub", "Topic:T").status == 1
    assert len(auth(guarded, "rules", "bob", "-o", "json").records) == 3
    assert auth(guarded, "forget", "bob", "Group:*", "--default", "--yes").status == 0
    assert len(auth(guarded, "rules", "bob", "-o", "json").records) == 2
    assert auth(guarded, "forget", "bob", "--yes").status == 0
    assert auth(guarded, "rules", "bob").out == "there is no such rule: nothing is allowed\n"
    assert auth(guarded, "allow", "bob", "Queue:T", "Pub").status == 1
    assert auth(guarded, "can", "bob", "Fly", "Topic:T").status == 1
    auth(guarded, "delete-user", "bob", "--yes")


def test_a_file_of_rocketmq_4_is_taken_over_and_all_of_it_shown(
    guarded: Server, tmp_path: Path
) -> None:
    file = tmp_path / "plain_acl.yml"
    file.write_text(
        "globalWhiteRemoteAddresses:\n- 10.0.0.*\naccounts:\n- accessKey: shop\n"
        "  secretKey: shop-hidden\n  defaultTopicPerm: DENY\n  topicPerms:\n  - orders=PUB\n"
    )
    said = auth(guarded, "import", str(file), "--yes")
    assert said.status == 0
    assert "not converted: globalWhiteRemoteAddresses" in said.error
    assert auth(guarded, "can", "shop", "Pub", "Topic:orders").status == 0
    assert auth(guarded, "can", "shop", "Pub", "Topic:other").status == 1
    found = {one["user"]: one for one in auth(guarded, "export", "-o", "json").records}
    assert len(found["shop"]["rules"]) == 2
    assert "hidden" not in str(found)
    assert auth(guarded, "import", str(tmp_path / "none.yml"), "--yes").status == 1
    auth(guarded, "delete-user", "shop", "--yes")


def test_whoever_is_nobody_is_told_so(guarded: Server) -> None:
    stranger = Server(guarded.name_server.replace("root-secret", "guess"))
    said = aerobee(stranger, "auth", "users")
    assert said.status != 0
    assert "check signature failed" in said.error
    assert "guess" not in said.error
