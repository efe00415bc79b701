import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from aerobee.console.session.action_log import (
    DONE,
    FILE,
    FILE_BYTES_MAX,
    FILES_MAX,
    ActionEntry,
    ActionLog,
)


def _entry(at: int, detail: str = "") -> ActionEntry:
    return ActionEntry(at, "alice", "admin", "127.0.0.1", "deleteTopic", "orders", DONE, detail)


def _add(folder: Path, *entries: ActionEntry) -> ActionLog:
    async def live() -> ActionLog:
        with ThreadPoolExecutor(1) as worker:
            log = ActionLog(str(folder), worker)
            for one in entries:
                await log.add(one)
            return log

    return asyncio.run(live())


def test_entries_are_lines_of_json_and_the_newest_come_first(tmp_path: Path) -> None:
    log = _add(tmp_path, _entry(1), _entry(2))
    assert [one.at for one in log.newest()] == [2, 1]
    lines = (tmp_path / FILE).read_text().splitlines()
    assert [json.loads(line)["at"] for line in lines] == [1, 2]
    assert json.loads(lines[0])["from"] == "127.0.0.1"
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600


def test_entries_of_an_earlier_process_are_read_and_a_cut_line_is_not(tmp_path: Path) -> None:
    _add(tmp_path, _entry(1), _entry(2))
    with (tmp_path / FILE).open("a") as file:
        file.write('{"at": 3, "user')
    assert [one.at for one in _add(tmp_path).newest()] == [2, 1]


def test_a_large_file_makes_room_for_a_new_one_and_the_oldest_goes(tmp_path: Path) -> None:
    for number in range(FILES_MAX + 1):
        (tmp_path / FILE).write_bytes(b"x" * FILE_BYTES_MAX)
        _add(tmp_path, _entry(number))
    there = sorted(path.name for path in tmp_path.iterdir())
    assert there == [f"{FILE}.{number}" for number in range(1, FILES_MAX)]
