from aerobee.errors import Misuse
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.metadata.saved_value import Change, SavedValue


class Saved:
    """A value of text, what was written of it, and what the askers were told."""

    def __init__(self) -> None:
        self.worker = SimDiskWorker()
        self.written: list[str] = []
        self.told: list[str] = []
        self.fault: Exception | None = None
        self.value = SavedValue(self.worker, self._save, "")

    def _save(self, value: str) -> None:
        if self.fault is not None:
            raise self.fault
        self.written.append(value)

    def change(self, name: str, change: Change[str] | None = None) -> None:
        def done(error: BaseException | None) -> None:
            self.told.append(f"{name}: {error}")

        self.value.change(change or (lambda value: value + name), done)

    def finish(self) -> None:
        while self.worker.run_all() + self.worker.collect():
            pass


def test_a_change_is_not_seen_before_it_is_saved() -> None:
    saved = Saved()
    saved.change("a")
    assert saved.value.value == ""
    saved.worker.run_all()
    assert (saved.value.value, saved.told) == ("", [])
    saved.worker.collect()
    assert (saved.value.value, saved.told) == ("a", ["a: None"])


def test_changes_that_come_during_a_save_go_into_the_next_together() -> None:
    saved = Saved()
    for name in "abc":
        saved.change(name)
    assert saved.worker.pending() == 1
    saved.finish()
    assert saved.written == ["a", "abc"]
    assert saved.told == ["a: None", "b: None", "c: None"]


def test_a_change_that_could_not_be_saved_never_happened() -> None:
    saved = Saved()
    saved.change("a")
    saved.change("b")
    saved.fault = OSError("full")
    saved.worker.run_all()
    saved.fault = None
    saved.finish()
    assert saved.told == ["a: full", "b: None"]
    assert saved.written == ["b"]
    assert saved.value.value == "b"


def test_a_refused_change_does_not_spoil_those_beside_it() -> None:
    def refuse(value: str) -> str:
        raise Misuse("no")

    saved = Saved()
    saved.change("x", refuse)
    assert saved.told == ["x: no"]
    saved.change("a")
    saved.change("y", refuse)
    saved.change("b")
    saved.finish()
    assert saved.told == ["x: no", "a: None", "y: no", "b: None"]
    assert saved.value.value == "ab"


def test_a_change_to_what_is_there_already_is_not_written() -> None:
    saved = Saved()
    saved.change("same", lambda value: value)
    assert saved.told == ["same: None"]
    assert (saved.written, saved.worker.pending()) == ([], 0)


def test_an_asker_may_ask_again_when_it_is_told() -> None:
    saved = Saved()
    saved.value.change(lambda value: value + "a", lambda error: saved.change("b"))
    saved.change("c")
    saved.finish()
    assert saved.value.value == "acb"
