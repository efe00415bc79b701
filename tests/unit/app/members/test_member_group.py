import asyncio
from pathlib import Path

import pytest

from aerobee.app.members.member_group import MemberGroup
from aerobee.app.process.lifecycle import CannotStart
from aerobee.app.settings.up_settings import UpFlags, UpSettings, read_settings
from aerobee.client.client import connect
from tests.interop.replication.brokers import steady_port
from tests.net_kit import in_loop
from tests.process_kit import PATIENT, SECONDS_MAX
from tests.up_kit import name_server, no_failure


def settings_of(folder: Path, nodes: int) -> UpSettings:
    flags = UpFlags(str(folder), None, str(steady_port()), "0", replication="raft", nodes=nodes)
    return read_settings(flags, PATIENT)


def test_a_member_that_was_killed_comes_back(tmp_path: Path) -> None:
    async def test() -> None:
        settings = settings_of(tmp_path, 1)
        async with name_server(settings) as nameserver:
            address = nameserver.address
            group = MemberGroup(settings.members, lambda: address, again_seconds=0.1)
            said = await group.start(no_failure)
            assert said.count("broker 127.0.0.1:") == 1
            first = group.leader
            assert first is not None
            before = first.pid
            async with connect(address, timeout=SECONDS_MAX) as client:
                await client.send("orders", b"one", timeout=SECONDS_MAX)
                first.kill()
                async with asyncio.timeout(SECONDS_MAX):
                    while first.pid == before or not first.leads:
                        await client.admin.cluster()
                await client.send("orders", b"two", timeout=SECONDS_MAX)
            assert first.pid != before
            await group.stop()
            assert not any(one.is_running for one in group.members)

    in_loop(test)


def test_if_one_cannot_start_none_is_left(tmp_path: Path) -> None:
    async def test() -> None:
        settings = settings_of(tmp_path, 2)
        async with name_server(settings) as nameserver:
            group = MemberGroup(settings.members, lambda: nameserver.address)
            port = settings.brokers[1].listen.port
            server = await asyncio.start_server(lambda *_: None, "127.0.0.1", port)
            async with server:
                with pytest.raises(CannotStart, match="n1 does not start"):
                    await group.start(no_failure)
            assert not any(one.is_running for one in group.members)

    in_loop(test)
