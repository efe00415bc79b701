"""A console as people run it: `aerobee up` in a process, asked by HTTP.

with running_console(folder) as console:
    console.get("/api/topics")["rows"]
    console.change("POST", "/api/topics", {"name": "orders"})

Or of any cluster, with any settings, on a thread: `served_console(ConsoleConfig(…))`.
"""

import asyncio
import contextlib
import json
import random
import re
import socket
import ssl
import threading
from collections.abc import Generator, Iterator
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from typing import Any, NamedTuple

import aerobee
from aerobee.console.console_part import ConsolePart
from aerobee.console.settings import CLUSTER, ConsoleConfig
from aerobee.model.access import User
from aerobee.testing.thread_cluster import ThreadCluster
from tests.process_kit import SECONDS_MAX, Started
from tests.up_kit import no_failure

GUARDED = {
    "authenticationEnabled": "true",
    "authorizationEnabled": "true",
    "initAuthenticationUser": '{"username":"root","password":"root-secret"}',
    "innerClientAuthenticationCredentials": '{"accessKey":"inner","secretKey":"inner-secret"}',
}


class Told(NamedTuple):
    """An answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """Of an error."""
        code: str = self.json()["error"]["code"]
        return code


class ConsoleClient:
    """Asks a console as a browser does."""

    def __init__(
        self,
        address: str,
        name_server: str = "",
        folder: Path = Path(),
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """`folder`: where it keeps what it keeps. `tls`: it is asked by HTTPS."""
        self.address = address
        self._tls = tls
        self.name_server = name_server
        self.folder = folder
        self.cookie = ""
        self._csrf = ""

    def ask(
        self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None
    ) -> Told:
        """One request, with the cookie; nothing else is added."""
        connection = self._connection()
        try:
            sent = {"cookie": self.cookie} if self.cookie else {}
            data = None
            if body is not None:
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                sent["content-type"] = "application/json"
            connection.request(method, path, data, {**sent, **(headers or {})})
            response = connection.getresponse()
            told = {name.lower(): text for name, text in response.getheaders()}
            return Told(response.status, told, response.read())
        finally:
            connection.close()

    def _connection(self) -> HTTPConnection:
        if self._tls is None:
            return HTTPConnection(self.address, timeout=SECONDS_MAX)
        return HTTPSConnection(self.address, timeout=SECONDS_MAX, context=self._tls)

    def get(self, path: str) -> Any:
        told = self.ask("GET", path)
        assert told.status == 200, told.body
        return told.json()

    def change(self, method: str, path: str, body: object = None) -> Told:
        """A request that changes something, with the token."""
        if not self._csrf:
            self._csrf = self.get("/api/session")["csrf"]
        return self.ask(
            method, path, body if body is not None else {}, {"x-csrf-token": self._csrf}
        )

    def log_in(self, user: str, password: str) -> Told:
        told = self.change("POST", "/api/login", {"user": user, "password": password})
        if told.status == 200:
            self.cookie = told.headers["set-cookie"].partition(";")[0]
            self._csrf = told.json()["csrf"]
        return told

    def events(self, path: str) -> Generator[tuple[str, Any], None, None]:
        """Names and data of server-sent events, until the generator is closed."""
        connection = self._connection()
        try:
            connection.request("GET", path, headers={"cookie": self.cookie} if self.cookie else {})
            response = connection.getresponse()
            assert response.status == 200, response.read()
            name = ""
            while line := response.readline().decode():
                if line.startswith("event: "):
                    name = line.removeprefix("event: ").strip()
                elif line.startswith("data: "):
                    yield name, json.loads(line.removeprefix("data: "))
        finally:
            connection.close()

    def until(self, series: str, value: float) -> None:
        """Wait until a series has a value."""
        with contextlib.closing(self.events(f"/api/live?series={series}")) as events:
            for name, data in events:
                if name == "sample" and data["values"].get(series) == value:
                    return


@contextlib.contextmanager
def running_console(folder: Path, *flags: str, **environment: str) -> Iterator[ConsoleClient]:
    """`aerobee up` with its console, on free ports."""
    words = ("up", "--store", str(folder / "data"), "--port", "0", "--nameserver-port", "0")
    with Started(folder, *words, *flags, **environment) as started:
        ports = started.ports()
        said = started.until("  console ")
        address = re.search(r"console\s+http://(\S+)", said)
        assert address is not None, said
        name_server = f"127.0.0.1:{ports['nameserver']}"
        yield ConsoleClient(address[1], name_server, folder / "data" / "console")
        assert started.stop()[0] == 0


def free_ports() -> int:
    """A port of this machine that a group of three can be told: it and those ten and twenty above
    are free, and below those that systems give away."""
    while True:
        port = random.randrange(12_000, 32_000, 50)
        try:
            for one in range(port, port + 30):
                socket.create_server(("127.0.0.1", one)).close()
        except OSError:
            continue
        return port


@contextlib.contextmanager
def served_console(
    config: ConsoleConfig, tls: ssl.SSLContext | None = None
) -> Iterator[ConsoleClient]:
    """A console in this process, on a thread of its own; asked by HTTPS with `tls`."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="console")
    thread.start()
    part = ConsolePart(config)
    try:
        asyncio.run_coroutine_threadsafe(part.start(no_failure), loop).result(SECONDS_MAX)
        try:
            yield ConsoleClient(part.address, config.name_servers, tls=tls)
        finally:
            asyncio.run_coroutine_threadsafe(part.stop(), loop).result(SECONDS_MAX)
    finally:
        # As a process ends its loop: streams whose readers are still there end with it.
        asyncio.run_coroutine_threadsafe(_end_tasks(), loop).result(SECONDS_MAX)
        asyncio.run_coroutine_threadsafe(loop.shutdown_default_executor(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _end_tasks() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for one in others:
        one.cancel()
    await asyncio.gather(*others, return_exceptions=True)


@contextlib.contextmanager
def guarded_console(folder: Path) -> Iterator[ConsoleClient]:
    """A console of a cluster with users, who log in to it, too: root, who is super, carol, who may
    look, and dave, an operator. Here root has logged in."""
    with ThreadCluster(settings=GUARDED) as cluster:
        target = f"rmq://root:root-secret@{cluster.address}"
        asyncio.run(_put_users(target))
        config = ConsoleConfig(
            port=0,
            name_servers=target,
            folder=str(folder),
            is_login_required=True,
            login_users=CLUSTER,
            cluster_roles="dave:operator,*:viewer",
            is_mcp_changing=True,
        )
        with served_console(config) as console:
            assert console.log_in("root", "root-secret").status == 200
            yield console


@contextlib.contextmanager
def insecure_console(folder: Path) -> Iterator[ConsoleClient]:
    """A console, on loopback, of a cluster that is open to everybody."""
    words = ("up", "--store", str(folder / "data"), "--port", "0", "--nameserver-port", "0")
    with Started(folder, *words, "--no-console", "--host", "0.0.0.0", "--insecure") as started:
        name_server = f"127.0.0.1:{started.ports()['nameserver']}"
        config = ConsoleConfig(port=0, name_servers=name_server, folder=str(folder))
        with served_console(config) as console:
            yield console
        assert started.stop()[0] == 0


async def _put_users(target: str) -> None:
    async with aerobee.admin(target) as admin:
        for name in ("carol", "dave"):
            await admin.access.create_user(User(name, f"{name}-secret"))
