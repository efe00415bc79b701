import pytest

from aerobee.console.session.visitor import Role, Visitor, role_of


def test_a_role_includes_those_before_it() -> None:
    operator = Visitor("127.0.0.1", Role.OPERATOR)
    assert [operator.may(role) for role in Role] == [True, True, False]
    assert not any(Visitor("127.0.0.1").may(role) for role in Role)


def test_roles_are_read_by_their_words() -> None:
    assert [role_of(role.word) for role in Role] == list(Role)
    with pytest.raises(ValueError, match="viewer, operator or admin"):
        role_of("root")
