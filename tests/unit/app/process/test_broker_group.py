import logging
from dataclasses import replace
from pathlib import Path

import pytest

from aerobee.app.process.broker_group import BrokerGroup
from aerobee.app.process.broker_process import BrokerPart
from aerobee.app.process.lifecycle import CannotStart
from aerobee.app.settings.config import ListenConfig
from aerobee.client.client import connect
from tests.net_kit import in_loop
from tests.process_kit import SECONDS_MAX
from tests.up_kit import broker_parts, name_server, no_failure, running, settings_of


def test_a_synchronous_master_takes_sends_once_all_have_started(tmp_path: Path) -> None:
    async def test() -> None:
        async with running(tmp_path, brokers=2, slaves=1, replication="sync") as (_, brokers):
            assert [one.refuses_sends for one in brokers] == [False, False, True, True]

    in_loop(test)


def test_all_are_named_in_the_line_that_says_ready(tmp_path: Path) -> None:
    async def test() -> None:
        settings = settings_of(tmp_path, slaves=1)
        async with name_server(settings) as nameserver:
            brokers = broker_parts(settings, nameserver)
            group = BrokerGroup(brokers)
            place = await group.start(no_failure)
            places = [f"broker {one.address}, gRPC {one.grpc_address}" for one in brokers]
            assert place == ", ".join(places)
            await group.stop()

    in_loop(test)


def test_a_slave_that_stays_away_delays_the_start_but_does_not_prevent_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def test() -> None:
        settings = settings_of(tmp_path, slaves=1, replication="sync")
        async with name_server(settings) as nameserver:
            master, _ = broker_parts(settings, nameserver)
            group = BrokerGroup([master], seconds_max=0.05)
            await group.start(no_failure)
            assert master.refuses_sends
            await group.stop()

    with caplog.at_level(logging.WARNING, "aerobee.app.process.broker_group"):
        in_loop(test)
    assert "broker-a refuses sends until a slave is in sync" in caplog.text


def test_if_one_cannot_start_those_before_it_are_stopped(tmp_path: Path) -> None:
    async def test() -> None:
        settings = settings_of(tmp_path, slaves=1)
        async with name_server(settings) as nameserver:
            master, slave = settings.brokers
            port = int(nameserver.address.rpartition(":")[2])
            taken = replace(slave, listen=ListenConfig(port, "127.0.0.1"))
            unfit = replace(settings, brokers=(master, taken))
            with pytest.raises(CannotStart, match="another process listens there"):
                await BrokerGroup(broker_parts(unfit, nameserver)).start(no_failure)
            group = BrokerGroup(broker_parts(settings, nameserver))  # the store is free again
            await group.start(no_failure)
            await group.stop()

    in_loop(test)


class Torn(BrokerPart):
    """A broker that stops with an error."""

    async def stop(self) -> None:
        await super().stop()
        raise OSError("the disk is gone")


def test_all_are_stopped_although_one_fails_to(tmp_path: Path) -> None:
    async def test() -> None:
        settings = settings_of(tmp_path, slaves=1)
        async with name_server(settings) as nameserver:
            brokers = broker_parts(settings, nameserver)
            brokers[0].__class__ = Torn
            group = BrokerGroup(brokers)
            await group.start(no_failure)
            with pytest.raises(ExceptionGroup, match="did not stop as they should") as caught:
                await group.stop()
            assert [str(one) for one in caught.value.exceptions] == ["the disk is gone"]
        assert not list(tmp_path.glob("store*/abort"))

    in_loop(test)


def test_nobody_misses_another_when_all_are_stopped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def test() -> None:
        async with (
            running(tmp_path, slaves=1, replication="sync") as (nameserver, _),
            connect(nameserver.address, timeout=SECONDS_MAX) as client,
        ):
            await client.send("orders", b"one", delay=60)

    with caplog.at_level(logging.WARNING):
        in_loop(test)
    assert [one.getMessage() for one in caplog.records] == []
