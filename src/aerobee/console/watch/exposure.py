"""Exposure: the servers of a cluster that are open to other machines, and ask nobody who it is.

They say so themselves, in the settings that they show (`insecure`, `bindAddress`). Servers of
RocketMQ have no such setting.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from aerobee.app.settings.config import ListenConfig
from aerobee.client.admin.admin import Admin
from aerobee.console.watch.catalogue import Kept
from aerobee.errors import AerobeeError, PartlyDone

FRESH_SECONDS = 30.0

_Settings = Mapping[str, Mapping[str, str]]


class Exposure:
    def __init__(self, admin: Admin, now: Callable[[], float]) -> None:
        self._admin = admin
        self._kept = Kept(self._ask, now, FRESH_SECONDS)

    async def servers(self) -> list[str]:
        """Return the names of brokers and the addresses of name servers that are open."""
        return await self._kept.answer()

    async def _ask(self) -> list[str]:
        told = await asyncio.gather(
            _answering(self._admin.name_servers.config()), _answering(self._admin.brokers.config())
        )
        return [
            name
            for settings in told
            for name, shown in sorted(settings.items())
            if is_exposed(shown)
        ]


def is_exposed(settings: Mapping[str, str]) -> bool:
    """Whether a server with these settings is open, and asks nobody."""
    is_allowed = _is_on(settings, "insecure") and not _is_on(settings, "authenticationEnabled")
    is_encrypted = settings.get("tlsMode") == "enforcing"
    needs_certificate = is_encrypted and settings.get("tlsClientCertificates") == "require"
    listen = ListenConfig(0, settings.get("bindAddress", ""))
    return is_allowed and not needs_certificate and listen.is_open


def _is_on(settings: Mapping[str, str], key: str) -> bool:
    return settings.get(key, "").lower() == "true"


async def _answering(asked: Awaitable[_Settings]) -> _Settings:
    """Return the settings of the servers that answer."""
    try:
        return await asked
    except PartlyDone as partly:
        return {name: one for name, one in partly.done.items() if isinstance(one, dict)}
    except AerobeeError:
        return {}
