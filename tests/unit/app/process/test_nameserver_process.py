import asyncio
import socket
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from aerobee.app.process.lifecycle import CannotStart
from aerobee.app.process.nameserver_process import NameServerPart
from aerobee.app.settings.config import ListenConfig
from aerobee.app.settings.monitor_settings import Exporter, MonitorConfig
from aerobee.app.settings.nameserver_settings import NameServerPaths, NameServerSettings
from aerobee.client.client import connect
from aerobee.client.connection.loop_portal import new_event_loop
from aerobee.service.access.config import OPEN
from aerobee.service.nameserver.config import NameServerConfig
from tests.client_kit import until
from tests.pull_server import PullServer


def settings(folder: Path, port: int = 0, host: str = "127.0.0.1") -> NameServerSettings:
    paths = NameServerPaths(f"{folder}/kv/kvConfig.json", f"{folder}/kv/changes.properties")
    return NameServerSettings(
        ListenConfig(port, host), paths, MonitorConfig(), NameServerConfig(), OPEN, {}, [], ""
    )


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def whole() -> None:
        await test()

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(whole())


def no_failure(error: BaseException) -> None:
    raise AssertionError(error)


def test_it_says_where_it_is_and_gives_everything_back_when_it_stops(tmp_path: Path) -> None:
    async def test() -> None:
        part = NameServerPart(settings(tmp_path))
        place = await part.start(no_failure)
        port = int(place.removeprefix("nameserver 127.0.0.1:"))
        with pytest.raises(CannotStart, match="another process listens there"):
            await NameServerPart(settings(tmp_path, port)).start(no_failure)
        with pytest.raises(CannotStart, match="another name server uses"):
            await NameServerPart(settings(tmp_path)).start(no_failure)
        await part.stop()
        again = NameServerPart(settings(tmp_path, port))
        assert await again.start(no_failure) == place
        await again.stop()

    run(test)


def test_a_slave_hears_at_once_that_its_master_is_gone(tmp_path: Path) -> None:
    async def test() -> None:
        service = NameServerConfig(notifies_min_ids=True)
        part = NameServerPart(replace(settings(tmp_path), service=service))
        await part.start(no_failure)
        master, slave = PullServer(), PullServer()
        async with (
            connect(part.address) as stays,
            master.running(),
            slave.running(),
        ):
            async with connect(part.address) as leaves:
                await master.register(leaves, part.address, 0, is_acting=True)
                await slave.register(stays, part.address, 1, is_acting=True)
                assert slave.told == []
            await until(lambda: slave.told == [905])
        await part.stop()

    run(test)


def test_two_with_files_of_their_own_live_in_one_loop(tmp_path: Path) -> None:
    async def test() -> None:
        parts = [NameServerPart(settings(tmp_path / name)) for name in ("a", "b")]
        places = {await part.start(no_failure) for part in parts}
        assert len(places) == 2
        for part in parts:
            await part.stop()

    run(test)


def test_an_address_with_colons_is_said_in_brackets(tmp_path: Path) -> None:
    if not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")

    async def test() -> None:
        part = NameServerPart(settings(tmp_path, host="::1"))
        assert (await part.start(no_failure)).startswith("nameserver [::1]:")
        await part.stop()

    run(test)


def test_damaged_files_are_a_reason_not_to_start_and_the_port_is_free_again(
    tmp_path: Path,
) -> None:
    (tmp_path / "kv").mkdir()
    (tmp_path / "kv/kvConfig.json").write_text("[]")

    async def test() -> None:
        for _ in range(2):
            with pytest.raises(CannotStart, match=r"kvConfig\.json"):
                await NameServerPart(settings(tmp_path)).start(no_failure)

    run(test)


async def page(address: str, path: str) -> tuple[int, str]:
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"GET {path} HTTP/1.0\r\n\r\n".encode())
    head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    return int(head.split()[1]), body


def test_it_has_pages_for_who_watches_it_if_it_is_told_so(tmp_path: Path) -> None:
    told = replace(settings(tmp_path), monitor=MonitorConfig(Exporter.PROM, 0))

    async def test() -> None:
        part = NameServerPart(told)
        place, pages = (await part.start(no_failure)).split(", ")
        assert place == f"nameserver {part.address}"
        at = pages.removeprefix("metrics ")
        assert await page(at, "/healthz") == await page(at, "/readyz") == (200, "ok\n")
        status, text = await page(at, "/metrics")
        assert status == 200
        assert 'aerobee_nameserver_brokers{node_type="nameserver"} 0\n' in text
        await part.stop()
        with pytest.raises(ConnectionRefusedError):
            await page(at, "/healthz")

    run(test)
