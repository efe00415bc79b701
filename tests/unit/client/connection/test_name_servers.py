import ssl
from pathlib import Path

import pytest

from aerobee.client.connection.connections import Connections
from aerobee.client.connection.name_servers import NameServers
from aerobee.client.connection.request_dispatch import RequestDispatch
from aerobee.errors import Retriable, TopicNotFound, Unreachable
from aerobee.net.listener import bind, port_of
from tests.client_kit import LocalCluster, with_cluster
from tests.net_kit import Running, in_loop
from tests.scripted_broker import ScriptedBroker


def _nobody() -> str:
    (free,) = bind("127.0.0.1", 0)
    address = f"127.0.0.1:{port_of(free)}"
    free.close()
    return address


def test_one_that_does_not_answer_is_left_for_the_next_and_asked_last(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        lines = Connections(RequestDispatch().serve)
        dead = _nobody()
        servers = NameServers(lines, (dead, cluster.address), 3)
        route, said_by = await servers.route("TBW102")
        assert [queue.broker_name for queue in route.queues] == ["broker-a"]
        assert said_by == cluster.address
        assert servers.addresses == (cluster.address, dead)
        await lines.close()

    with_cluster(tmp_path, test)


def test_what_nobody_has_is_not_found_and_what_to_do_is_said(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        lines = Connections(RequestDispatch().serve)
        servers = NameServers(lines, (cluster.address,), 3)
        with pytest.raises(TopicNotFound, match="nowhere") as caught:
            await servers.route("nowhere")
        assert "aerobee topic create nowhere" in caught.value.hint
        (broker,) = (await servers.cluster()).brokers
        assert (broker.cluster, broker.name) == ("DefaultCluster", "broker-a")
        await lines.close()

    with_cluster(tmp_path, test)


def test_when_all_fail_each_is_named() -> None:
    async def test() -> None:
        first, second = _nobody(), _nobody()
        with pytest.raises(Unreachable) as caught:
            await NameServers(Connections(RequestDispatch().serve), (first, second), 3).route("t")
        assert first in caught.value.message
        assert second in caught.value.message

    in_loop(test)


def test_what_a_connection_hints_at_is_said_before_the_usual() -> None:
    async def test() -> None:
        async with Running() as plain:
            lines = Connections(RequestDispatch().serve, tls=ssl.create_default_context())
            servers = NameServers(lines, (_nobody(), f"127.0.0.1:{plain.port}"), 3)
            with pytest.raises(Unreachable) as caught:
                await servers.route("t")
            assert "speak TLS?" in caught.value.hint
        with pytest.raises(Unreachable) as caught:
            await NameServers(Connections(RequestDispatch().serve), (_nobody(),), 3).route("t")
        assert "aerobee up" in caught.value.hint

    in_loop(test)


def test_one_that_says_how_long_to_wait_is_asked_again_then() -> None:
    async def test() -> None:
        async with ScriptedBroker() as server:
            server.busy = ["5", "1"]
            lines = Connections(RequestDispatch().serve)
            route, _ = await NameServers(lines, (server.address,), 60).route("t")
            assert [queue.broker_name for queue in route.queues] == ["broker-a"]
            assert server.looked_up == ["t"] * 3
            await lines.close()

    in_loop(test)


@pytest.mark.parametrize("wait", ["60001", "0", "soon", "-1", ""])
def test_a_wait_beyond_the_time_limit_or_without_a_number_is_an_error_at_once(wait: str) -> None:
    async def test() -> None:
        async with ScriptedBroker() as server:
            server.busy = [wait]
            lines = Connections(RequestDispatch().serve)
            with pytest.raises(Retriable, match="FLOW_CONTROL"):
                await NameServers(lines, (server.address,), 60).route("t")
            assert server.looked_up == ["t"]
            await lines.close()

    in_loop(test)
