"""Writing a small file beside the core, one write at a time.

    begin ──▶ disk job: write ──▶ collected: written(error)

For tables that are saved now and then: what is to be written is fixed when the save begins, what
changes meanwhile is for the next one. Called from the core's thread only, but for `write`.
"""

from collections.abc import Callable

from aerobee.ports.disk_worker import DiskWorker, Lane

Write = Callable[[], None]
"""Called on a disk thread: it touches nothing that the core changes."""
Written = Callable[[BaseException | None], None]


class BackgroundSave:
    """B1. At most one save is under way; when it is told of, it no longer is."""

    __slots__ = ("_job", "_worker")

    def __init__(self, worker: DiskWorker) -> None:
        self._worker = worker
        self._job: _Save | None = None

    @property
    def is_busy(self) -> bool:
        return self._job is not None

    def begin(self, write: Write, written: Written) -> None:
        """Have it written, and be told; only while not busy."""
        assert self._job is None
        self._job = _Save(self, write, written)
        self._worker.submit(Lane.BACKGROUND, self._job)

    def wait(self) -> None:
        """Block until what is under way is over."""
        if self._job is not None:
            self._worker.wait(self._job)

    def _over(self) -> None:
        self._job = None


class _Save:
    """The disk job."""

    __slots__ = ("_owner", "_write", "_written")

    def __init__(self, owner: BackgroundSave, write: Write, written: Written) -> None:
        self._owner = owner
        self._write = write
        self._written = written

    def run(self) -> None:
        self._write()

    def done(self, error: BaseException | None) -> None:
        self._owner._over()
        self._written(error)
