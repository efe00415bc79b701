"""ConsoleGuest: the web console as a guest of `aerobee up`, in the same process.

It is imported when the brokers are ready, on a thread, so that neither the start nor a client waits
for it. If it cannot start, the others go on, and the banner says why.
"""

import argparse
import asyncio
import importlib
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from aerobee.cli.server_verbs import INSTALL_CONSOLE
from aerobee.errors import AerobeeError

if TYPE_CHECKING:
    from aerobee.app.process.lifecycle import Ended
    from aerobee.app.settings.config import Given
    from aerobee.console.console_part import ConsolePart

FOLDER = "console"
_HINT = "choose another with --console-port, or say --no-console"


class ConsoleGuest:
    def __init__(
        self,
        parsed: argparse.Namespace,
        folder: str,
        nameserver: Callable[[], str],
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        """`folder`: that of everything; `nameserver`: its address, known when it has started."""
        self._parsed = parsed
        self._folder = os.path.join(folder, FOLDER)
        self._nameserver = nameserver
        self._environment = environment
        self._part: ConsolePart | None = None
        self.said = ""
        """Its address, or why it did not start."""

    async def start(self, failed: "Ended") -> str:
        try:
            self.said = await self._start(failed)
        except AerobeeError as error:
            self.said = str(error)
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("aerobee"):
                raise
            self.said = INSTALL_CONSOLE
        return ""

    async def stop(self) -> None:
        if self._part is not None:
            await self._part.stop()

    async def _start(self, failed: "Ended") -> str:
        module = await asyncio.to_thread(importlib.import_module, "aerobee.console.console_part")
        from aerobee.console.settings import read_settings

        config = read_settings(None, self._environment, self._flags())
        part: ConsolePart = module.ConsolePart(config, hint=_HINT)
        said = await part.start(failed)
        self._part = part
        return said.removeprefix("console ")

    def _flags(self) -> "list[Given]":
        from aerobee.app.settings.config import Given

        parsed = self._parsed
        port = parsed.console_port
        if port is None and parsed.port is not None:
            port = "0"  # another cluster may run here
        flags = [Given("dataPath", self._folder, "--store")]
        if "AEROBEE_CONSOLE_NAMESRV_ADDR" not in self._environment:
            flags.append(Given("namesrvAddr", self._nameserver(), "aerobee up"))
        if port is not None:
            flags.append(Given("listenPort", port, "--console-port"))
        if parsed.host is not None:
            flags.append(Given("bindAddress", parsed.host, "--host"))
        if parsed.insecure is not None:
            flags.append(Given("insecure", parsed.insecure, "--insecure"))
        return flags
