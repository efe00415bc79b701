import asyncio
from pathlib import Path

import pytest

from aerobee.app.migration.equality import await_metadata
from aerobee.app.migration.hand_over import HandOver, RestartedSuccessor
from aerobee.app.migration.master_facts import master_facts
from aerobee.app.migration.operator_step import BY_HAND, OperatorStep, TakeoverFailed
from aerobee.app.migration.takeover import OwnSuccessor
from aerobee.client.admin.admin import Admin
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.route import MASTER_ID
from aerobee.protocol.headers.replication import ASYNC_MASTER
from aerobee.testing import Cluster
from tests.admin_kit import with_admin
from tests.migration_kit import FACTS, NewBroker, WaitingCommand, new_broker, role_of


def hand_over(new: NewBroker) -> HandOver:
    return HandOver(new.tool, new.plan.facts, new.sides.own, new.said.take)


def test_a_slave_that_is_restarted_as_the_master_has_everything_and_ours_follows_it(
    tmp_path: Path,
) -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders", queues=2)
        await cluster.client.send("orders", b"before")
        async with new_broker(admin, cluster, tmp_path) as new:
            await new.caught_up()
            task = asyncio.create_task(hand_over(new).run(waiting.step))
            await new.said.until("is slave 2 from now on", task)
            own = new.sides.own
            await admin.replicas.change_role(own, ASYNC_MASTER, MASTER_ID, is_forced=True)
            waiting.let_go()
            outcome = await task
            assert (outcome.messages, outcome.older) == (1, [])
            (broker,) = (await admin.cluster()).brokers
            assert broker.addresses == {0: own, 2: new.sides.master}
            assert await role_of(admin, new.sides.master) == "SLAVE"
            await cluster.client.send("orders", b"after")
            assert new.messages() == 2

    with WaitingCommand(tmp_path) as waiting:
        with_admin(test)


def test_a_restart_that_fails_leaves_our_master_as_it_was(tmp_path: Path) -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders", queues=2)
        async with new_broker(admin, cluster, tmp_path) as new:
            await new.caught_up()
            with pytest.raises(TakeoverFailed, match="failed with status 3"):
                await hand_over(new).run(OperatorStep("exit 3"))
            assert await role_of(admin, new.sides.master) == "ASYNC_MASTER"
            assert await role_of(admin, new.sides.own) == "SLAVE"
            await cluster.client.send("orders", b"after")

    with_admin(test)


def test_a_hand_over_that_is_stopped_while_a_person_is_asked_leaves_our_master_as_it_was(
    tmp_path: Path,
) -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders", queues=2)
        async with new_broker(admin, cluster, tmp_path) as new:
            await new.caught_up()
            task = asyncio.create_task(hand_over(new).run(BY_HAND))
            await new.said.until("restart the broker", task)
            task.cancel()
            with pytest.raises(TakeoverFailed, match="stopped before"):
                await task
            assert await role_of(admin, new.sides.master) == "ASYNC_MASTER"
            await cluster.client.send("orders", b"after")

    with_admin(test)


def test_only_a_registered_slave_of_an_aerobee_master_can_take_over() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        facts = await master_facts(admin, "broker-a")
        for address in (facts.address, "127.0.0.1:1"):
            with pytest.raises(TakeoverFailed, match="no slave of broker-a is registered at"):
                await HandOver(admin, facts, address, print).check()
        with pytest.raises(TakeoverFailed, match=r"10.0.0.1:10911 is not Aerobee's"):
            await HandOver(admin, FACTS, "127.0.0.1:1", print).check()

    with_admin(test)


def restarted(new: NewBroker, restarting: OperatorStep) -> RestartedSuccessor:
    return RestartedSuccessor(new.tool, "broker-a", new.sides.own, restarting, new.said.take)


def test_a_slave_of_ours_becomes_the_master_by_request(tmp_path: Path) -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        async with new_broker(admin, cluster, tmp_path) as new:
            await new.caught_up()
            await OwnSuccessor(admin, new.sides.own).promote()
            # A person has nothing to do any more: it is the master.
            await restarted(new, BY_HAND).promote()
            assert await role_of(admin, new.sides.own) == "ASYNC_MASTER"
            assert "brokerRole=ASYNC_MASTER and brokerId=0" in new.said.lines[-1]

    with_admin(test)


def test_a_slave_that_is_not_restarted_as_a_master_is_an_error(tmp_path: Path) -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        async with new_broker(admin, cluster, tmp_path) as new:
            await new.caught_up()
            with pytest.raises(TakeoverFailed, match="is no master after 0 s") as caught:
                await restarted(new, OperatorStep("true", seconds_max=0.2)).promote()
            assert caught.value.hint is not None
            assert "aerobee broker promote broker-a" in caught.value.hint
            with pytest.raises(TakeoverFailed, match="failed with status 3"):
                await restarted(new, OperatorStep("exit 3")).promote()

    with_admin(test)


def test_a_slave_that_copies_rarely_is_given_the_offsets_of_its_master(tmp_path: Path) -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders", queues=1)
        await cluster.client.send("orders", b"one")
        async with new_broker(admin, cluster, tmp_path) as new:
            await new.caught_up()
            queue = MessageQueue("orders", "broker-a", QueueId(0))
            await admin.offsets.commit("readers", queue, 0)
            await await_metadata(admin, new.sides, 60)
            await admin.offsets.commit("readers", queue, 1)
            await restarted(new, BY_HAND).bring_offsets(new.sides)
            offsets = (await admin.offsets.all(on=new.sides.own))[new.sides.own]
            assert offsets["orders", "readers"] == {0: 1}

    with_admin(test)
