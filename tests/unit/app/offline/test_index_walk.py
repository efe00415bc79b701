from pathlib import Path

import pytest

from aerobee.app.offline.index_walk import IndexCheck, IndexWalk
from aerobee.app.offline.store_folder import open_store
from tests.fixture_store import INDEX_SLOTS, STORES, expected_messages, unpack


@pytest.mark.parametrize("name", STORES)
def test_every_key_that_apache_wrote_is_of_its_record(tmp_path: Path, name: str) -> None:
    with open_store(str(unpack(name, tmp_path))) as folder:
        check = IndexCheck(folder)
        walks = [IndexWalk(path) for path in folder.index_paths()]
        assert walks
        for walk in walks:
            assert walk.slots == INDEX_SLOTS
            assert [check.fault(unit) for unit in walk.units()] == [None] * walk.unit_count


def test_a_key_finds_its_records(tmp_path: Path) -> None:
    told = [
        (message["commitLogOffset"], message["keys"])
        for topic, _, message in expected_messages("clean")
        if topic == "FixPlain" and message.get("keys")
    ]
    with open_store(str(unpack("clean", tmp_path))) as folder:
        walks = [IndexWalk(path) for path in folder.index_paths()]
    for log_offset, keys in told[:50]:
        for key in keys.split():
            found = [unit.log_offset for walk in walks for unit in walk.find("FixPlain", key)]
            assert log_offset in found
    assert [unit for walk in walks for unit in walk.find("FixPlain", "no such key")] == []


@pytest.mark.parametrize(
    ("position", "data", "fault"),
    [
        (0, b"\x00\x00\x00\x07", "is of a key that the record"),
        (4, b"\x00\x00\x7f", "points behind the log"),
        (16, b"\x00\x00\x7f\x00", "which is newer"),
    ],
)
def test_a_unit_that_is_broken_is_named(
    tmp_path: Path, position: int, data: bytes, fault: str
) -> None:
    root = unpack("clean", tmp_path)
    with open_store(str(root)) as folder:
        path = folder.index_paths()[1]
        broken = list(IndexWalk(path).units())[40]
        with open(path, "r+b") as file:
            file.seek(broken.position + position)
            file.write(data)
        check = IndexCheck(folder)
        faults = {unit.number: check.fault(unit) for unit in IndexWalk(path).units()}
    (said,) = [said for said in faults.values() if said is not None]
    assert fault in said
    assert faults[broken.number] == said


def test_a_chain_that_goes_round_ends(tmp_path: Path) -> None:
    root = unpack("clean", tmp_path)
    with open_store(str(root)) as folder:
        path = folder.index_paths()[0]
    units = list(IndexWalk(path).units())
    with open(path, "r+b") as file:
        for unit in units:
            file.seek(unit.position + 16)
            file.write(unit.number.to_bytes(4, "big"))
    assert len(list(IndexWalk(path).find("FixPlain", "whatever"))) <= 1


def test_a_file_that_is_too_short_has_nothing(tmp_path: Path) -> None:
    path = tmp_path / "20261115234635424"
    path.write_bytes(bytes(39))
    walk = IndexWalk(str(path))
    assert (walk.header, walk.unit_count, list(walk.units())) == (None, 0, [])
    assert list(walk.find("T", "k")) == []
