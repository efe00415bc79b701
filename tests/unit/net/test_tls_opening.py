import asyncio
import ssl

import pytest

from aerobee.net.tls_context import client_context
from aerobee.net.tls_opening import connect
from tests.net_kit import Running, in_loop
from tests.tls_kit import certificates, server_config


def test_a_protocol_is_connected_when_the_handshake_is_over() -> None:
    async def test() -> None:
        async with Running(tls=server_config()) as server:
            made = asyncio.get_running_loop().create_future()

            class Made(asyncio.Protocol):
                def connection_made(self, transport: asyncio.BaseTransport) -> None:
                    made.set_result(transport)

            context = client_context(certificates().authority)
            await connect(Made, f"127.0.0.1:{server.port}", context)
            transport = made.result()
            assert transport.get_extra_info("ssl_object").version() == "TLSv1.3"
            transport.close()

    in_loop(test)


def test_one_who_gives_up_waiting_leaves_no_connection() -> None:
    async def test() -> None:
        gone = asyncio.get_running_loop().create_future()

        class Mute(asyncio.Protocol):
            def connection_lost(self, error: Exception | None) -> None:
                gone.set_result(None)

        server = await asyncio.get_running_loop().create_server(Mute, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await connect(
                    asyncio.Protocol, f"127.0.0.1:{port}", client_context(certificates().authority)
                )
        await gone
        server.close()

    in_loop(test)


def test_a_server_that_is_not_believed_is_an_error_of_ssl() -> None:
    async def test() -> None:
        async with Running(tls=server_config(certificates().stranger)) as server:
            with pytest.raises(ssl.SSLCertVerificationError):
                await connect(
                    asyncio.Protocol,
                    f"127.0.0.1:{server.port}",
                    client_context(certificates().authority),
                )

    in_loop(test)
