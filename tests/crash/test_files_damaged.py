"""A hand, a tool or a dying disk takes a whole file: a named refusal or a full rebuild, no gap.

Each file of a stopped store is truncated, emptied, deleted, zeroed, overwritten, made longer or
swapped with its neighbour; names are added that belong to nobody. What may come of it:

    refused   the store does not open; the error names the file or its folder, the log is unchanged
    rebuilt   it opens, every message is there, and all that is derived is as a rebuild makes it
    named     it opens; messages of the damaged file are errors that name it, all others are there
    trimmed   the oldest file of log or queue is gone, as if by retention, and `min_offset` says so
    keyless   the same of an index file, of which nobody counts how many there were: its keys are
              not found any more, every message is there
"""

import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

import pytest

from aerobee.app.chaos.log_check import Queue
from aerobee.errors import CorruptFile, CorruptRecord
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.defects import NO_DEFECTS, Defects
from aerobee.storage.store import Store
from tests.crash.recovery_check import LOG, Rebuilds, Truth, derived_of
from tests.store_kit import EVERYTHING, ROOT, SMALL, StoreKit, batch_draft, draft, properties

Files = dict[str, bytes]

QUEUES: tuple[Queue, ...] = ((b"Orders", 0), (b"Orders", 1), (b"Refunds", 0))


class Undamaged(NamedTuple):
    files: Files
    truth: Truth
    end_offset: int


@cache
def base(stop: str) -> Undamaged:
    """Three log files, three of the busiest queue, three of the index; `stop`: clean or cut."""
    kit = StoreKit(config=SMALL)
    for number in range(44):
        queue = QUEUES[(0, 0, 1, 2)[number % 4]]
        if number % 10 == 9:
            kit.append(batch_draft(*queue, [b"a", b"b"]))
        else:
            body = b"%d" % number * (number % 40 * 4)
            kit.append(draft(*queue, body, properties(KEYS=f"k{number}", TAGS="t")))
        kit.step()
    kit.settle()
    end = kit.store.end_offset
    if stop == "clean":
        kit.store.close()
    files = kit.disk.power_cut().files()
    log = b"".join(data for path, data in sorted(files.items()) if path.startswith(LOG))
    files = {path: data for path, data in files.items() if not path.startswith(LOG) or any(data)}
    assert [len(_of_kind(files, kind)) for kind in ("log", "queue", "index")] == [3, 3, 3]
    return Undamaged(files, Truth(log[:end]), end)


def disk_of(files: Files) -> SimDisk:
    disk = SimDisk()
    for path, content in files.items():
        disk.replace(path, content)
    return disk


FOLDERS = {
    "log": f"{LOG}/",
    "queue": f"{ROOT}/consumequeue/Orders/0/",
    "index": f"{ROOT}/index/",
    "checkpoint": f"{ROOT}/checkpoint",
    "durable_mark": f"{ROOT}/durable_mark",
    "abort": f"{ROOT}/abort",
    "lock": f"{ROOT}/lock",
}


def _of_kind(files: Files, kind: str) -> list[str]:
    return sorted(path for path in files if path.startswith(FOLDERS[kind]))


# Damages: each gives the changed files, given one path of a kind.


