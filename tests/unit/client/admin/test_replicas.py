from collections.abc import Awaitable, Callable

import pytest

from aerobee.client.admin.admin import Admin, admin
from aerobee.errors import NotFound, RemoteAnswer
from aerobee.model.replica_status import MasterStatus, ReplicaLag, SlaveStatus
from aerobee.protocol.bodies.epoch_cache import EpochCache, EpochEntry
from aerobee.protocol.headers.replication import ChangedRoleHeader, ChangeRoleHeader
from aerobee.testing import Cluster
from tests.admin_kit import with_admin
from tests.net_kit import in_loop
from tests.replica_script import Replica, ReplicaScript, lone_master, master, slave

LINK = "127.0.0.1:7"


def with_script(test: Callable[[Admin], Awaitable[None]], *brokers: Replica) -> None:
    async def run(script: ReplicaScript) -> None:
        async with admin(script.name_server, timeout=60, connect_timeout=60) as tool:
            await test(tool)

    with ReplicaScript(*brokers).running() as script:
        in_loop(lambda: run(script))


def test_a_real_broker_alone_is_a_master_without_slaves() -> None:
    async def test(tool: Admin, cluster: Cluster) -> None:
        status = (await tool.replicas.status())["broker-a"]
        assert status == MasterStatus(status.end_offset, 1, [])
        assert list((await tool.replicas.members("DefaultCluster", "broker-a")).addresses) == [0]
        (group,) = await tool.replicas.groups()
        assert (group.name, group.slaves) == ("broker-a", ())
        assert group.master is not None
        assert group.master.role == "ASYNC_MASTER"
        assert await tool.replicas.reset_flush_offset(0, on="broker-a") == ["broker-a"]
        with pytest.raises(RemoteAnswer, match="only for controllerMode"):
            await tool.replicas.epochs(group.master.address)

    with_admin(test)


def test_every_broker_of_a_name_is_asked_and_one_that_is_silent_is_listed() -> None:
    silent = slave(2)
    silent.is_silent = True
    brokers = (master(ReplicaLag(LINK, 510, 0, 0, True)), slave(1, link=LINK), silent)

    async def test(tool: Admin) -> None:
        (group,) = await tool.replicas.groups()
        assert [one.broker_id for one in group.members] == [0, 1, 2]
        assert [one.role for one in group.members] == ["ASYNC_MASTER", "SLAVE", ""]
        assert isinstance(group.members[0].status, MasterStatus)
        assert isinstance(group.members[1].status, SlaveStatus)
        assert "no connection" in group.members[2].problem
        assert group.standing(group.members[1]).is_in_sync
        assert await tool.replicas.group("broker-a") == group
        for place in ("broker-a", "DefaultCluster"):
            assert await tool.replicas.groups(on=place) == [group]
        for ask in (tool.replicas.groups(on="b"), tool.replicas.group("b")):
            with pytest.raises(NotFound, match="'b'") as caught:
                await ask
            assert caught.value.hint == "there are: broker-a"

    with_script(test, *brokers)


def test_a_role_is_changed_at_an_address() -> None:
    old, new = lone_master(600), slave(1)

    async def test(tool: Admin) -> None:
        change = tool.replicas.change_role
        assert await change(new.address, "ASYNC_MASTER", 0) == ChangedRoleHeader(
            "ASYNC_MASTER", 510
        )
        told = await change(old.address, "SLAVE", 1, master_address=new.address, is_forced=True)
        assert told == ChangedRoleHeader("SLAVE", 600)
        assert new.changes == [ChangeRoleHeader("ASYNC_MASTER", 0)]
        assert old.changes == [ChangeRoleHeader("SLAVE", 1, new.address, force=True)]
        assert await tool.replicas.ha_address(new.address) == ""
        new.ha_address = "10.0.0.2:10912"
        assert await tool.replicas.ha_address(new.address) == new.ha_address
        await change(old.address, "SLAVE", 1, master_ha_address=new.ha_address)
        assert old.changes[1] == ChangeRoleHeader("SLAVE", 1, None, new.ha_address)

    with_script(test, old, new)


def test_slaves_are_asked_by_their_address() -> None:
    own = slave(1)
    own.epochs = EpochCache("c", "broker-a", 1, [EpochEntry(1, 0, 510)], 510)

    async def test(tool: Admin) -> None:
        assert await tool.replicas.epochs(own.address) == own.epochs
        await tool.replicas.reset_flush_offset(7, on=own.address)
        assert own.resets == [7]
        assert (await tool.replicas.status(on=own.address)) == {own.address: own.status}
        assert (await tool.replicas.member(own.address, 9)).broker_id == 9

    with_script(test, lone_master(), own)
