"""Masters and slaves in one process, as `aerobee up` has them, on free ports.

async with name_server(settings) as nameserver:
    brokers = broker_parts(settings, nameserver)     not started yet

async with running(folder, slaves=1) as (nameserver, brokers):   all of them started
"""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from aerobee.app.process.broker_group import BrokerGroup
from aerobee.app.process.broker_process import BrokerPart
from aerobee.app.process.nameserver_process import NameServerPart
from aerobee.app.settings.up_settings import UpFlags, UpSettings, read_settings
from aerobee.service.broker.assembly import build_broker
from tests.process_kit import PATIENT


def settings_of(
    folder: Path,
    *,
    brokers: int = 1,
    slaves: int = 0,
    replication: str | None = None,
    port: int = 0,
    **environment: str,
) -> UpSettings:
    flags = UpFlags(str(folder), None, str(port), "0", brokers, slaves, replication)
    no_metrics = {"AEROBEE_BROKER_METRICS_EXPORTER_TYPE": "DISABLE"}
    return read_settings(flags, {**PATIENT, **no_metrics, **environment})


def no_failure(error: BaseException) -> None:
    raise AssertionError("it failed") from error


@contextlib.asynccontextmanager
async def name_server(settings: UpSettings) -> AsyncIterator[NameServerPart]:
    part = NameServerPart(settings.nameserver)
    await part.start(no_failure)
    try:
        yield part
    finally:
        await part.stop()


def broker_parts(settings: UpSettings, nameserver: NameServerPart) -> list[BrokerPart]:
    return [
        BrokerPart(one, build_broker, nameservers=lambda: [nameserver.address])
        for one in settings.brokers
    ]


@contextlib.asynccontextmanager
async def running(
    folder: Path,
    *,
    brokers: int = 1,
    slaves: int = 0,
    replication: str | None = None,
    port: int = 0,
    **environment: str,
) -> AsyncIterator[tuple[NameServerPart, list[BrokerPart]]]:
    settings = settings_of(
        folder, brokers=brokers, slaves=slaves, replication=replication, port=port, **environment
    )
    async with name_server(settings) as nameserver:
        parts = broker_parts(settings, nameserver)
        group = BrokerGroup(parts)
        await group.start(no_failure)
        try:
            yield nameserver, parts
        finally:
            await group.stop()