def truncated(files: Files, path: str) -> Files:
    return {**files, path: files[path][: len(files[path]) // 2]}


def shorter(files: Files, path: str) -> Files:
    return {**files, path: files[path][:-1]}


def emptied(files: Files, path: str) -> Files:
    return {**files, path: b""}


def deleted(files: Files, path: str) -> Files:
    return {name: content for name, content in files.items() if name != path}


def zeroed(files: Files, path: str) -> Files:
    return {**files, path: bytes(len(files[path]))}


def overwritten(files: Files, path: str) -> Files:
    return {**files, path: random.Random(1).randbytes(len(files[path]))}


def lengthened(files: Files, path: str) -> Files:
    return {**files, path: files[path] + b"junk"}


def swapped(files: Files, path: str) -> Files:
    """With another of its folder."""
    folder = path.rpartition("/")[0]
    other = max(name for name in files if name.rpartition("/")[0] == folder and name != path)
    return {**files, path: files[other], other: files[path]}


def beside(files: Files, path: str) -> Files:
    """Names that are nobody's, beside it."""
    folder = path.rpartition("/")[0]
    names = (".nfs0001", "README", "backup.tmp", "0", "x" * 20, "00000000000000000000.old")
    return {**files, **{f"{folder}/{name}": b"not ours" for name in names}}


DAMAGES: tuple[Callable[[Files, str], Files], ...] = (
    truncated,
    shorter,
    emptied,
    deleted,
    zeroed,
    overwritten,
    lengthened,
    swapped,
    beside,
)


# Judging.


def outcome_of(damage: Files, stop: str, defects: Defects = NO_DEFECTS) -> str:
    """Which of the five it is; AssertionError if none."""
    known = base(stop)
    changed = [path for path in known.files if damage.get(path) != known.files[path]]
    disk = disk_of(damage)
    try:
        store = Store.open(disk, ROOT, SMALL, SimDiskWorker(), defects=defects)
    except (CorruptFile, CorruptRecord) as error:
        refusal = error
    else:
        return _outcome_of_open(store, disk, known, changed)
    assert any(path.startswith(refusal.path) or path in refusal.hint for path in changed), refusal
    logs = {path: content for path, content in damage.items() if path.startswith(LOG) and content}
    assert {path: disk.files().get(path) for path in logs} == logs, "a refusal changed the log"
    return "refused"


def _outcome_of_open(store: Store, disk: SimDisk, known: Undamaged, changed: list[str]) -> str:
    assert store.end_offset == known.end_offset, "the end of the log"
    counts: dict[Queue, int] = {}
    errors = 0
    for record in known.truth.records:
        offset = counts.get(record.queue, 0)
        counts[record.queue] = offset + 1
        queue = store.queue(*record.queue)
        assert queue is not None
        if offset < queue.min_offset:
            continue
        found = _served(store, record.queue, offset)
        if found != record.content:
            assert isinstance(found, CorruptFile | CorruptRecord), f"{record.end}: {found!r}"
            assert any(path.startswith(found.path) for path in changed), found
            errors += 1
    for queue in store.queues():
        place = (queue.topic, queue.queue_id)
        assert queue.max_offset == counts[place], f"{place} ends early"
    if errors:
        return "named"
    if store.min_offset > 0 or any(queue.min_offset > 0 for queue in store.queues()):
        return "trimmed"
    rebuilt = Rebuilds(SMALL).of(known.truth.log)
    derived = {path: content for path, content in derived_of(disk).items() if path in rebuilt}
    index = f"{ROOT}/index/"
    missing = rebuilt.keys() - derived.keys()
    if missing and all(path.startswith(index) for path in missing):
        assert missing == set(changed)
        return "keyless"
    assert derived == rebuilt
    return "rebuilt"


def _served(store: Store, queue: Queue, offset: int) -> bytes | CorruptFile | CorruptRecord:
    try:
        return b"".join(store.read(*queue, offset, 1, EVERYTHING).slices)
    except (CorruptFile, CorruptRecord) as error:
        return error


# Every damage to every file.


def cases() -> Iterator[tuple[str, str, str]]:
    """(kind, damage, which file of the kind)."""
    for kind in FOLDERS:
        for damage in DAMAGES:
            places = ("first", "middle", "last") if kind in ("log", "queue", "index") else ("only",)
            for place in places:
                if damage is not swapped or place == "first":  # alone there is no other
                    yield kind, damage.__name__, place


REFUSED = {
    ("log", "truncated"),
    ("log", "shorter"),
    ("log", "emptied"),
    ("log", "lengthened"),
    ("log", "deleted"),
    ("durable_mark", "truncated"),
    ("durable_mark", "shorter"),
    ("durable_mark", "emptied"),
    ("durable_mark", "lengthened"),
    ("durable_mark", "zeroed"),
    ("durable_mark", "overwritten"),
}
NAMED = {
    ("log", "zeroed"),
    ("log", "overwritten"),
    ("log", "swapped"),
    ("queue", "zeroed"),
    ("queue", "overwritten"),
    ("queue", "swapped"),
}


@pytest.mark.parametrize("stop", ["clean", "cut"])
@pytest.mark.parametrize(("kind", "damage", "place"), list(cases()))
def test_a_damaged_file_is_named_or_made_again(
    kind: str, damage: str, place: str, stop: str
) -> None:
    files = base(stop).files
    paths = _of_kind(files, kind)
    if not paths:
        assert (kind, stop) == ("abort", "clean")
        return
    index = {"first": 0, "middle": len(paths) // 2, "last": -1, "only": 0}[place]
    change = next(one for one in DAMAGES if one.__name__ == damage)
    assert outcome_of(change(files, paths[index]), stop) in _allowed(kind, damage, place, stop)


def _allowed(kind: str, damage: str, place: str, stop: str) -> set[str]:
    if damage == "deleted" and place == "first" and kind in ("log", "queue"):
        # Retention may have removed it just before a crash; before a clean stop the mark knows.
        return {"rebuilt"} if (kind, stop) == ("queue", "clean") else {"trimmed"}
    if damage == "deleted" and place != "last" and kind == "index":
        return {"keyless"}
    if (kind, damage) in REFUSED:
        return {"refused"}
    if (kind, damage) in NAMED:
        return {"named", "refused", "rebuilt"}
    # After a clean stop a queue file of a wrong size may mean a wrong configuration.
    return {"rebuilt", "refused"} if (kind, stop) == ("queue", "clean") else {"rebuilt"}


@pytest.mark.parametrize("stop", ["clean", "cut"])
@pytest.mark.parametrize("folder", ["consumequeue", "index", "consumequeue/Orders"])
def test_a_folder_of_derived_files_that_is_gone_is_made_again(folder: str, stop: str) -> None:
    files = base(stop).files
    left = {p: data for p, data in files.items() if not p.startswith(f"{ROOT}/{folder}/")}
    assert len(left) < len(files)
    assert outcome_of(left, stop) == "rebuilt"


@pytest.mark.parametrize("stop", ["clean", "cut"])
def test_a_log_that_is_gone_is_missed(stop: str) -> None:
    files = base(stop).files
    left = {path: data for path, data in files.items() if not path.startswith(LOG)}
    assert outcome_of(left, stop) == "refused"


def test_a_log_file_of_the_future_is_refused() -> None:
    files = base("clean").files
    junk = {f"{LOG}/{1 << 40:020d}": bytes(SMALL.log_file_bytes)}
    disk = disk_of({**files, **junk})
    with pytest.raises(CorruptFile, match="the file before it is missing"):
        Store.open(disk, ROOT, SMALL, SimDiskWorker())
