import pytest

from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.metadata.background_save import BackgroundSave


class Saved:
    """What was written, what was told, and whether a save was under way when it was."""

    def __init__(self) -> None:
        self.worker = SimDiskWorker()
        self.save = BackgroundSave(self.worker)
        self.written: list[str] = []
        self.told: list[tuple[str, bool]] = []

    def begin(self, text: str) -> None:
        self.save.begin(lambda: self.written.append(text), self.tell)

    def tell(self, error: BaseException | None) -> None:
        self.told.append((str(error), self.save.is_busy))


def test_it_is_busy_until_the_core_has_heard_that_it_is_over() -> None:
    saved = Saved()
    assert not saved.save.is_busy
    saved.begin("a")
    assert (saved.save.is_busy, saved.written) == (True, [])
    saved.worker.run_all()
    assert (saved.save.is_busy, saved.written, saved.told) == (True, ["a"], [])
    saved.worker.collect()
    assert (saved.save.is_busy, saved.told) == (False, [("None", False)])


def test_what_went_wrong_is_told_and_another_may_begin() -> None:
    saved = Saved()

    def fail() -> None:
        raise OSError("full")

    saved.save.begin(fail, saved.tell)
    saved.save.wait()
    assert saved.told == [("full", False)]
    saved.begin("b")
    saved.save.wait()
    assert saved.written == ["b"]


def test_one_cannot_begin_while_another_is_under_way() -> None:
    saved = Saved()
    saved.begin("a")
    with pytest.raises(AssertionError):
        saved.begin("b")


def test_waiting_for_nothing_is_over_at_once() -> None:
    saved = Saved()
    saved.save.wait()
    saved.begin("a")
    saved.save.wait()
    saved.save.wait()
    assert saved.told == [("None", False)]
