"""The demonstration of a group, on three real processes; its figures are tested with it."""

import asyncio
import io
from pathlib import Path

import pytest

from aerobee.app.demo.group_demo import GroupDemo
from aerobee.app.demo.group_picture import GroupPlaces
from aerobee.app.ink import Ink
from aerobee.app.members.member_group import MemberGroup
from aerobee.app.process.lifecycle import CannotStart
from aerobee.app.settings.up_settings import UpFlags, read_settings
from tests.interop.replication.brokers import steady_port
from tests.net_kit import in_loop
from tests.process_kit import PATIENT, SECONDS_MAX
from tests.up_kit import name_server, no_failure
from tools.terminal_picture import Terminal


class Drawn(io.StringIO):
    """A terminal's stream: whoever waits is told when something was drawn."""

    def __init__(self) -> None:
        super().__init__()
        self.terminal = Terminal()
        self.changed = asyncio.Event()

    def write(self, text: str) -> int:
        self.terminal.feed(text.replace("\n", "\r\n").replace("\r\r", "\r"))
        self.changed.set()
        return len(text)

    async def until(self, *texts: str) -> str:
        async with asyncio.timeout(SECONDS_MAX):
            while not all(text in (shown := "\n".join(self.terminal.lines())) for text in texts):
                self.changed.clear()
                await self.changed.wait()
        return shown


def test_a_key_kills_the_leader_and_another_goes_on_without_a_loss(tmp_path: Path) -> None:
    async def test() -> None:
        before = asyncio.all_tasks()
        flags = UpFlags(str(tmp_path), None, str(steady_port()), "0", replication="raft")
        settings = read_settings(flags, PATIENT)
        async with name_server(settings) as nameserver:
            address = nameserver.address
            group = MemberGroup(settings.members, lambda: address, again_seconds=0.1)
            await group.start(no_failure)
            stream = Drawn()
            places = GroupPlaces(address, "./data", "aerobee")
            demo = GroupDemo(group, lambda: places, Ink(False), is_drawn=True, stream=stream)
            try:
                await demo.start(no_failure)
                await stream.until("leader", "press k to kill")
                first = group.leader
                assert first is not None
                demo.press("x")
                demo.press("k")
                shown = await stream.until(f"n{first.node} killed", "acknowledged since")
                assert f"n{first.node} leads" not in shown
                await stream.until("lost                    0", "out of order            0")
                (loss,) = demo.losses
                assert loss.gap_seconds is not None
                assert loss.successor != first.node
            finally:
                await demo.stop()
                await group.stop()
            assert not stream.terminal.is_second_screen
        assert asyncio.all_tasks() == before

    in_loop(test)


def test_without_a_group_it_does_not_start(tmp_path: Path) -> None:
    async def test() -> None:
        flags = UpFlags(str(tmp_path), None, str(steady_port()), "0", replication="raft")
        settings = read_settings(flags, PATIENT)
        async with name_server(settings) as nameserver:
            address = nameserver.address
            group = MemberGroup(settings.members, lambda: address)
            places = GroupPlaces(address, "./data", "aerobee")
            demo = GroupDemo(group, lambda: places, Ink(False), is_drawn=False)
            with pytest.raises(CannotStart, match="the demonstration cannot start"):
                await demo.start(no_failure)

    in_loop(test)
