"""MemberGroup runs the members of a Raft group as one part of a process, each in its own process.

start   all at once; then it waits until one of them leads
keep    a member whose process has ended is started again after a while
stop    all at once: none hands over to another
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence

from aerobee.app.members.member_process import MemberProcess
from aerobee.app.process.lifecycle import CannotStart, Ended
from aerobee.app.process.restart_delays import RestartDelays
from aerobee.app.settings.up_settings import MemberSettings

_log = logging.getLogger(__name__)

LEADER_SECONDS_MAX = 30.0
AGAIN_SECONDS = 3.0
"""A member that was killed stays away for so long at least: it is to be seen that it is gone."""


class MemberGroup:
    def __init__(
        self,
        members: Sequence[MemberSettings],
        nameserver: Callable[[], str],
        *,
        level: str = "WARNING",
        again_seconds: float = AGAIN_SECONDS,
    ) -> None:
        self._happened = asyncio.Event()
        self._again_seconds = again_seconds
        self.members = [
            MemberProcess(one, nameserver, level=level, changed=self._happened.set)
            for one in members
        ]
        self._keeping: list[asyncio.Task[None]] = []

    @property
    def leader(self) -> MemberProcess | None:
        """One that is paused still believes that it leads, and does not count."""
        return next((one for one in self.members if one.leads and not one.is_paused), None)

    async def start(self, failed: Ended) -> str:
        starts = [asyncio.ensure_future(one.start()) for one in self.members]
        said = await asyncio.gather(*starts, return_exceptions=True)
        errors = [one for one in said if isinstance(one, BaseException)]
        if errors:
            await self.stop()
            raise errors[0]
        self._keeping = [asyncio.ensure_future(self._keep(one)) for one in self.members]
        await self._wait_for_leader()
        return ", ".join(str(one) for one in said)

    async def stop(self) -> None:
        for task in self._keeping:
            task.cancel()
        await asyncio.gather(*self._keeping, return_exceptions=True)
        await asyncio.gather(*(one.end() for one in self.members))

    async def _wait_for_leader(self) -> None:
        try:
            async with asyncio.timeout(LEADER_SECONDS_MAX):
                while self.leader is None:
                    self._happened.clear()
                    await self._happened.wait()
        except TimeoutError:
            _log.warning("no member leads yet: see `aerobee broker replicas`")

    async def _keep(self, member: MemberProcess) -> None:
        """Start it again whenever it has ended."""
        loop = asyncio.get_running_loop()
        restarts = RestartDelays()
        while True:
            restarts.begun(loop.time())
            await member.until_ended()
            wait = max(self._again_seconds, restarts.wait_seconds(loop.time()))
            _log.warning("member n%d has ended: it is started again in %.0f s", member.node, wait)
            await asyncio.sleep(wait)
            with contextlib.suppress(CannotStart):  # its log says why
                await member.start()
