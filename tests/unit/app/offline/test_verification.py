from pathlib import Path

import pytest

from aerobee.app.offline.log_walk import LogWalk
from aerobee.app.offline.store_folder import open_store
from aerobee.app.offline.verification import StoreFault, Verification
from aerobee.protocol.message.durable_mark_slots import DurableMark, encode_slot
from tests.fixture_store import unpack


def verified(root: Path) -> tuple[Verification, list[StoreFault]]:
    with open_store(str(root)) as folder:
        verification = Verification(folder)
        return verification, list(verification.findings())


def flip(path: Path, position: int) -> None:
    with path.open("r+b") as file:
        file.seek(position)
        byte = file.read(1)[0]
        file.seek(position)
        file.write(bytes([byte ^ 0xFF]))


@pytest.mark.parametrize(
    ("name", "counts"),
    [("clean", (2829, 2828, 7105)), ("killed", (4368, 4366, 11719))],
)
def test_stores_that_apache_wrote_have_no_damage(
    tmp_path: Path, name: str, counts: tuple[int, ...]
) -> None:
    looked_at: list[int] = []
    with open_store(str(unpack(name, tmp_path))) as folder:
        verification = Verification(folder, looked_at.append)
        found = list(verification.findings())
    assert (verification.records, verification.units, verification.keys) == counts
    assert sum(looked_at) == sum(counts)
    assert [one.kind for one in found] == (["note"] if name == "killed" else [])


def test_damage_is_reported_with_its_position(tmp_path: Path) -> None:
    root = unpack("clean", tmp_path)
    flip(root / "commitlog" / f"{1 << 20:020}", 150)
    flip(root / "consumequeue" / "FixRoll" / "0" / f"{20_000:020}", 47)
    (root / "config" / "topics.json").write_text('{"a": ')
    _, found = verified(root)
    assert {one.kind for one in found} == {"damage"}
    log = [one for one in found if "/commitlog/" in one.path]
    assert [(Path(one.path).name, one.position) for one in log] == [(f"{1 << 20:020}", 0)]
    assert "checksum" in log[0].what
    units = [one for one in found if one.path.endswith(f"{20_000:020}")]
    assert 40 in [one.position for one in units]
    assert [one.what for one in found if one.path.endswith("topics.json")] == ["it is no JSON"]


def test_a_torn_tail_is_a_note_unless_it_was_on_the_disk(tmp_path: Path) -> None:
    root = unpack("killed", tmp_path)
    clean, _ = verified(root)
    with open_store(str(root)) as folder:
        *_, last = LogWalk(folder)
    flip(root / "commitlog" / f"{2 << 20:020}", last.position + 5)
    torn, found = verified(root)
    assert torn.log_end < clean.log_end
    assert {one.kind for one in found} == {"note"}
    assert any("torn tail" in one.what for one in found)
    (root / "durable_mark").write_bytes(encode_slot(DurableMark(flushed=clean.log_end), 1))
    _, found = verified(root)
    damage = [one for one in found if one.kind == "damage"]
    assert len(damage) == 2
    assert "went on to" in damage[1].what


def test_of_the_same_damage_the_first_are_named_and_the_rest_counted(tmp_path: Path) -> None:
    root = unpack("clean", tmp_path)
    for file in (root / "commitlog").iterdir():
        file.write_bytes(bytes(file.stat().st_size))
    verification, found = verified(root)
    assert verification.records == 0
    roll = [one for one in found if "FixRoll" in one.path]
    assert len(roll) == 21
    assert roll[-1].what == "2280 more units like these"
