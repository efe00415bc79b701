import pytest

from aerobee.ports.clock import Now
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.metadata.periodic_save import PeriodicSave, Save

INTERVAL_MS = 5_000
START_MS = 100


class Table:
    """A text that changes, and the texts that were written of it."""

    def __init__(self) -> None:
        self.worker = SimDiskWorker()
        self.text = self.saved = ""
        self.written: list[str] = []
        self.asked_ms: list[int] = []
        self.fault: Exception | None = None
        self.saving = PeriodicSave(self.worker, "config/x.json", INTERVAL_MS, START_MS, self._take)

    def _take(self, wall_ms: int) -> Save | None:
        self.asked_ms.append(wall_ms)
        text = self.text
        if text == self.saved:
            return None
        return Save(lambda: self._write(text), lambda is_on_disk: self._note(text, is_on_disk))

    def _write(self, text: str) -> None:
        if self.fault is not None:
            raise self.fault
        self.written.append(text)

    def _note(self, text: str, is_on_disk: bool) -> None:
        if is_on_disk:
            self.saved = text

    def tick(self, after_ms: int) -> None:
        self.saving.on_tick(Now(1_000_000 + after_ms, START_MS + after_ms))

    def run_disk(self) -> None:
        self.worker.run_all()
        self.worker.collect()


def test_a_table_is_looked_at_once_an_interval_and_written_if_it_has_something_new() -> None:
    table = Table()
    table.text = "a"
    table.tick(0)
    table.tick(INTERVAL_MS - 1)
    assert (table.asked_ms, table.worker.pending()) == ([], 0)
    table.tick(INTERVAL_MS)
    table.run_disk()
    assert (table.written, table.saved) == (["a"], "a")
    table.tick(2 * INTERVAL_MS - 1)
    table.tick(2 * INTERVAL_MS)
    assert table.asked_ms == [1_000_000 + INTERVAL_MS, 1_000_000 + 2 * INTERVAL_MS]
    assert table.worker.pending() == 0


def test_a_save_writes_the_table_as_it_was_when_it_began() -> None:
    table = Table()
    table.text = "a"
    table.tick(INTERVAL_MS)
    table.text = "ab"
    table.tick(2 * INTERVAL_MS)
    assert (len(table.asked_ms), table.worker.pending()) == (1, 1), "the first is under way"
    table.run_disk()
    assert table.written == ["a"]
    table.tick(3 * INTERVAL_MS)
    table.run_disk()
    assert table.written == ["a", "ab"]


def test_a_save_that_failed_is_reported_and_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    table = Table()
    table.text, table.fault = "a", OSError("no room")
    table.tick(INTERVAL_MS)
    table.run_disk()
    assert "config/x.json was not saved; it is tried again: no room" in caplog.text
    assert table.saved == ""
    table.fault = None
    table.tick(2 * INTERVAL_MS)
    table.run_disk()
    assert table.saved == "a"


def test_a_table_is_closed_with_everything_written() -> None:
    table = Table()
    table.text = "a"
    table.tick(INTERVAL_MS)
    table.text = "ab"
    table.saving.close(Now(5, START_MS + INTERVAL_MS))
    assert (table.written, table.saved, table.worker.pending()) == (["a", "ab"], "ab", 0)
    table.saving.close(Now(6, START_MS + INTERVAL_MS))
    assert table.written == ["a", "ab"]


def test_a_close_that_cannot_write_ends(caplog: pytest.LogCaptureFixture) -> None:
    table = Table()
    table.text, table.fault = "a", OSError("no room")
    table.saving.close(Now(5, START_MS))
    assert (table.saved, table.worker.pending()) == ("", 0)
    assert "was not saved" in caplog.text
