import contextlib
import os
import select
import threading
from pathlib import Path

from aerobee.app.audit_folder import CURRENT, Wanted, files_in, read_lines
from aerobee.app.process.audit_file import WAITING_MAX, AuditFile
from aerobee.app.settings.audit_settings import AuditConfig
from aerobee.ports.audit import AuditEvent

EVENT = AuditEvent(1_000, "broker-a", "root", "10.0.0.9", "DELETE", ("Topic:a",), "allow", "OK")


def closed_after(folder: Path, config: AuditConfig, *events: AuditEvent) -> AuditFile:
    file = AuditFile(str(folder), config)
    for event in events:
        file.write(event)
    file.close()
    return file


def users(folder: Path) -> list[str]:
    return [record["user"] for record in read_lines(str(folder), Wanted())]


def test_events_are_lines_of_a_file_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "audit"
    file = closed_after(folder, AuditConfig(), EVENT, EVENT._replace(user="alice"))
    assert users(folder) == ["root", "alice"]
    assert (folder / CURRENT).stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (file.written, file.lost) == (2, 0)
    (metric,) = file.metrics()
    assert [sample.value for sample in metric.samples] == [2, 0]


def test_nothing_is_made_before_the_first_event(tmp_path: Path) -> None:
    before = threading.active_count()
    file = AuditFile(str(tmp_path / "audit"), AuditConfig())
    assert threading.active_count() == before
    file.close()
    assert not (tmp_path / "audit").exists()


def test_full_files_are_put_aside_and_the_oldest_removed(tmp_path: Path) -> None:
    config = AuditConfig(file_bytes_max=4096, files_max=3)
    for number in range(80):  # a batch each: what is in one is not divided
        closed_after(tmp_path, config, EVENT._replace(user=f"{number:03d}", reason="x" * 300))
    names = files_in(str(tmp_path))
    assert len(names) == 3
    assert names[-1] == CURRENT
    found = users(tmp_path)
    assert found == sorted(found)
    assert found[-1] == "079"
    assert found[0] > "030"
    assert all((tmp_path / name).stat().st_size <= 4096 for name in names)


def test_a_line_that_was_cut_off_does_not_swallow_the_next(tmp_path: Path) -> None:
    (tmp_path / CURRENT).write_text('{"user":"cut')
    closed_after(tmp_path, AuditConfig(), EVENT)
    assert users(tmp_path) == ["root"]


def test_a_disk_that_takes_nothing_costs_events_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "audit").write_text("a file where the folder should be")
    file = closed_after(tmp_path / "audit", AuditConfig(), EVENT, EVENT)
    assert (file.written, file.lost) == (0, 2)


def test_a_disk_that_hangs_is_not_waited_for(tmp_path: Path) -> None:
    """A pipe that nobody reads is full after some pages."""
    os.mkfifo(tmp_path / CURRENT)
    file = AuditFile(str(tmp_path), AuditConfig())
    reader = os.open(tmp_path / CURRENT, os.O_RDONLY | os.O_NONBLOCK)
    try:
        for _ in range(3 * WAITING_MAX):
            file.write(EVENT)
        assert file.lost >= WAITING_MAX // 2
    finally:
        while file.written + file.lost < 3 * WAITING_MAX:
            if select.select([reader], [], [], 0.01)[0]:
                with contextlib.suppress(BlockingIOError):
                    os.read(reader, 1 << 20)
        file.close()
        os.close(reader)
