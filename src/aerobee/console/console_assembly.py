"""The assembly of a console: the things that pages work with, and the application of their actions.

Imports more than 15 modules because it puts the parts together.
"""

import time
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import aerobee
from aerobee.client.api.receipt import Receipt
from aerobee.client.client import Client
from aerobee.console.api.api_assembly import page_actions
from aerobee.console.api.audit import AuditPages, recording
from aerobee.console.api.equipment import Equipment
from aerobee.console.history.history import History
from aerobee.console.history.prometheus import Prometheus
from aerobee.console.http.action import GET, Action, Ask, Record
from aerobee.console.http.endpoints import Entrance
from aerobee.console.http.log_in import LogIn, PasswordCheck
from aerobee.console.http.openapi import describe
from aerobee.console.http.web_application import web_application
from aerobee.console.load.load_runs import LoadRuns
from aerobee.console.session.action_log import ActionLog
from aerobee.console.settings import ConsoleConfig
from aerobee.console.watch.catalogue import Catalogue
from aerobee.console.watch.feed import Feed
from aerobee.console.watch.running_jobs import RunningJobs
from aerobee.console.watch.sampler import Sampler


class ConsoleParts(NamedTuple):
    sampler: Sampler
    log_in: LogIn
    actions: tuple[Action, ...]
    application: Any
    """By ASGI."""


def wall_ms() -> int:
    return time.time_ns() // 1_000_000


def build_console(
    client: Client,
    config: ConsoleConfig,
    history: History,
    accounts: PasswordCheck | None,
    action_log: ActionLog,
    runs: LoadRuns,
) -> ConsoleParts:
    """Return the parts of a console; nothing of them runs yet."""
    admin = client.admin
    prometheus = Prometheus(config.prometheus) if config.prometheus else None
    catalogue, feed = Catalogue(admin), Feed()
    sampler = Sampler(admin, catalogue, history, feed, wall_ms)

    async def facts() -> Record:
        return {
            "name_servers": list(admin.name_servers.addresses()),
            "version": aerobee.__version__,
            "clusters": await catalogue.cluster_names(),
            "has_prometheus": prometheus is not None,
        }

    log_in = LogIn(accounts, facts)
    have = Equipment(
        admin,
        catalogue,
        sampler,
        history,
        prometheus,
        feed,
        ClientSending(client),
        runs,
        RunningJobs(config.pages_of_jobs),
        wall_ms,
    )
    audit = AuditPages(action_log, wall_ms)
    actions = (*log_in.actions(), *page_actions(have), *audit.actions())
    actions += (description(actions),)
    entrance = Entrance(log_in, recording(action_log, wall_ms), config.host_names, config.has_tls)
    application = web_application(
        actions, entrance, aerobee.__version__, may_tools_change=config.is_mcp_changing
    )
    return ConsoleParts(sampler, log_in, actions, application)


def description(actions: tuple[Action, ...]) -> Action:
    """Return the action that describes the others, and itself."""

    @cache
    def told() -> Record:  # by the first who asks: no start waits for it
        return describe((*actions, own), aerobee.__version__)

    async def show(ask: Ask) -> Record:
        return told()

    own = Action("describe", GET, "/api", None, "All calls of this API, by OpenAPI", show)
    return own


class ClientSending:
    """Sends messages of the page by the console's own client."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def __call__(
        self,
        topic: str,
        body: bytes,
        *,
        tag: str,
        keys: list[str],
        properties: Mapping[str, str],
        delay_seconds: float,
    ) -> Receipt:
        if delay_seconds > 0:
            return await self._client.send(
                topic, body, tag=tag, keys=keys, headers=properties, delay=delay_seconds
            )
        return await self._client.send(topic, body, tag=tag, keys=keys, headers=properties)
