"""The memory of a capture: the last message, whoever wrote it."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

import aerobee
from aerobee.errors import Misuse
from aerobee.pipeline.capture.errors import BrokerGone, TakenOver
from aerobee.pipeline.capture.position import CaptureState, Position
from aerobee.pipeline.capture.state_topic import (
    StateTopic,
    begun,
    captures,
    last_state,
    state_topic,
)
from tests.process_kit import Started
from tests.server_kit import Server


def _state(name: str, offset: int) -> CaptureState:
    return begun(CaptureState(name, Position("b.000001", offset)), "me", 100)


def test_the_last_state_is_read_back_from_a_compacted_topic(server: Server) -> None:
    async def run() -> None:
        async with server.connect() as client:
            states = StateTopic(client, "kept")
            assert await states.load() is None
            for offset in range(40):
                await states.save(_state("kept", offset))
            await states.announce("v1", b"{}")
            again = StateTopic(client, "kept")
            assert await again.load() == _state("kept", 39)
            found, queue, stored_ms = await last_state(client.admin, state_topic("kept"))
            assert found == _state("kept", 39)
            assert (queue.queue_id, stored_ms > 0) == (0, True)
            configs = await client.admin.topics.config(again.schema_topic)
            assert [config.is_compacted for config in configs.values()] == [True]
            assert _state("kept", 39) in await captures(client.admin)

    asyncio.run(run())


def test_whoever_began_later_goes_on(server: Server) -> None:
    async def run() -> None:
        async with server.connect() as client:
            old, new = StateTopic(client, "twice"), StateTopic(client, "twice")
            await old.load()
            await old.save(_state("twice", 1))
            await new.load()
            later = replace(_state("twice", 1), instance="other", began_ms=200)
            await new.save(later)
            with pytest.raises(TakenOver) as raised:
                await old.save(_state("twice", 2))
            assert "--name" in raised.value.hint
            await new.save(later)

    asyncio.run(run())


def test_a_state_that_was_there_is_not_begun_anew_elsewhere(server: Server) -> None:
    async def run() -> None:
        async with server.connect() as client:
            with pytest.raises(BrokerGone) as raised:
                await StateTopic(client, "missing").load(may_be_new=False)
            assert "start the broker" in raised.value.hint
            assert not await client.admin.topics.exists(state_topic("missing"))

    asyncio.run(run())


def test_without_a_broker_there_is_no_state(tmp_path: Path) -> None:
    async def run(address: str) -> None:
        async with aerobee.connect(address) as client:
            with pytest.raises(BrokerGone):
                await StateTopic(client, "nowhere").load()

    with Started(tmp_path, "nameserver", "start", "--port", "0") as started:
        asyncio.run(run(f"127.0.0.1:{started.ports()['nameserver']}"))


@pytest.mark.parametrize("name", ["", "a.b", "x-schemas"])
def test_a_capture_has_a_name_that_topics_can_have(name: str) -> None:
    with pytest.raises(Misuse):
        state_topic(name)
