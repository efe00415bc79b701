import argparse
import asyncio
import socket
from pathlib import Path

from aerobee.cli.console_guest import ConsoleGuest
from tests.up_kit import no_failure


def _guest(folder: Path, **environment: str) -> ConsoleGuest:
    parsed = argparse.Namespace(console_port=None, port="0", host=None, insecure=None)
    return ConsoleGuest(parsed, str(folder), lambda: "127.0.0.1:1", environment)


def test_a_guest_that_cannot_start_says_why_and_stops_nothing(tmp_path: Path) -> None:
    async def live(guest: ConsoleGuest) -> str:
        assert await guest.start(no_failure) == ""
        await guest.stop()
        return guest.said

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        parsed = argparse.Namespace(console_port=port, port="0", host="127.0.0.1", insecure=None)
        guest = ConsoleGuest(parsed, str(tmp_path), lambda: "127.0.0.1:1", {})
        said = asyncio.run(live(guest))
    assert "another process listens there" in said
    assert "--console-port" in said
    said = asyncio.run(live(_guest(tmp_path, AEROBEE_CONSOLE_LISTEN_PRT="1")))
    assert "did you mean AEROBEE_CONSOLE_LISTEN_PORT?" in said


def test_a_guest_serves_whether_or_not_a_cluster_answers(tmp_path: Path) -> None:
    async def live() -> None:
        guest = _guest(tmp_path)
        await guest.start(no_failure)
        assert guest.said.startswith("http://127.0.0.1:")
        await guest.stop()

    asyncio.run(live())
    assert (tmp_path / "console" / "history.db").exists()


def test_a_guest_on_another_address_needs_tls_or_to_be_insecure_by_name(tmp_path: Path) -> None:
    async def live(insecure: str | None) -> str:
        parsed = argparse.Namespace(console_port="0", port="0", host="0.0.0.0", insecure=insecure)
        guest = ConsoleGuest(parsed, str(tmp_path), lambda: "127.0.0.1:1", {})
        await guest.start(no_failure)
        await guest.stop()
        return guest.said

    assert "tlsCertificate" in asyncio.run(live(None))
    assert "INSECURE" in asyncio.run(live("true"))
