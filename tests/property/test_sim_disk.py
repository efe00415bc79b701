"""The pretended disk against a model of thirty lines that says what a power cut may leave.

The model keeps, for each sector, every content it ever had since the last sync, and for each
folder, every set of names it ever had since the last sync. A disk after a power cut is legal if
each sector holds one of the former and each folder one of the latter.
"""

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from aerobee.ports.disk import DiskFile
from aerobee.sim.disk import SimDisk
from aerobee.sim.sector_file import SECTOR_BYTES

FOLDERS = ["s/a", "s/b"]
PATHS = [f"{folder}/{name}" for folder in FOLDERS for name in "xyz"]
SIZES = [100, 512, 1300]


class Step(NamedTuple):
    verb: str
    path: str
    other: str  # target of a rename, in whatever folder: only its name is used
    size: int
    value: int


STEPS = st.lists(
    st.builds(
        Step,
        st.sampled_from(["create", "write", "write", "sync", "sync_directory", "remove", "rename"]),
        st.sampled_from(PATHS),
        st.sampled_from(PATHS),
        st.sampled_from(SIZES),
        st.integers(0, 2**20),
    ),
    max_size=25,
)


class ModelFile:
    def __init__(self, handle: DiskFile, size: int) -> None:
        self.handle = handle
        self.content = bytearray(size)
        self.is_length_synced = False
        self.versions: list[set[bytes]] = [{part} for part in self.sectors()]

    def sectors(self) -> list[bytes]:
        starts = range(0, len(self.content), SECTOR_BYTES)
        return [bytes(self.content[start : start + SECTOR_BYTES]) for start in starts]

    def sync(self) -> None:
        self.is_length_synced = True
        self.versions = [{part} for part in self.sectors()]

    def allows(self, found: bytes) -> bool:
        if len(found) != len(self.content):
            half = len(self.content) // 2 // SECTOR_BYTES * SECTOR_BYTES
            return not self.is_length_synced and found in (b"", bytes(half))
        starts = range(0, len(found), SECTOR_BYTES)
        parts = [found[start : start + SECTOR_BYTES] for start in starts]
        return all(part in seen for part, seen in zip(parts, self.versions, strict=True))


class Model:
    def __init__(self) -> None:
        self.names: dict[str, dict[str, ModelFile]] = {folder: {} for folder in FOLDERS}
        self.past_names: dict[str, list[dict[str, ModelFile]]] = {
            folder: [{}] for folder in FOLDERS
        }

    def observe(self) -> None:
        for folder in FOLDERS:
            self.past_names[folder].append(dict(self.names[folder]))
            for file in self.names[folder].values():
                for seen, part in zip(file.versions, file.sectors(), strict=True):
                    seen.add(part)

    def allows(self, disk: SimDisk) -> bool:
        return all(
            any(_matches(disk, folder, names) for names in self.past_names[folder])
            for folder in FOLDERS
        )


def _matches(disk: SimDisk, folder: str, names: dict[str, ModelFile]) -> bool:
    return disk.list_directory(folder) == sorted(names) and all(
        file.allows(disk.read(f"{folder}/{name}")) for name, file in names.items()
    )


def _content(disk: SimDisk) -> dict[str, bytes]:
    paths = [f"{folder}/{name}" for folder in FOLDERS for name in disk.list_directory(folder)]
    return {path: disk.read(path) for path in paths}


def _told(steps: list[Step]) -> tuple[SimDisk, Model]:
    """The same story on the disk and in the model. A step that makes no sense is left out."""
    disk, model = SimDisk(), Model()
    for folder in FOLDERS:
        disk.make_directory(folder)
    for step in steps:
        _take(step, disk, model)
        model.observe()
    disk.observe()
    return disk, model


def _take(step: Step, disk: SimDisk, model: Model) -> None:
    folder, _, name = step.path.rpartition("/")
    names = model.names[folder]
    file = names.get(name)
    if step.verb == "sync_directory":
        disk.sync_directory(folder)
        model.past_names[folder] = [dict(names)]
    elif file is None:
        if step.verb == "create":
            names[name] = ModelFile(disk.create(step.path, step.size), step.size)
    elif step.verb == "write":
        start = step.value % len(file.content)
        end = min(start + step.value % 900, len(file.content))
        file.content[start:end] = bytes([step.value % 251]) * (end - start)
        file.handle.view[start:end] = file.content[start:end]
        disk.observe()
    elif step.verb == "sync":
        file.handle.sync()
        file.sync()
    elif step.verb == "remove":
        disk.remove(step.path)
        del names[name]
    elif step.verb == "rename" and step.other[-1] != name:
        disk.rename(step.path, f"{folder}/{step.other[-1]}")
        names[step.other[-1]] = names.pop(name)


@given(STEPS)
def test_without_a_crash_it_is_a_plain_disk(steps: list[Step]) -> None:
    disk, model = _told(steps)
    expected = {
        f"{folder}/{name}": bytes(file.content)
        for folder in FOLDERS
        for name, file in model.names[folder].items()
    }
    assert _content(disk) == expected
    assert _content(disk.kill()) == expected


@given(STEPS)
def test_every_state_that_a_power_cut_leaves_is_legal(steps: list[Step]) -> None:
    disk, model = _told(steps)
    for state in (*disk.crash_states(random_count=4), *disk.torn_states()):
        if "torn" not in state.origin:
            assert model.allows(state), state.origin
        else:
            assert sorted(_content(state)) == sorted(_content(disk)), state.origin


@given(STEPS)
def test_everything_and_nothing_are_among_the_states(steps: list[Step]) -> None:
    disk, _ = _told(steps)
    states = [_content(state) for state in disk.crash_states(random_count=0)]
    assert _content(disk) in states
    assert _content(disk.power_cut()) in states


@given(STEPS)
def test_what_is_synced_survives_every_power_cut(steps: list[Step]) -> None:
    disk, model = _told(steps)
    for folder in FOLDERS:
        for file in model.names[folder].values():
            file.handle.sync()
        disk.sync_directory(folder)
    states = [_content(state) for state in disk.crash_states()]
    assert states == [_content(disk)]


@given(STEPS)
def test_a_process_that_dies_before_the_power_cut_leaves_no_other_states(steps: list[Step]) -> None:
    disk, _ = _told(steps)
    killed = disk.kill()
    assert [_content(state) for state in disk.crash_states(random_count=4)] == [
        _content(state) for state in killed.crash_states(random_count=4)
    ]
