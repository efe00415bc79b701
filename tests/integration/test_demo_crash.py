"""The demonstration of `make demo`: it runs, it cleans up, and it can fail."""

import subprocess
import sys
from pathlib import Path

from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.storage.config import FlushMode
from aerobee.storage.store import Store
from aerobee.system.disk import MappedDisk
from aerobee.system.disk_worker import ThreadDiskWorker
from tools import demo_crash


def write(root: Path, numbers: list[int]) -> None:
    """A store with these messages, in this order, each in the queue of its number."""
    worker = ThreadDiskWorker()
    store = Store.open(MappedDisk(), str(root), demo_crash.config(FlushMode.SYNC), worker)
    draft = MessageDraft()
    draft.topic = demo_crash.TOPIC
    for number in numbers:
        draft.queue_id = number % demo_crash.QUEUES
        draft.set_body(memoryview(demo_crash.body_of(number)))
        store.append(draft, 0)
    store.close()
    worker.close()


def test_the_demonstration_ends_well_and_leaves_nothing_behind(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, demo_crash.__file__, "--messages", "300", "--folder", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "everything acknowledged was read back" in run.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_whole_store_is_found_whole(tmp_path: Path) -> None:
    write(tmp_path, list(range(20)))
    done = demo_crash.recover(str(tmp_path), FlushMode.SYNC, acknowledged=18)
    assert (done.found, done.lost, done.wrong) == (20, 0, 0)


def test_a_lost_message_is_counted(tmp_path: Path) -> None:
    write(tmp_path, list(range(19)))
    done = demo_crash.recover(str(tmp_path), FlushMode.SYNC, acknowledged=20)
    assert (done.found, done.lost) == (19, 1)


def test_a_message_out_of_place_is_counted(tmp_path: Path) -> None:
    write(tmp_path, [0, 1, 2, 3, 8, 4])
    done = demo_crash.recover(str(tmp_path), FlushMode.SYNC, acknowledged=6)
    assert (done.found, done.lost, done.wrong) == (6, 0, 2)
