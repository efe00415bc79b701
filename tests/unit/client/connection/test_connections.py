import asyncio
import gc
import ssl

import pytest

from aerobee.client.connection.connections import Connections
from aerobee.errors import Unreachable
from aerobee.model.access import Credentials
from aerobee.net.line import Line
from aerobee.net.listener import bind, port_of
from aerobee.protocol.remoting.command_header import BINARY_TYPE, JSON_TYPE
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.remoting.signature import sign, signed_text
from tests.client_kit import complaints_of_the_loop, turn
from tests.net_kit import CLOSE_ME, ECHO, SILENCE, Running, in_loop


def _unasked(line: Line, command: RemotingCommand) -> None:
    raise AssertionError("nobody asks us")


def test_all_who_ask_an_address_at_once_share_one_connection() -> None:
    async def test() -> None:
        lines = Connections(_unasked)
        async with Running() as server:
            address = f"127.0.0.1:{server.port}"
            asked = (lines.ask(address, RemotingCommand(ECHO, body=b"x"), 5) for _ in range(20))
            assert {answer.body for answer in await asyncio.gather(*asked)} == {b"x"}
            assert len(server.service.opened) == 1
            await lines.close()

    in_loop(test)


def test_a_connection_that_was_lost_is_opened_again() -> None:
    async def test() -> None:
        lines = Connections(_unasked)
        async with Running() as server:
            address = f"127.0.0.1:{server.port}"
            await lines.tell(address, RemotingCommand(CLOSE_ME))
            await server.service.closed.get()
            assert lines.find(address) is None
            assert (await lines.ask(address, RemotingCommand(ECHO, body=b"y"), 5)).body == b"y"
            await lines.close()

    in_loop(test)


def test_an_address_where_nobody_is_is_named() -> None:
    async def test() -> None:
        (free,) = bind("127.0.0.1", 0)
        address = f"127.0.0.1:{port_of(free)}"
        free.close()
        with pytest.raises(Unreachable) as caught:
            await Connections(_unasked).ask(address, RemotingCommand(ECHO), 5)
        assert caught.value.message == f"no connection to {address}: Connection refused"
        assert caught.value.address == address
        with pytest.raises(Unreachable) as caught:
            await Connections(_unasked).ask("nobody.invalid:1", RemotingCommand(ECHO), 5)
        assert "Errno" not in caught.value.message

    in_loop(test)


def test_one_who_gives_up_connecting_takes_nobody_else_with_him() -> None:
    async def test() -> None:
        lines = Connections(_unasked)
        async with Running() as server:
            address = f"127.0.0.1:{server.port}"
            loop = asyncio.get_running_loop()
            first, second = loop.create_task(lines.to(address)), loop.create_task(lines.to(address))
            await turn()
            first.cancel()
            assert (await second).is_open
            await lines.close()

    in_loop(test)


def test_a_command_is_dressed_as_ours_stamped_and_signed() -> None:
    async def test() -> None:
        credentials = Credentials("key", "secret", "token")
        lines = Connections(_unasked, credentials=credentials, wall_ms=lambda: 17)
        async with Running() as server:
            line = await lines.to(f"127.0.0.1:{server.port}")
            command = RemotingCommand(SILENCE, ext_fields={"topic": "t"}, body=b"body")
            lines.dress(command, line)
            assert (command.language, command.serialize_type) == ("PYTHON", BINARY_TYPE)
            assert command.ext_fields["SecurityToken"] == "token"
            assert command.ext_fields["RequestStamp"].startswith(f"{SILENCE}.17.")
            text = signed_text(command.ext_fields, b"body")
            assert sign(text, "secret") == command.ext_fields["Signature"]
            pop = RemotingCommand(200050)
            lines.dress(pop, line)
            assert pop.serialize_type == JSON_TYPE
            assert pop.ext_fields["RequestStamp"].endswith(".2")
            await lines.close()

    in_loop(test)


def test_a_connection_that_fails_when_nobody_waits_is_no_complaint() -> None:
    async def test() -> None:
        lines, complaints = Connections(_unasked), complaints_of_the_loop()
        waiting = asyncio.ensure_future(lines.to("127.0.0.1:1"))
        await turn()
        (opening,) = lines._opening.values()
        waiting.cancel()
        await asyncio.wait([waiting, opening])
        del waiting, opening
        gc.collect()
        assert complaints == []
        await lines.close()

    in_loop(test)


def test_a_plain_port_that_is_asked_for_tls_says_so() -> None:
    async def test() -> None:
        async with Running() as server:
            address = f"127.0.0.1:{server.port}"
            lines = Connections(_unasked, tls=ssl.create_default_context())
            with pytest.raises(Unreachable, match=f"no TLS connection to {address}: .") as caught:
                await lines.ask(address, RemotingCommand(ECHO), 5)
            assert f"does {address} speak TLS?" in caught.value.hint

    in_loop(test)


def test_a_port_that_never_answers_a_tls_greeting_is_asked_about_too() -> None:
    async def test() -> None:
        (silent,) = bind("127.0.0.1", 0)
        silent.listen()
        address = f"127.0.0.1:{port_of(silent)}"
        lines = Connections(_unasked, tls=ssl.create_default_context(), connect_timeout=0.1)
        with pytest.raises(Unreachable, match=r"within 0\.1 s") as caught:
            await lines.ask(address, RemotingCommand(ECHO), 5)
        assert "speak TLS?" in caught.value.hint
        silent.close()

    in_loop(test)


def test_a_port_where_nobody_is_is_not_asked_about_tls() -> None:
    async def test() -> None:
        (free,) = bind("127.0.0.1", 0)
        address = f"127.0.0.1:{port_of(free)}"
        free.close()
        with pytest.raises(Unreachable) as caught:
            await Connections(_unasked, tls=ssl.create_default_context()).to(address)
        assert caught.value.hint == ""

    in_loop(test)
