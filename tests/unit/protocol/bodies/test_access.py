import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.model.access import DENY, SUPER, Rights, Rule, User
from aerobee.protocol.bodies.access import (
    decode_rights,
    decode_rights_list,
    decode_user,
    decode_users,
    encode_rights,
    encode_user,
)

# As Apache 5.5.0 wrote them.
USER = b'{"password":"secret12","userStatus":"enable","userType":"Normal","username":"held"}'
RIGHTS = (
    b'{"policies":[{"entries":[{"actions":["Pub","Sub"],"decision":"Allow","resource":"Topic:T"}],'
    b'"policyType":"Custom"}],"subject":"User:held"}'
)


def test_a_user_is_read_and_written_as_apache_does() -> None:
    user = User("held", "secret12")
    assert decode_user(USER) == user
    assert encode_user(user) == USER
    assert decode_users(b"[" + USER + b"]") == [user]
    assert decode_user(b"") is None
    assert decode_users(b"") == []


def test_rights_are_read_and_written_as_apache_does() -> None:
    rights = Rights("User:held", (Rule("Topic:T", ("Pub", "Sub")),))
    assert decode_rights(RIGHTS) == rights
    assert encode_rights(rights) == RIGHTS
    assert decode_rights_list(b"[" + RIGHTS + b"]") == [rights]
    assert decode_rights(b"") is None


def test_what_is_said_of_them_is_read_again() -> None:
    user = User("root", "", SUPER, False)
    assert decode_user(encode_user(user)) == user
    rights = Rights("User:a", (Rule("Group:*", ("All",), DENY, ("10.0.0.0/8",)),))
    assert decode_rights(encode_rights(rights)) == rights


def test_a_password_is_never_shown() -> None:
    assert "secret12" not in repr(User("held", "secret12"))


def test_what_is_no_list_is_refused() -> None:
    with pytest.raises(RemoteProtocolError, match="no list"):
        decode_users(b"{}")
