import os
from pathlib import Path

from aerobee.app.process.source_watch import SourceWatch


def test_files_that_are_changed_made_or_deleted_are_told_once(tmp_path: Path) -> None:
    first, second = tmp_path / "first.py", tmp_path / "inside" / "second.py"
    second.parent.mkdir()
    for path in (first, second):
        path.write_text("x = 1", encoding="utf-8")
    watch = SourceWatch(str(tmp_path))
    assert watch.changed() == []
    first.write_text("x = 22", encoding="utf-8")
    assert watch.changed() == [str(first)]
    assert watch.changed() == []
    os.utime(second, ns=(1, 1))
    (tmp_path / "third.py").touch()
    first.unlink()
    assert watch.changed() == sorted(map(str, (first, second, tmp_path / "third.py")))


def test_what_is_no_source_of_the_application_is_passed_over(tmp_path: Path) -> None:
    for name in (".venv", "__pycache__", "build"):
        (tmp_path / name).mkdir()
    watch = SourceWatch(str(tmp_path))
    for name in (".venv/a.py", "__pycache__/a.py", "build/a.py", "notes.md"):
        (tmp_path / name).touch()
    assert watch.changed() == []
