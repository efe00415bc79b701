import os
from pathlib import Path

import pytest

from aerobee.app.conversion.store_facts import StoreFacts, held_store
from aerobee.errors import CorruptFile, NotFound, StoreLocked
from aerobee.protocol.message.durable_mark_slots import DurableMark, encode_slot
from aerobee.raft.saved_state import first_state
from aerobee.raft.state_file import save_state
from aerobee.replication.raft_state import FILE, LEFT_FILE
from aerobee.storage.recover.checkpoint import FILE_BYTES, Checkpoint, CheckpointFields
from aerobee.system.disk import MappedDisk


def a_store(folder: Path) -> str:
    (folder / "commitlog").mkdir()
    (folder / "durable_mark").write_bytes(encode_slot(DurableMark(flushed=77), 1))
    disk, path = MappedDisk(), str(folder / "checkpoint")
    disk.replace(path, bytes(FILE_BYTES))
    checkpoint = Checkpoint.open(disk, path)
    checkpoint.write(CheckpointFields(confirmed_offset=70))
    checkpoint.sync()
    return str(folder)


def test_the_facts_of_a_single_brokers_store(tmp_path: Path) -> None:
    root = a_store(tmp_path)
    with held_store(root) as facts:
        assert facts == StoreFacts(root, 0, 77, 70, True, None, None)
        with pytest.raises(StoreLocked, match="a broker has"), held_store(root):
            pass


def test_the_facts_of_a_members_store(tmp_path: Path) -> None:
    root = a_store(tmp_path)
    state, left = first_state(), first_state()._replace(term=4)
    save_state(MappedDisk(), os.path.join(root, FILE), state)
    save_state(MappedDisk(), os.path.join(root, LEFT_FILE), left)
    (tmp_path / "abort").write_bytes(b"")
    with held_store(root) as facts:
        assert (facts.state, facts.left, facts.is_clean) == (state, left, False)
    (tmp_path / FILE).write_bytes(b"ARft and nothing else")
    with pytest.raises(CorruptFile), held_store(root):
        pass


def test_a_store_of_rocketmq_has_no_mark(tmp_path: Path) -> None:
    (tmp_path / "commitlog").mkdir()
    with held_store(str(tmp_path)) as facts:
        assert (facts.log_end, facts.confirmed) == (None, 0)


def test_a_folder_that_is_no_store_is_none(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="it has no commitlog"), held_store(str(tmp_path)):
        pass
