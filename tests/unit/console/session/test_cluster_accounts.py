import pytest

from aerobee.console.session.cluster_accounts import roles_in
from aerobee.console.session.visitor import Role
from tests.console_kit import ConsoleClient


def test_roles_are_pairs_with_commas() -> None:
    assert roles_in(" alice:admin, a:b:viewer,*:operator,") == {
        "alice": Role.ADMIN,
        "a:b": Role.VIEWER,
        "*": Role.OPERATOR,
    }
    assert roles_in("") == {}
    for wrong in ("alice", ":admin"):
        with pytest.raises(ValueError, match="pairs like"):
            roles_in(wrong)
    with pytest.raises(ValueError, match="viewer, operator or admin"):
        roles_in("alice:king")


def test_users_of_the_cluster_log_in_with_their_roles(guarded: ConsoleClient) -> None:
    for user, role in (("root", "admin"), ("dave", "operator"), ("carol", "viewer")):
        visitor = ConsoleClient(guarded.address)
        assert visitor.log_in(user, "wrong").code == "wrong_login"
        told = visitor.log_in(user, f"{user}-secret")
        assert told.json()["role"] == role, user
        assert visitor.change("POST", "/api/logout").status == 200


def test_somebody_whom_the_cluster_does_not_know_does_not_log_in(guarded: ConsoleClient) -> None:
    assert ConsoleClient(guarded.address).log_in("mallory", "anything").code == "wrong_login"
