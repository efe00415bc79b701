from pathlib import Path

from aerobee.client.client import Client
from aerobee.protocol.bodies.heartbeat import ConsumerBeat
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from tests.client_kit import LocalCluster, session_of, with_cluster


async def _members(client: Client, group: str) -> list[bytes]:
    """What each broker answers when it is asked for the members of a group."""
    session = session_of(client)
    found = []
    for address in session.routes.broker_addresses():
        command = RemotingCommand(
            RequestCode.GET_CONSUMER_LIST_BY_GROUP, ext_fields={"consumerGroup": group}
        )
        found.append(bytes((await session.ask(address, command)).body))
    return found


def test_every_broker_hears_of_a_group_and_of_its_end(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as watching, cluster.client() as client:
            await session_of(watching).routes.of("TBW102")
            session = session_of(client)
            await session.routes.of("TBW102")
            await session.members.consume(ConsumerBeat("g"))
            told = await _members(watching, "g")
            assert len(told) == 2
            assert all(client.id.encode() in body for body in told)
            await session.members.stop_consuming("g")
            assert not any(client.id.encode() in body for body in await _members(watching, "g"))

    with_cluster(tmp_path, test, brokers=2)


def test_a_client_that_closes_leaves_all_its_groups(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as watching:
            await session_of(watching).routes.of("TBW102")
            async with cluster.client() as client:
                session = session_of(client)
                await session.routes.of("TBW102")
                await session.members.produce("p")
                await session.members.produce("p")
                await session.members.consume(ConsumerBeat("g"))
                (told,) = await _members(watching, "g")
                assert client.id.encode() in told
            (told,) = await _members(watching, "g")
            assert client.id.encode() not in told

    with_cluster(tmp_path, test)
