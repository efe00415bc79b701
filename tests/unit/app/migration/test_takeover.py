import asyncio
from pathlib import Path

import pytest

from aerobee.app.migration.master_facts import master_facts
from aerobee.app.migration.operator_step import OperatorStep, TakeoverFailed
from aerobee.app.migration.takeover import Takeover
from aerobee.client.admin.admin import Admin
from aerobee.testing import Cluster
from tests.admin_kit import with_admin
from tests.migration_kit import NewBroker, WaitingCommand, new_broker, role_of


def takeover(new: NewBroker, stopping: OperatorStep) -> Takeover:
    plan = new.plan
    return Takeover(new.tool, plan.facts, new.sides.own, plan.own_id, stopping, new.said.take)


async def permission(admin: Admin, address: str) -> str:
    return (await admin.brokers.config(on=address))[address]["brokerPermission"]


def test_a_master_of_ours_becomes_the_slave_of_the_new_one(tmp_path: Path) -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders", queues=2)
        await cluster.client.send("orders", b"before")
        async with new_broker(admin, cluster, tmp_path) as new:
            await new.caught_up()
            outcome = await takeover(new, OperatorStep()).run()
            assert (outcome.messages, outcome.older) == (1, [])
            assert outcome.seconds > 0
            (broker,) = (await admin.cluster()).brokers
            assert broker.addresses[0] == new.sides.own
            assert await role_of(admin, new.sides.own) == "ASYNC_MASTER"
            assert await role_of(admin, new.sides.master) == "SLAVE"
            assert await permission(admin, new.sides.master) == "6"
            await cluster.client.send("orders", b"after")
            assert new.messages() == 2

    with_admin(test)


def test_a_takeover_that_is_cancelled_leaves_the_master_as_it_was(tmp_path: Path) -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders", queues=2)
        async with new_broker(admin, cluster, tmp_path) as new:
            await new.caught_up()
            stopping = OperatorStep(command="sleep 1000", seconds_max=1000)
            task = asyncio.create_task(takeover(new, stopping).run())
            await new.said.until("are equal", task)
            assert await permission(admin, new.sides.master) == "4"
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await permission(admin, new.sides.master) == "6"
            assert await role_of(admin, new.sides.own) == "SLAVE"
            await cluster.client.send("orders", b"after")

    with_admin(test)


def test_a_stop_command_that_fails_undoes_the_takeover(tmp_path: Path) -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        async with new_broker(admin, cluster, tmp_path) as new:
            await new.caught_up()
            with pytest.raises(TakeoverFailed, match="failed with status 3"):
                await takeover(new, OperatorStep("exit 3")).run()
            assert await permission(admin, new.sides.master) == "6"
            assert await role_of(admin, new.sides.own) == "SLAVE"
            assert "takes messages as before" in new.said.lines[-1]

    with_admin(test)


def test_nothing_is_promoted_while_somebody_listens_at_the_master_s_address(
    tmp_path: Path,
) -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        async with new_broker(admin, cluster, tmp_path) as new:
            await new.caught_up()
            with pytest.raises(TakeoverFailed, match="was not stopped within 0 s"):
                await takeover(new, OperatorStep("true", seconds_max=0.3)).run()
            assert await role_of(admin, new.sides.own) == "SLAVE"

    with_admin(test)


def test_an_undo_makes_a_master_that_has_stepped_down_the_master_again(tmp_path: Path) -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders", queues=2)
        async with new_broker(admin, cluster, tmp_path) as new:
            await new.caught_up()
            taking = takeover(new, OperatorStep())
            await taking._set_permission("4")
            await taking._step_down()
            await taking._undo()
            assert await role_of(admin, new.sides.master) == "ASYNC_MASTER"
            assert await permission(admin, new.sides.master) == "6"

    with_admin(test)


def test_a_broker_whose_log_ends_elsewhere_is_not_promoted() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders", queues=2, on="broker-a")
        await cluster.client.send("orders", b"only here")
        facts = await master_facts(admin, "broker-a")
        other = (await master_facts(admin, "broker-b")).address
        said: list[str] = []
        taking = Takeover(admin, facts, other, 1, OperatorStep(), said.append, 1.0)
        with pytest.raises(TakeoverFailed, match="and this one at 0"):
            await taking.run()
        assert await permission(admin, facts.address) == "6"
        assert await role_of(admin, facts.address) == "ASYNC_MASTER"

    with_admin(test, brokers=2)


def test_a_master_that_its_command_stops_is_replaced(tmp_path: Path) -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        await admin.topics.create("orders", queues=2)
        await cluster.client.send("orders", b"before")
        async with new_broker(admin, cluster, tmp_path) as new:
            await new.caught_up()
            task = asyncio.create_task(takeover(new, waiting.step).run())
            await new.said.until("are equal", task)
            await cluster.stop_broker("broker-a")
            waiting.let_go()
            await task
            (broker,) = (await admin.cluster()).brokers
            assert broker.addresses == {0: new.sides.own}
            await cluster.client.send("orders", b"after")
            assert new.messages() == 2

    with WaitingCommand(tmp_path) as waiting:
        with_admin(test)
