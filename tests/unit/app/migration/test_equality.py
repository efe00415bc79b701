from pathlib import Path

import pytest

from aerobee.app.migration.equality import (
    NotEqual,
    Sides,
    await_metadata,
    compare_log,
    compare_queues,
    log_end,
    missing_topics,
    reach,
)
from aerobee.app.migration.log_ranges import LogRange
from aerobee.client.admin.admin import Admin
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.testing import Cluster
from tests.admin_kit import with_admin
from tests.migration_kit import new_broker

BODY = b"a body that can be found in a log"


async def filled(cluster: Cluster, admin: Admin) -> None:
    await admin.topics.create("orders", queues=2)
    for _ in range(20):
        await cluster.client.send("orders", BODY)


def test_a_copied_log_has_the_hashes_of_its_master_until_one_byte_differs(tmp_path: Path) -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await filled(cluster, admin)
        async with new_broker(admin, cluster, tmp_path) as new:
            ha_address = await new.caught_up()
            end = await log_end(admin, new.sides.own)
            file_bytes = int(new.plan.facts.settings["mappedFileSizeCommitLog"])
            root, bounds = new.plan.place.store, LogRange(0, end)
            for is_whole in (True, False):
                found = await compare_log(ha_address, root, file_bytes, bounds, is_whole=is_whole)
                assert end * 0.9 < found.size < end
            log = tmp_path / "new" / "commitlog" / f"{0:020d}"
            with log.open("r+b") as file:
                at = log.read_bytes().rindex(BODY)
                file.seek(at)
                file.write(b"A")
            with pytest.raises(NotEqual, match="the log differs between"):
                await compare_log(ha_address, root, file_bytes, bounds, is_whole=True)

    with_admin(test)


def test_all_queues_of_a_slave_are_those_of_its_master(tmp_path: Path) -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await filled(cluster, admin)
        async with new_broker(admin, cluster, tmp_path) as new:
            queues, messages = await compare_queues(admin, new.sides)
            assert (queues > 2, messages) == (True, 20)

    with_admin(test)


def test_topics_and_offsets_are_awaited_until_they_are_copied(tmp_path: Path) -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await filled(cluster, admin)
        queue = MessageQueue("orders", "broker-a", QueueId(0))
        async with new_broker(admin, cluster, tmp_path) as new:
            await admin.topics.create("late", queues=1)
            await admin.offsets.commit("billing", queue, 3)
            assert await await_metadata(admin, new.sides, 60) == []
            assert await missing_topics(admin, new.sides) == []
            offsets = await admin.offsets.all(on=new.sides.own)
            assert offsets[new.sides.own]["orders", "billing"] == {0: 3}

    with_admin(test)


def test_a_broker_that_copies_nothing_has_missing_topics_and_does_not_reach_the_end() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        info = await admin.cluster()
        first, second = (broker.addresses[0] for broker in info.brokers)
        await admin.topics.create("orders", on=first)
        with pytest.raises(NotEqual, match=r"topics are not copied: .*orders"):
            await await_metadata(admin, Sides(first, second), 0)
        with pytest.raises(NotEqual, match="does not reach 99"):
            await reach(admin, second, 99, seconds_max=0.2)

    with_admin(test, brokers=2)
