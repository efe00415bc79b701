import errno

import pytest

from aerobee.errors import CorruptFile
from aerobee.sim.disk import SimDisk
from aerobee.sim.faults import PowerCut
from aerobee.storage.metadata.config_file import ConfigFile, Loaded

PATH = "store/config/topics.json"
BACKUP = PATH + ".bak"


def disk_with(**files: bytes) -> SimDisk:
    """A disk whose config folder holds `current` and `backup`, where they are given."""
    disk = SimDisk()
    disk.make_directory("store/config")
    for name, content in files.items():
        disk.replace({"current": PATH, "backup": BACKUP}[name], content)
    return disk


def test_a_file_that_was_never_stored_is_none() -> None:
    assert ConfigFile(disk_with(), PATH).load() is None
    assert ConfigFile(SimDisk(), PATH).load() is None


def test_what_was_stored_is_loaded() -> None:
    disk = disk_with()
    ConfigFile(disk, PATH).store({"table": {0: 1}})
    assert ConfigFile(disk, PATH).load() == Loaded({"table": {0: 1}}, "")
    assert disk.read(PATH) == b'{\n\t"table":{\n\t\t0:1\n\t}\n}'


def test_what_was_stored_as_text_is_loaded_and_keeps_a_backup() -> None:
    disk = disk_with(current=b'{"old":1}')
    ConfigFile(disk, PATH).store_text(b'{"new":2}')
    assert (disk.read(PATH), disk.read(BACKUP)) == (b'{"new":2}', b'{"old":1}')
    assert ConfigFile(disk.power_cut(), PATH).load() == Loaded({"new": 2}, "")


def test_the_compact_form_is_for_the_files_that_apache_writes_so() -> None:
    disk = disk_with()
    ConfigFile(disk, PATH, is_pretty=False).store({"a": 1})
    assert disk.read(PATH) == b'{"a":1}'


def test_the_value_before_is_kept_as_the_backup() -> None:
    disk = disk_with()
    file = ConfigFile(disk, PATH)
    for number in range(3):
        file.store({"n": number})
    assert disk.read(PATH) == b'{\n\t"n":2\n}'
    assert disk.read(BACKUP) == b'{\n\t"n":1\n}'


def test_a_first_store_keeps_what_another_process_left() -> None:
    disk = disk_with(current=b'{"n":1}')
    ConfigFile(disk, PATH).store({"n": 2})
    assert disk.read(BACKUP) == b'{"n":1}'


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (b"", "no value"),
        (b'{"n":', "no value"),
        (b'{"n":2}\x00\x00', "after the end"),
        (b"\x00" * 512, "no value"),
        (b"[1]", "no JSON object"),
    ],
)
def test_the_backup_is_used_and_that_is_said_when_the_file_is_damaged(
    damage: bytes, reason: str
) -> None:
    disk = disk_with(current=damage, backup=b'{"n":1}')
    loaded = ConfigFile(disk, PATH).load()
    assert loaded is not None
    assert loaded.value == {"n": 1}
    assert PATH in loaded.fault
    assert reason in loaded.fault


def test_a_backup_alone_is_used_because_apache_leaves_it_so_in_the_middle_of_a_store() -> None:
    loaded = ConfigFile(disk_with(backup=b'{"n":1}'), PATH).load()
    assert loaded is not None
    assert loaded.value == {"n": 1}
    assert "no such file" in loaded.fault


@pytest.mark.parametrize(
    "files",
    [
        {"current": b"", "backup": b""},
        {"current": b"{", "backup": b"}"},
        {"current": b"{"},
        {"current": b""},
        {"backup": b"{"},
    ],
)
def test_damage_is_never_taken_for_an_empty_state(files: dict[str, bytes]) -> None:
    disk = disk_with(**files)
    with pytest.raises(CorruptFile) as caught:
        ConfigFile(disk, PATH).load()
    assert caught.value.path == PATH
    assert "restore" in caught.value.hint
    for name, content in files.items():
        assert disk.read(PATH if name == "current" else BACKUP) == content


def test_a_damaged_file_never_replaces_a_good_backup() -> None:
    disk = disk_with(current=b'{"n":', backup=b'{"n":1}')
    file = ConfigFile(disk, PATH)
    file.load()
    file.store({"n": 3})
    assert disk.read(PATH) == b'{\n\t"n":3\n}'
    assert disk.read(BACKUP) == b'{"n":1}'


def test_a_file_that_the_disk_cannot_read_is_damaged_and_not_missing() -> None:
    disk = disk_with(current=b'{"n":2}', backup=b'{"n":1}')
    disk.faults.fail_call(1, errno.EIO)
    loaded = ConfigFile(disk, PATH).load()
    assert loaded is not None
    assert loaded.value == {"n": 1}
    assert "cannot be read" in loaded.fault


def stored_twice() -> tuple[SimDisk, ConfigFile]:
    disk = disk_with()
    file = ConfigFile(disk, PATH)
    file.store({"n": 0})
    file.store({"n": 1})
    return disk, file


def disk_calls_of_a_store() -> int:
    disk, file = stored_twice()
    before = len(disk.faults.calls)
    file.store({"n": 2})
    return len(disk.faults.calls) - before


def test_a_power_cut_at_any_disk_call_leaves_the_old_value_or_the_new() -> None:
    seen = set()
    for n in range(1, disk_calls_of_a_store() + 1):
        disk, file = stored_twice()
        disk.faults.power_cut_at(n)
        with pytest.raises(PowerCut):
            file.store({"n": 2})
        for survivor in disk.crash_states():
            loaded = ConfigFile(survivor, PATH).load()
            assert loaded is not None, survivor.origin
            assert loaded.fault == "", survivor.origin
            seen.add(loaded.value["n"])
    assert seen == {1, 2}


def test_once_stored_a_value_survives_every_power_cut() -> None:
    disk, _ = stored_twice()
    for survivor in disk.crash_states():
        assert ConfigFile(survivor, PATH).load() == Loaded({"n": 1}, ""), survivor.origin


def test_a_store_that_fails_at_any_disk_call_can_be_repeated() -> None:
    for n in range(1, disk_calls_of_a_store() + 1):
        disk, file = stored_twice()
        disk.faults.fail_call(n)
        with pytest.raises(OSError, match="Input/output error"):
            file.store({"n": 2})
        loaded = ConfigFile(disk, PATH).load()
        assert loaded is not None
        assert loaded.value["n"] in (1, 2)
        file.store({"n": 2})
        assert ConfigFile(disk, PATH).load() == Loaded({"n": 2}, "")
        backup = ConfigFile(disk, BACKUP).load()
        assert backup is not None
        assert backup.value["n"] in (1, 2)
