import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

import pytest

from aerobee.app.members.member_process import MemberProcess
from aerobee.app.process.lifecycle import CannotStart
from aerobee.app.process.nameserver_process import NameServerPart
from aerobee.app.settings.up_settings import MemberSettings, UpFlags, read_settings
from aerobee.client.client import Client, connect
from tests.interop.replication.brokers import steady_port
from tests.net_kit import in_loop
from tests.process_kit import PATIENT, SECONDS_MAX
from tests.up_kit import name_server


class Lone:
    """The only member of a group, and whoever waits until it leads."""

    def __init__(self, member: MemberSettings, nameserver: NameServerPart) -> None:
        self.changed = asyncio.Event()
        self.process = MemberProcess(
            member, lambda: nameserver.address, changed=self.changed.set, level="ERROR"
        )

    async def until_leads(self, leads: bool = True) -> None:
        async with asyncio.timeout(SECONDS_MAX):
            while self.process.leads != leads:
                self.changed.clear()
                await self.changed.wait()


@asynccontextmanager
async def lone(folder: Path) -> AsyncIterator[tuple[Lone, Client]]:
    flags = UpFlags(str(folder), None, str(steady_port()), "0", replication="raft", nodes=1)
    settings = read_settings(flags, PATIENT)
    async with name_server(settings) as nameserver:
        one = Lone(settings.members[0], nameserver)
        try:
            async with connect(nameserver.address, timeout=SECONDS_MAX) as client:
                yield one, client
        finally:
            await one.process.end()


def test_it_leads_and_after_a_kill_it_goes_on_with_its_store(tmp_path: Path) -> None:
    async def test() -> None:
        async with lone(tmp_path) as (one, client):
            process = one.process
            assert "broker 127.0.0.1:" in await process.start()
            await one.until_leads()
            assert (process.broker_id, process.node) == (0, 0)
            await client.send("orders", b"kept", timeout=SECONDS_MAX)
            first = process.pid
            process.kill()
            await process.until_ended()
            assert not process.is_running
            assert not process.leads
            await process.start()
            assert process.pid != first
            assert process.holdings().messages == 1
            assert process.holdings().topics == {"orders"}
            await one.until_leads()
            message = await client.receive("orders", group="readers", timeout=SECONDS_MAX)
            assert message.body == b"kept"
        assert not process.is_running

    in_loop(test)


def test_its_wall_clock_can_be_set_wrong(tmp_path: Path) -> None:
    async def test() -> None:
        async with lone(tmp_path) as (one, client):
            await one.process.start()
            await one.until_leads()
            await client.send("orders", b"now", timeout=SECONDS_MAX)
            one.process.shift_clock(86_400_000)
            stored: list[datetime] = []
            # Until it has heard it; queues are read in any order.
            while len(stored) < 2 or (max(stored) - min(stored)).days < 1:
                await client.send("orders", b"tomorrow", timeout=SECONDS_MAX)
                message = await client.receive("orders", group="readers", timeout=SECONDS_MAX)
                stored.append(message.stored_at)

    in_loop(test)


def test_one_that_is_paused_can_be_ended(tmp_path: Path) -> None:
    async def test() -> None:
        async with lone(tmp_path) as (one, _):
            await one.process.start()
            one.process.pause()
            assert one.process.is_paused
        assert not one.process.is_running

    in_loop(test)


def test_one_that_cannot_start_says_why(tmp_path: Path) -> None:
    async def test() -> None:
        async with lone(tmp_path) as (one, _):
            port = one.process.settings.listen.port
            server = await asyncio.start_server(lambda *_: None, "127.0.0.1", port)
            async with server:
                with pytest.raises(CannotStart, match=r"n0 does not start: .*another process"):
                    await one.process.start()
            assert not one.process.is_running

    in_loop(test)
