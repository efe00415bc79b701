"""BrokerLife: one life after another behind the same sockets."""

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from aerobee.app.process.broker_life import BrokerLife
from aerobee.app.process.doors import Doors
from aerobee.app.process.lifecycle import CannotStart
from aerobee.app.settings.broker_settings import BrokerSettings
from aerobee.net.listener import bind, port_of
from aerobee.ports.service import Rebuild
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from aerobee.system.clock import SystemClock
from tests.net_kit import ECHO, in_loop
from tests.unit.app.process.test_broker_process import Standin, no_failure, settings


def unwanted(wanted: Rebuild) -> None:
    raise AssertionError(wanted)


@contextlib.contextmanager
def doors() -> Iterator[Doors]:
    sockets, ha_sockets = bind("127.0.0.1", 0), bind("127.0.0.1", 0)
    try:
        yield Doors(port_of(sockets[0]), sockets, port_of(ha_sockets[0]), ha_sockets)
    finally:
        for bound in (*sockets, *ha_sockets):
            bound.close()


async def lived(told: BrokerSettings, at: Doors, cut_at: int | None = None) -> BrokerLife:
    life = BrokerLife(told, at, SystemClock(), True)
    await life.start(Standin().build, None, no_failure, unwanted, cut_at)
    return life


def test_who_connects_between_two_lives_is_served_by_the_next(tmp_path: Path) -> None:
    async def test() -> None:
        told = settings(tmp_path)
        with doors() as at:
            first = await lived(told, at)
            await first.stop()
            reader, writer = await asyncio.open_connection("127.0.0.1", at.port)
            second = await lived(told, at)
            writer.write(b"".join(encode(RemotingCommand(ECHO, body=b"hello"))))
            async with asyncio.timeout(10):
                assert b"hello" in await reader.read(1000)
            writer.close()
            await second.stop()

    in_loop(test)


def test_a_cut_that_cannot_be_made_is_no_start(tmp_path: Path) -> None:
    async def test() -> None:
        with doors() as at:
            life = await lived(settings(tmp_path), at)
            await life.stop()
            with pytest.raises(CannotStart):
                await lived(settings(tmp_path), at, cut_at=17)
            again = await lived(settings(tmp_path), at)  # nothing was changed, nothing is locked
            await again.stop()

    in_loop(test)
