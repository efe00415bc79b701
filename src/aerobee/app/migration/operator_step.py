"""OperatorStep is a step of a migration that no request can do: it runs a shell command of the
operator, or else a person is asked to do it.
"""

import asyncio
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass

from aerobee.errors import AerobeeError

Say = Callable[[str], None]


class TakeoverFailed(AerobeeError):
    """The new broker is not the master, and the old one is as it was, or the text says what is
    so."""


@dataclass(frozen=True, slots=True)
class OperatorStep:
    command: str = ""
    """For a shell; empty: a person is asked."""
    seconds_max: float = 600.0
    """The time in which it must have had its effect."""

    async def run(self, hint: str) -> None:
        """Run the command to its end. TakeoverFailed: it failed."""
        # In a session of its own: what the shell has started ends with it.
        process = await asyncio.create_subprocess_shell(self.command, start_new_session=True)
        try:
            await process.wait()
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGTERM)
                await process.wait()
        if process.returncode != 0:
            raise TakeoverFailed(
                f"`{self.command}` failed with status {process.returncode}", hint=hint
            )


BY_HAND = OperatorStep()
