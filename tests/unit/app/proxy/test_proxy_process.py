import asyncio
from collections.abc import Awaitable, Callable

import pytest

from aerobee.app.process.lifecycle import CannotStart
from aerobee.app.proxy.proxy_process import ProxyPart
from aerobee.app.settings.config import Given
from aerobee.app.settings.proxy_settings import ProxySettings, read_settings
from aerobee.client.connection.loop_portal import new_event_loop


def settings(port: int = 0, **more: str) -> ProxySettings:
    said = {"namesrvAddr": "127.0.0.1:1", "grpcServerPort": str(port), "auditEnabled": "false"}
    return read_settings(None, {}, [Given(key, text, "") for key, text in (said | more).items()])


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def whole() -> None:
        await test()

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(whole())


def no_failure(error: BaseException) -> None:
    raise AssertionError(error)


def test_it_says_where_it_is_and_gives_everything_back_when_it_stops() -> None:
    async def test() -> None:
        part = ProxyPart(settings())
        place = await part.start(no_failure)
        assert place == f"proxy {part.address}"
        port = int(part.address.removeprefix("127.0.0.1:"))
        with pytest.raises(CannotStart, match="another process listens there"):
            await ProxyPart(settings(port)).start(no_failure)
        await part.stop()
        again = ProxyPart(settings(port))
        assert await again.start(no_failure) == place
        await again.stop()

    run(test)


def test_its_pages_are_where_they_are_wanted() -> None:
    async def test() -> None:
        part = ProxyPart(settings(metricsExporterType="PROM", metricsPromExporterPort="0"))
        place = await part.start(no_failure)
        port = int(place.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /metrics HTTP/1.0\r\n\r\n")
        assert b"aerobee_proxy_clients" in await reader.read()
        writer.close()
        await part.stop()

    run(test)
