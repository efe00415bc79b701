"""ConsolePart: a console as a part of a process, alone or as a guest of `aerobee up`.

    settings ─▶ users ─▶ client ─▶ history ─▶ sampler ─▶ port ─▶ `console http://127.0.0.1:8080`

It never stops the process that it is a guest of: a port that is taken is said, with a hint. Imports
more than 15 modules because it starts them all.
"""

import asyncio
import contextlib
import os
import socket
from concurrent.futures import ThreadPoolExecutor

import uvicorn

from aerobee.app.process.lifecycle import CannotStart, Ended, explained
from aerobee.app.process.tls_files import tls_files_of
from aerobee.app.settings.config import ListenConfig
from aerobee.client.admin.admin import Admin
from aerobee.client.client import connect
from aerobee.console.console_assembly import build_console
from aerobee.console.history.history import History
from aerobee.console.history.history_file import HistoryFile
from aerobee.console.http.log_in import PasswordCheck
from aerobee.console.http.tls_entrance import TlsEntrance
from aerobee.console.load.load_runs import LoadRuns
from aerobee.console.session import accounts
from aerobee.console.session.accounts import Accounts
from aerobee.console.session.action_log import ActionLog
from aerobee.console.session.cluster_accounts import ClusterAccounts, roles_in
from aerobee.console.session.passwords import PasswordPool
from aerobee.console.settings import CLUSTER, ConsoleConfig
from aerobee.errors import Misuse
from aerobee.net.listener import bind, port_of
from aerobee.ports.service import Peer

HISTORY_FILE = "history.db"
CONNECTIONS_MAX = 500
_HINT = "choose another with --port; 0 is any that is free"
_STOP_SECONDS = 2


class ConsolePart:
    def __init__(self, config: ConsoleConfig, *, hint: str = _HINT) -> None:
        """`hint`: what to do if the port is taken."""
        self._config = config
        self._hint = hint
        self._stack = contextlib.AsyncExitStack()
        self.address = ""

    async def start(self, failed: Ended) -> str:
        try:
            return await self._start(failed)
        except BaseException:
            await self._stack.aclose()
            raise

    async def stop(self) -> None:
        await self._stack.aclose()

    async def _start(self, failed: Ended) -> str:
        config, stack = self._config, self._stack
        listen = ListenConfig(config.port, config.host)
        with explained(listen, hint=self._hint):
            sockets = bind(config.host, config.port)
        for one in sockets:
            stack.callback(one.close)
        certificates = tls_files_of(config.tls, stack)
        with contextlib.suppress(FileExistsError):
            os.makedirs(config.folder, mode=0o700, exist_ok=True)
        worker = ThreadPoolExecutor(1, "console-files")
        stack.callback(worker.shutdown)
        client = await stack.enter_async_context(connect(config.name_servers, timeout=5.0))
        history = History(HistoryFile(os.path.join(config.folder, HISTORY_FILE)), worker)
        await history.open()
        stack.push_async_callback(history.close)
        known, said = self._users(client.admin)
        runs = LoadRuns(config.name_servers, config.folder, worker)
        stack.push_async_callback(runs.close)
        action_log = ActionLog(config.folder, worker)
        parts = build_console(client, config, history, known, action_log, runs)
        for lasting in (parts.sampler.run(), parts.log_in.watch()):
            stack.push_async_callback(_cancelled, asyncio.create_task(lasting))
        entrance = TlsEntrance(None if certificates is None else certificates.state)
        server = _server(parts.application, entrance)
        serving = asyncio.create_task(server.serve(sockets=sockets))
        stack.push_async_callback(_served, server, serving)
        await server.listens.wait()
        serving.add_done_callback(lambda task: _tell(task, failed))
        self.address = str(Peer(config.host, port_of(sockets[0])))
        scheme = "https" if config.has_tls else "http"
        return f"console {scheme}://{self.address}{said}{_warning(config)}"

    def _users(self, admin: Admin) -> tuple[PasswordCheck | None, str]:
        """Return the accounts, if a log-in is needed, and what to say about them."""
        config = self._config
        if not config.needs_login:
            return None, ""
        if config.login_users == CLUSTER:
            try:
                roles = roles_in(config.cluster_roles)
            except ValueError as error:
                raise CannotStart(f"clusterRoles must be {error}") from None
            return ClusterAccounts(admin, config.name_servers, roles), ""
        path = os.path.join(self._config.folder, accounts.FILE)
        try:
            said = ""
            if not accounts.read_accounts(path):
                password = accounts.first_account(path)
                said = f", user {accounts.FIRST_USER}, password {password} (shown this once)"
            pool = PasswordPool()
            self._stack.callback(pool.close)
            return Accounts(path, pool), said
        except Misuse as error:
            raise CannotStart(error.message, hint=error.hint) from None


def _warning(config: ConsoleConfig) -> str:
    if not config.is_open or config.has_tls:
        return ""
    return ", INSECURE: open to other machines without TLS, so passwords can be read on the way"


def _server(application: object, entrance: TlsEntrance) -> "_Server":
    settings = uvicorn.Config(
        application,  # type: ignore[arg-type]
        http=entrance,  # type: ignore[arg-type]
        ws="none",
        lifespan="off",
        loop="none",
        interface="asgi3",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=CONNECTIONS_MAX,
        timeout_graceful_shutdown=_STOP_SECONDS,
        h11_max_incomplete_event_size=64 << 10,
    )
    return _Server(settings, entrance)


class _Server(uvicorn.Server):
    """A server that leaves signals to the process it is a part of, and tells when it listens."""

    def __init__(self, settings: uvicorn.Config, entrance: TlsEntrance) -> None:
        super().__init__(settings)
        self._entrance = entrance
        self.listens = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listens.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._entrance.close()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self):  # type: ignore[no-untyped-def]
        yield


async def _cancelled(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.wait({task})


async def _served(server: _Server, serving: "asyncio.Task[None]") -> None:
    server.should_exit = True
    await asyncio.wait({serving})


def _tell(task: "asyncio.Task[None]", failed: Ended) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        failed(error)
