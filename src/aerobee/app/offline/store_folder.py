"""StoreFolder opens a store's folder read-only: maps its files, and takes its lock.

    commitlog/00000000000000000000 …            the log, files named by their first log offset
    consumequeue/{topic}/{queue}/0000… …        20 bytes for each message
    batchconsumequeue/{topic}/{queue}/0000… …   46 bytes for each batch
    index/20261115234635424 …                   keys
    durable_mark, checkpoint, abort, lock       ours, RocketMQ's, RocketMQ's, RocketMQ's

While it is open no broker can write to it: it holds the broker's lock, in shared mode. Sizes of
files are read from the disk, so stores with any settings can be read, RocketMQ's and Aerobee's.
"""

import errno
import fcntl
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from aerobee.errors import Misuse, NotFound, StoreLocked
from aerobee.protocol.message.durable_mark_slots import DurableMark, newest_slot


class StoredFile(NamedTuple):
    """One file of a sequence, mapped."""

    path: str
    first: int
    """Where it begins: the number that is its name."""
    data: mmap.mmap | bytes
    """Bytes, where a file is empty: such cannot be mapped."""
    view: memoryview

    @property
    def size(self) -> int:
        return len(self.view)

    @property
    def end(self) -> int:
        return self.first + self.size


class QueueFolder(NamedTuple):
    topic: str
    queue_id: int
    path: str
    is_batch: bool


class StoreFolder:
    """Made by `open_store`."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.log = files_of(os.path.join(root, "commitlog"))

    @property
    def log_start(self) -> int:
        return self.log[0].first if self.log else 0

    def find(self, log_offset: int) -> StoredFile | None:
        """Return the file of the log that has an offset."""
        for file in reversed(self.log):
            if file.first <= log_offset:
                return file if log_offset < file.end else None
        return None

    def queues(self, topic: str | None = None, queue_id: int | None = None) -> list[QueueFolder]:
        """Yield the queues of all topics, or of one."""
        found = []
        for kind, is_batch in (("consumequeue", False), ("batchconsumequeue", True)):
            folder = os.path.join(self.root, kind)
            for name in [topic] if topic is not None else _names(folder):
                numbers = [one for one in _names(os.path.join(folder, name)) if one.isdigit()]
                for number in sorted(map(int, numbers)):
                    path = os.path.join(folder, name, str(number))
                    found.append(QueueFolder(name, number, path, is_batch))
        return [one for one in found if queue_id is None or one.queue_id == queue_id]

    def index_paths(self) -> list[str]:
        folder = os.path.join(self.root, "index")
        return [os.path.join(folder, name) for name in _names(folder) if name.isdigit()]

    def config_paths(self) -> list[str]:
        folder = os.path.join(self.root, "config")
        return [os.path.join(folder, name) for name in _names(folder) if name.endswith(".json")]

    def is_aborted(self) -> bool:
        """Whether the last broker on it did not stop cleanly."""
        return os.path.exists(os.path.join(self.root, "abort"))

    def mark(self) -> DurableMark | None:
        """Return the durable mark, up to which the log is on the disk. None: only Aerobee's stores
        have it."""
        try:
            with open(os.path.join(self.root, "durable_mark"), "rb") as file:
                view = memoryview(file.read())
        except FileNotFoundError:
            return None
        found = newest_slot(view)
        return None if found is None else found[0]


@contextmanager
def open_store(root: str) -> Iterator[StoreFolder]:
    """Open a store. NotFound: there is no store. StoreLocked: a broker uses it."""
    if not os.path.isdir(os.path.join(root, "commitlog")):
        raise NotFound(
            f"{root} is no store: it has no commitlog",
            hint="`aerobee up` keeps its store in ./data/store, a broker in ~/store",
        )
    lock = _shared_lock(os.path.join(root, "lock"))
    try:
        yield StoreFolder(root)
    finally:
        if lock is not None:
            os.close(lock)


def files_of(folder: str) -> list[StoredFile]:
    """Return the files of a sequence, in order."""
    return [
        open_file(os.path.join(folder, name), int(name))
        for name in _names(folder)
        if name.isdigit()
    ]


def open_file(path: str, first: int = 0) -> StoredFile:
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                return StoredFile(path, first, b"", memoryview(b""))
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise Misuse(f"{path} cannot be read: {error.strerror}") from None
    return StoredFile(path, first, data, memoryview(data))


def _shared_lock(path: str) -> int | None:
    """Take the lock in shared mode. None: there is no lock file, so no broker uses it."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Misuse(f"{path} cannot be read: {error.strerror}") from None
    try:
        fcntl.lockf(handle, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, 0, os.SEEK_SET)
    except OSError as error:
        os.close(handle)
        if error.errno not in (errno.EACCES, errno.EAGAIN):
            raise Misuse(f"{path} cannot be locked: {error.strerror}") from None
        raise StoreLocked(
            f"a broker has {os.path.dirname(path)}",
            hint="stop it first, or ask it: `aerobee message get`, `aerobee topic status`",
        ) from None
    return handle


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Misuse(f"{folder} cannot be read: {error.strerror}") from None
