import asyncio
import contextlib
import json
import re
import socket
import ssl
from http.client import HTTPSConnection
from pathlib import Path

import pytest

from aerobee.app.process.lifecycle import CannotStart
from aerobee.console.console_part import ConsolePart
from aerobee.console.session.accounts import FILE, put_account
from aerobee.console.session.visitor import Role
from aerobee.console.settings import ConsoleConfig
from tests.console_kit import ConsoleClient, served_console
from tests.process_kit import Started
from tests.tls_kit import certificates, server_config
from tests.up_kit import no_failure


def test_a_port_that_is_taken_is_told_with_a_hint_and_nothing_is_left(tmp_path: Path) -> None:
    async def live() -> str:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            part = ConsolePart(ConsoleConfig(port, folder=f"{tmp_path}/c"), hint="another one")
            with pytest.raises(CannotStart) as caught:
                await part.start(no_failure)
            return str(caught.value)

    said = asyncio.run(live())
    assert "another process listens there" in said
    assert "another one" in said
    assert not (tmp_path / "c").exists()


def test_the_first_password_is_printed_once_and_roles_may_do_what_they_may(
    tmp_path: Path, console: ConsoleClient
) -> None:
    """A console of its own, with a log-in: nothing without one, and by role what it includes."""
    words = ("console", "--login", "--port", "0", "-n", console.name_server)
    with Started(tmp_path, *words, "--data", str(tmp_path)) as started:
        assert started.process.stdout is not None
        said = started.process.stdout.readline()
        password = re.search(r"user admin, password (\S+)", said)
        assert password is not None, said
        assert started.stop()[0] == 0
    put_account(str(tmp_path / FILE), "viewer", Role.VIEWER, "look only")
    with Started(tmp_path, *words, "--data", str(tmp_path)) as started:
        assert started.process.stdout is not None
        said = started.process.stdout.readline()
        assert "password" not in said
        address = said.rpartition("//")[2].strip()
        nobody, viewer, admin = (ConsoleClient(address) for _ in range(3))
        assert nobody.ask("GET", "/api/topics").code == "login_needed"
        assert nobody.ask("GET", "/api/session").json()["role"] is None
        assert nobody.log_in("admin", "wrong").code == "wrong_login"
        assert viewer.log_in("viewer", "look only").status == 200
        assert viewer.get("/api/topics")["total"] > 0
        assert viewer.change("POST", "/api/topics", {"name": "x"}).code == "forbidden"
        told = admin.log_in("admin", password[1])
        cookie = told.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        made = {"name": "of-admin", "queues": 1}
        assert admin.change("POST", "/api/topics", made).status == 200
        gone = {"confirm": "of-admin"}
        assert admin.change("DELETE", "/api/topics/of-admin", gone).status == 200
        assert admin.change("POST", "/api/logout").status == 200
        assert admin.ask("GET", "/api/topics").code == "login_needed"
        assert started.stop()[0] == 0


def test_the_cookie_of_a_session_is_of_this_host_and_of_tls_alone(tmp_path: Path) -> None:
    put_account(str(tmp_path / FILE), "alice", Role.VIEWER, "long enough")
    config = ConsoleConfig(
        port=0,
        name_servers="127.0.0.1:1",
        folder=str(tmp_path),
        is_login_required=True,
        tls=server_config(is_outgoing=False),
    )
    with served_console(config) as console:
        connection = HTTPSConnection(
            console.address, context=ssl.create_default_context(cafile=certificates().authority)
        )
        with contextlib.closing(connection):
            connection.request("GET", "/api/session")
            answer = connection.getresponse()
            csrf = json.loads(answer.read())["csrf"]
            assert answer.headers["strict-transport-security"]
            connection.request(
                "POST",
                "/api/login",
                json.dumps({"user": "alice", "password": "long enough"}),
                {"x-csrf-token": csrf, "content-type": "application/json"},
            )
            answer = connection.getresponse()
            parts = answer.headers["set-cookie"].lower().split("; ")
    assert parts[0].startswith("__host-aerobee=")
    assert {"secure", "httponly", "samesite=strict", "path=/"} <= set(parts)
