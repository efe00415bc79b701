"""Offset stores: a consumer's offsets are kept by the broker, or in a file of its own.

clustering      the broker of each queue, for the whole group
broadcasting    <folder>/<client>/<group>/offsets.json, in RocketMQ's own form, with the one
                before it as offsets.json.bak: Java finds its place there, and we find Java's
"""

import asyncio
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from aerobee.client.group.group_requests import GroupRequests
from aerobee.errors import AerobeeError, ProtocolError
from aerobee.model.message_queue import MessageQueue
from aerobee.protocol.bodies.group_offsets import decode_reset_offsets, encode_reset_offsets

_log = logging.getLogger(__name__)

FOLDER = ".rocketmq_offsets"
FILE = "offsets.json"


class OffsetStore(Protocol):
    async def committed(self, queue: MessageQueue) -> int | None:
        """The committed offset; None: there is none. An error: it is not known."""

    async def commit(
        self, offsets: Mapping[MessageQueue, int], *, is_certain: bool = False
    ) -> None:
        """Commit these offsets; a failed one is committed the next time. `is_certain`: wait for the
        answers.
        """

    def forget(self, queue: MessageQueue) -> None:
        """Drop a queue that another member has now, or that begins elsewhere."""


class BrokerOffsetStore:
    """Offsets kept by brokers. O1. An offset that did not change is not sent again."""

    def __init__(self, calls: GroupRequests, *, is_exact: bool = False) -> None:
        """`is_exact`: a new group has no offset, not even 0 in a queue that is young."""
        self._calls = calls
        self._is_exact = is_exact
        self._told: dict[MessageQueue, int] = {}

    async def committed(self, queue: MessageQueue) -> int | None:
        found = await self._calls.committed(queue, is_exact=self._is_exact)
        if found is not None:
            self._told[queue] = found
        return found

    async def commit(
        self, offsets: Mapping[MessageQueue, int], *, is_certain: bool = False
    ) -> None:
        await asyncio.gather(
            *(
                self._commit(queue, offset, is_certain)
                for queue, offset in offsets.items()
                if self._told.get(queue) != offset
            )
        )

    def forget(self, queue: MessageQueue) -> None:
        self._told.pop(queue, None)

    async def _commit(self, queue: MessageQueue, offset: int, is_certain: bool) -> None:
        try:
            await self._calls.commit(queue, offset, is_certain=is_certain)
        except AerobeeError as error:
            _log.warning("offset %d of %s is not committed: %s", offset, queue, error)
        else:
            self._told[queue] = offset


class LocalOffsetStore:
    """Offsets in a file: small, and written at most every few seconds, so the loop hardly waits."""

    def __init__(self, folder: Path, client: str, group: str) -> None:
        self._path = folder / client / group / FILE
        self._offsets = self._read()

    async def committed(self, queue: MessageQueue) -> int | None:
        return self._offsets.get(queue)

    async def commit(
        self, offsets: Mapping[MessageQueue, int], *, is_certain: bool = False
    ) -> None:
        if all(self._offsets.get(queue) == offset for queue, offset in offsets.items()):
            return
        self._offsets.update(offsets)
        try:
            self._write()
        except OSError as error:
            _log.warning("offsets are not written to %s: %s", self._path, error)

    def forget(self, queue: MessageQueue) -> None:
        """No effect: the offsets are this client's alone, and are kept for the next time."""

    def _read(self) -> dict[MessageQueue, int]:
        for path in (self._path, self._backup()):
            try:
                return decode_reset_offsets(path.read_bytes())
            except FileNotFoundError:
                continue
            except (OSError, ProtocolError) as error:
                _log.warning("offsets in %s cannot be read: %s", path, error)
        return {}

    def _write(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        new = self._path.with_suffix(".json.tmp")
        new.write_bytes(encode_reset_offsets(self._offsets))
        if self._path.exists():
            os.replace(self._path, self._backup())
        os.replace(new, self._path)

    def _backup(self) -> Path:
        return self._path.with_suffix(".json.bak")


class NoOffsetStore:
    """Keeps no offsets."""

    async def committed(self, queue: MessageQueue) -> int | None:
        return None

    async def commit(
        self, offsets: Mapping[MessageQueue, int], *, is_certain: bool = False
    ) -> None:
        """No effect: the offsets are not read again."""

    def forget(self, queue: MessageQueue) -> None:
        """No effect: there is nothing to forget."""


def local_folder() -> Path:
    return Path.home() / FOLDER
