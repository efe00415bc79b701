import subprocess
import sys
from pathlib import Path

import pytest

from aerobee.app.offline.store_folder import files_of, open_file, open_store
from aerobee.errors import NotFound, StoreLocked
from aerobee.protocol.message.durable_mark_slots import DurableMark, encode_slot
from tests.fixture_store import BATCH_QUEUE_TOPIC, unpack


def test_the_files_of_a_store_are_found_in_order(tmp_path: Path) -> None:
    with open_store(str(unpack("clean", tmp_path))) as folder:
        assert [file.first for file in folder.log] == [0, 1_048_576, 2_097_152]
        assert folder.log_start == 0
        assert folder.find(1_048_576) is folder.log[1]
        assert folder.find(3 << 20) is None
        assert len(folder.index_paths()) > 1
        queues = folder.queues("FixPlain")
        assert [(one.queue_id, one.is_batch) for one in queues] == [
            (number, False) for number in range(4)
        ]
        assert [one.is_batch for one in folder.queues(BATCH_QUEUE_TOPIC, 0)] == [True]
        assert not folder.is_aborted()
        assert folder.mark() is None


def test_the_newer_sound_slot_of_the_mark_counts(tmp_path: Path) -> None:
    (tmp_path / "commitlog").mkdir()
    old, new = (encode_slot(DurableMark(flushed=number), number) for number in (1, 2))
    mark = tmp_path / "durable_mark"
    mark.write_bytes(old + bytes(4096 - len(old)) + new)
    with open_store(str(tmp_path)) as folder:
        found = folder.mark()
        assert found is not None
        assert found.flushed == 2
    mark.write_bytes(old + bytes(4096 - len(old)) + new[:-1] + b"!")
    with open_store(str(tmp_path)) as folder:
        found = folder.mark()
        assert found is not None
        assert found.flushed == 1


def test_a_store_that_a_broker_has_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "commitlog").mkdir()
    (tmp_path / "lock").write_bytes(b"lock")
    # A lock is a process's: the broker has to be another one.
    program = (
        "import fcntl, os, sys;"
        "handle = os.open(sys.argv[1], os.O_RDWR);"
        "fcntl.lockf(handle, fcntl.LOCK_EX, 1, 0, os.SEEK_SET);"
        "print('locked', flush=True);"
        "sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as broker:
        assert broker.stdout is not None
        assert broker.stdout.readline() == b"locked\n"
        with pytest.raises(StoreLocked, match="a broker has"), open_store(str(tmp_path)):
            pass
        broker.kill()
    with open_store(str(tmp_path)) as folder:
        assert folder.log == []


def test_what_is_no_store_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no commitlog"), open_store(str(tmp_path)):
        pass


def test_an_empty_file_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "00000000000000000007").touch()
    (tmp_path / "other").touch()
    (file,) = files_of(str(tmp_path))
    assert (file.first, file.size, file.end) == (7, 0, 7)
    assert open_file(file.path).data == b""
    assert files_of(str(tmp_path / "nowhere")) == []
