import pytest

from aerobee.client.admin.admin import Admin
from aerobee.errors import Refused
from aerobee.model.access import Rights, Rule, User
from aerobee.testing import Cluster
from tests.admin_kit import with_admin


def test_a_broker_that_asks_nobody_who_it_is_says_so() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        user, rights = User("alice", "secret"), Rights("User:alice", (Rule("Topic:*", ("Pub",)),))
        access = admin.access
        for asked in (
            access.create_user(user),
            access.update_user(user),
            access.delete_user("alice"),
            access.user("alice"),
            access.users(),
            access.create_rights(rights),
            access.update_rights(rights),
            access.delete_rights("User:alice"),
            access.rights("User:alice"),
            access.rights_of_all(),
        ):
            with pytest.raises(Refused, match="authentication is not enabled"):
                await asked

    with_admin(test)
