import asyncio
from pathlib import Path

from aerobee.app.migration.migration import Migration, restart_command
from aerobee.app.settings.broker_settings import read_settings
from aerobee.client.admin.admin import Admin
from aerobee.testing import Cluster
from tests.admin_kit import with_admin
from tests.migration_kit import new_broker, role_of


def test_the_steps_are_told_in_their_order_and_the_new_broker_is_the_master(
    tmp_path: Path,
) -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders", queues=2)
        for _ in range(5):
            await cluster.client.send("orders", b"before")
        async with new_broker(admin, cluster, tmp_path) as new:
            failures: list[BaseException] = []
            migration = Migration(new.plan, new.messages, new.said.take)
            assert await migration.start(failures.append) == ""
            await new.said.until("next time")
            await migration.stop()
            assert (failures, migration.error) == ([], None)
            words = ["copied", "equal: SHA-256", "equal:", "writes are stopped", "both logs end"]
            lines = iter(new.said.lines)
            assert all(any(line.startswith(word) for line in lines) for word in words)
            assert any(
                line.startswith("gap: ") and "s without sends" in line for line in new.said.lines
            )
            assert restart_command(new.plan.place) in new.said.lines[-1]
            assert await role_of(admin, new.sides.own) == "ASYNC_MASTER"
            settings = read_settings(new.plan.place.config_path, {}, [])
            assert (settings.replication.role.value, settings.broker_id) == ("ASYNC_MASTER", 0)

    with_admin(test)


def test_a_migration_that_only_follows_changes_nothing_on_the_master(tmp_path: Path) -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        async with new_broker(admin, cluster, tmp_path, is_follow_only=True) as new:
            migration = Migration(new.plan, new.messages, new.said.take)
            failures: list[BaseException] = []
            await migration.start(failures.append)
            await new.said.until("without --follow")
            await migration.stop()
            assert failures == []
            assert await role_of(admin, new.sides.own) == "SLAVE"
            config = await admin.brokers.config(on="broker-a")
            assert config["broker-a"]["brokerPermission"] == "6"

    with_admin(test)


def test_a_failure_ends_the_process_with_its_reason(tmp_path: Path) -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        async with new_broker(admin, cluster, tmp_path) as new:
            ended: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()
            await cluster.stop_broker("broker-a")
            migration = Migration(new.plan, new.messages, new.said.take)
            await migration.start(ended.set_result)
            error = await ended
            await migration.stop()
            assert migration.error is error

    with_admin(test)
