import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from aerobee.client.send_modes.spill_file import Kept, SpillFile
from aerobee.errors import CorruptFile, Misuse


def kept(number: int) -> Kept:
    return Kept("t", b"%d" % number, b"UNIQ_KEY\x01i\x02", 1, "key", "group", 1000 + number)


def test_messages_come_out_in_the_order_in_which_they_were_kept(tmp_path: Path) -> None:
    path = str(tmp_path / "spill.sqlite")
    file = SpillFile(path)
    file.add([kept(0), kept(1)])
    file.add([kept(2)])
    assert [message for _, message in file.first(10)] == [kept(0), kept(1), kept(2)]
    assert [message for _, message in file.first(2)] == [kept(0), kept(1)]
    assert file.waiting() == (3, sum(kept(number).size for number in range(3)))
    file.remove([number for number, _ in file.first(1)])
    file.close()
    again = SpillFile(path)
    assert [message for _, message in again.first(10)] == [kept(1), kept(2)]
    again.close()


def test_a_message_that_was_removed_never_lends_its_number(tmp_path: Path) -> None:
    file = SpillFile(str(tmp_path / "spill.sqlite"))
    (first,) = file.add([kept(0)])
    file.remove([first])
    (second,) = file.add([kept(1)])
    assert second > first
    file.close()


def test_what_was_refused_stays_and_waits_no_more(tmp_path: Path) -> None:
    path = tmp_path / "spill.sqlite"
    file = SpillFile(str(path))
    first, _ = file.add([kept(0), kept(1)])
    file.refuse(first, "too large")
    assert [message for _, message in file.first(10)] == [kept(1)]
    assert file.waiting().messages == 1
    file.close()
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT body, refused FROM waiting ORDER BY id").fetchall()
    assert rows == [(b"0", "too large"), (b"1", None)]


def test_messages_are_kept_all_or_none(tmp_path: Path) -> None:
    file = SpillFile(str(tmp_path / "spill.sqlite"))
    broken = kept(1)._replace(topic=None)  # type: ignore[arg-type]
    with pytest.raises(OSError, match="NOT NULL"):
        file.add([kept(0), broken])
    assert file.waiting().messages == 0
    file.add([kept(2)])
    file.close()


def test_a_second_owner_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    path = str(tmp_path / "spill.sqlite")
    file = SpillFile(path)
    with pytest.raises(Misuse, match="does another process have it"):
        SpillFile(path)
    file.add([kept(0)])
    file.close()


def test_what_is_no_spill_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"not a database, " * 100)
    with pytest.raises(CorruptFile, match="notes"):
        SpillFile(str(path))
    assert path.read_bytes() == b"not a database, " * 100
    with pytest.raises(Misuse, match="a folder that exists"):
        SpillFile(str(tmp_path / "nowhere" / "spill.sqlite"))


def test_a_file_of_a_later_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "spill.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version=2")
    with pytest.raises(CorruptFile, match="its version is 2"):
        SpillFile(str(path))
