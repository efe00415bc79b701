from aerobee.client.admin.admin import Admin, admin
from aerobee.testing import Cluster
from tests.admin_kit import with_admin


def test_values_are_kept_shown_and_deleted() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        assert await admin.name_servers.value("shop", "colour") is None
        assert await admin.name_servers.values("shop") == {}
        assert await admin.name_servers.put_value("shop", "colour", "red") == [cluster.address]
        assert await admin.name_servers.value("shop", "colour") == "red"
        assert await admin.name_servers.values("shop") == {"colour": "red"}
        await admin.name_servers.delete_value("shop", "colour")
        assert await admin.name_servers.value("shop", "colour") is None

    with_admin(test)


def test_settings_are_shown_by_address_and_changed() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        before = (await admin.name_servers.config())[cluster.address]
        assert before["orderMessageEnable"] == "false"
        await admin.name_servers.set_config({"orderMessageEnable": "true"})
        after = (await admin.name_servers.config())[cluster.address]
        assert after["orderMessageEnable"] == "true"

    with_admin(test)


def test_one_that_does_not_answer_is_said_to_be_silent() -> None:
    async def test(_: Admin, cluster: Cluster) -> None:
        async with admin(f"127.0.0.1:1;{cluster.address}") as tool:
            said = await tool.name_servers.answering()
        assert said[cluster.address] is None
        assert "127.0.0.1:1" in (said["127.0.0.1:1"] or "")

    with_admin(test)
