from pathlib import Path

import pytest

from aerobee.app.offline.queue_walk import UnitCheck, units_of
from aerobee.app.offline.store_folder import open_store
from tests.fixture_store import BATCH_QUEUE_TOPIC, STORES, expected, unpack


@pytest.mark.parametrize("name", STORES)
def test_every_unit_that_apache_wrote_stands_for_its_record(tmp_path: Path, name: str) -> None:
    with open_store(str(unpack(name, tmp_path))) as folder:
        check = UnitCheck(folder)
        units = [(queue, unit) for queue in folder.queues() for unit in units_of(queue)]
        assert len(units) > 100
        assert {check.fault(queue, unit) for queue, unit in units} == {None}


def test_units_say_what_apache_says(tmp_path: Path) -> None:
    told = expected("clean")["topics"]["FixPlain"]["queues"]["00"]["messages"]
    with open_store(str(unpack("clean", tmp_path))) as folder:
        (queue,) = folder.queues("FixPlain", 0)
        found = [(unit.queue_offset, unit.log_offset, unit.size) for unit in units_of(queue)]
        assert found == [
            (one["queueOffset"], one["commitLogOffset"], one["storeSize"]) for one in told
        ]
        (batches,) = folder.queues(BATCH_QUEUE_TOPIC, 0)
        assert sum(unit.message_count for unit in units_of(batches)) > len(list(units_of(batches)))


@pytest.mark.parametrize(
    ("position", "data", "fault"),
    [
        (0, b"\x00\x00\x7f\x00\x00\x00\x00\x00", "points behind the log"),
        (7, b"\x01", "points at no record"),
        (11, b"\x01", "says 257 bytes|says .* bytes, the record"),
        (12, b"\x00\x00\x00\x01", "is not of its record's tag"),
    ],
)
def test_a_unit_that_stands_for_something_else_is_named(
    tmp_path: Path, position: int, data: bytes, fault: str
) -> None:
    root = unpack("clean", tmp_path)
    with (root / "consumequeue" / "FixPlain" / "0" / f"{0:020}").open("r+b") as file:
        file.seek(20 * 5 + position)
        file.write(data)
    with open_store(str(root)) as folder:
        (queue,) = folder.queues("FixPlain", 0)
        check = UnitCheck(folder)
        faults = {unit.queue_offset: check.fault(queue, unit) for unit in units_of(queue)}
    assert [offset for offset, said in faults.items() if said is not None] == [5]
    with pytest.raises(AssertionError, match=fault):
        raise AssertionError(faults[5])


def test_a_unit_of_another_queue_is_named(tmp_path: Path) -> None:
    root = unpack("clean", tmp_path)
    folder_of = root / "consumequeue" / "FixPlain"
    other = (folder_of / "1" / f"{0:020}").read_bytes()[:20]
    with (folder_of / "0" / f"{0:020}").open("r+b") as file:
        file.write(other)
    with open_store(str(root)) as folder:
        (queue,) = folder.queues("FixPlain", 0)
        said = UnitCheck(folder).fault(queue, next(units_of(queue)))
    assert said == "points at a record of FixPlain:1:0"
