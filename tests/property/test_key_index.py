"""The key index against a list of records: any keys, times, rolls, removals and crashes."""

from itertools import islice
from typing import NamedTuple

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from aerobee.errors import CorruptFile
from aerobee.sim.disk import SimDisk
from aerobee.storage.index.key_index import KeyIndex, KeyIndexConfig, discard, index_names

FOLDER = "store/index"
START = 1_700_000_000_000
# `Aa` and `BB` have one hash in Java; few slots make the others share chains.
WORDS = ["Aa", "BB", "AaBB", "BBAa", "a", "b", "c", "ключ", "🔑"]
TOPICS = ["Orders", "Ordert", "%RETRY%g"]
times = st.integers(START - 3000, START + 60_000) | st.sampled_from([0, 1 << 60, -1])


class Logged(NamedTuple):
    topic: str
    unique: str
    words: tuple[str, ...]
    tag: str
    log_offset: int
    store_timestamp: int

    def texts(self) -> list[str]:
        keys = [self.unique] if self.unique else []
        keys += self.words
        keys += [f"T#{self.tag}"] if self.tag else []
        return [f"{self.topic}#{key}" for key in keys]


class Mark(NamedTuple):
    record_count: int
    dispatched: int
    unit_count: int


def java_hash(text: str) -> int:
    value = 0
    units = text.encode("utf-16-be")
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + 256 * high + low) % 2**32
    return min(value, 2**32 - value) % 2**31


def put(index: KeyIndex, record: Logged) -> int:
    return index.put_keys(
        record.topic.encode(),
        record.unique.encode(),
        " ".join(record.words).encode(),
        record.tag.encode(),
        record.log_offset,
        record.store_timestamp,
    )


class KeyIndexMachine(RuleBasedStateMachine):
    """`log` is the truth; the index holds the keys of all of it, from `log_begin` on at least."""

    @initialize(slots=st.integers(1, 9), units=st.integers(2, 9))
    def begin(self, slots: int, units: int) -> None:
        self.config = KeyIndexConfig(slots, units)
        self.disk = SimDisk()
        self.disk.make_directory(FOLDER)  # the folders above are not the index's to sync
        self.index = KeyIndex.open(self.disk, FOLDER, self.config)
        self.log: list[Logged] = []
        self.log_begin = 0
        # Records from here on made the index: a rebuilt one does not know those before.
        self.built_from = 0
        self.mark = Mark(0, 0, 0)
        self.removed_since_mark = False

    # What a store does.

    @rule(
        topic=st.sampled_from(TOPICS),
        unique=st.sampled_from(["", *WORDS]),
        words=st.lists(st.sampled_from(WORDS), max_size=4),
        tag=st.sampled_from(["", "red", "Aa"]),
        gap=st.integers(1, 300),
        elapsed=st.sampled_from([0, 1, 400, 999, 1000, 1001, 7000]),
    )
    def log_record(
        self, topic: str, unique: str, words: list[str], tag: str, gap: int, elapsed: int
    ) -> None:
        offset, time_ms = 0, START
        if self.log:
            offset = self.log[-1].log_offset + gap
            time_ms = self.log[-1].store_timestamp + elapsed
        record = Logged(topic, unique, tuple(words), tag, offset, time_ms)
        self.log.append(record)
        assert put(self.index, record) == len(record.texts())

    @precondition(lambda self: self.log)
    @rule(data=st.data())
    def put_again(self, data: st.DataObject) -> None:
        assert put(self.index, data.draw(st.sampled_from(self.log))) == 0

    @rule()
    def sync_and_mark(self) -> None:
        unit_count = self.index.unit_count
        for file in self.index.sync_targets():
            file.sync()
        if self.index.directory_to_sync() is not None:
            self.disk.sync_directory(FOLDER)
        dispatched = self.log[-1].log_offset + 1 if self.log else 0
        self.mark = Mark(len(self.log), dispatched, unit_count)
        self.removed_since_mark = False

    @precondition(lambda self: self.log)
    @rule(data=st.data())
    def remove_old_log(self, data: st.DataObject) -> None:
        begin = data.draw(st.sampled_from(self.log)).log_offset
        self.log_begin = max(self.log_begin, begin)
        for file in self.index.remove_below(self.log_begin):
            self.disk.remove(file.path)
            self.removed_since_mark = True

    @rule()
    def stop_and_open(self) -> None:
        self.sync_and_mark()  # as a store does before it closes: nothing is dirty after that
        self.index.close()
        self.index = KeyIndex.open(self.disk, FOLDER, self.config)

    @rule(how=st.sampled_from(["kill", "cut", "some"]), choice=st.integers(0, 40))
    def crash(self, how: str, choice: int) -> None:
        if how == "kill":
            self.disk = self.disk.kill()
        elif how == "cut":
            self.disk = self.disk.power_cut()
        else:
            states = self.disk.crash_states(random_count=2, seed=choice)
            self.disk = next(islice(states, choice, None), None) or self.disk.power_cut()
        times_by_offset = {record.log_offset: record.store_timestamp for record in self.log}
        try:
            self.index = KeyIndex.recover(
                self.disk,
                FOLDER,
                self.config,
                self.mark.dispatched,
                self.mark.unit_count,
                times_by_offset.get,
            )
            first = self.mark.record_count
        except CorruptFile:
            assert self.removed_since_mark, "only a file that was removed may be missed"
            discard(self.disk, FOLDER)
            self.index = KeyIndex.open(self.disk, FOLDER, self.config)
            self.built_from = self.log_begin
            first = 0
        for record in self.log[first:]:
            if record.log_offset >= self.built_from:
                put(self.index, record)

    # What must hold.

    @rule(
        topic=st.sampled_from(TOPICS),
        key=st.sampled_from([*WORDS, "T#red", "T#Aa", "none"]),
        begin=times,
        end=times,
        limit=st.sampled_from([0, 1, 2, 5, 64, 1000]),
    )
    def find(self, topic: str, key: str, begin: int, end: int, limit: int) -> None:
        found = self.index.find(topic.encode(), key.encode(), begin, end, limit)
        wanted = java_hash(f"{topic}#{key}")
        matching = {
            record.log_offset: record.store_timestamp
            for record in self.log
            if wanted in map(java_hash, record.texts())
        }
        assert found == sorted(set(found), reverse=True)
        assert len(found) <= min(limit, 64)
        assert set(found) <= matching.keys()
        assert all(begin - 1000 < matching[offset] < end + 1000 for offset in found)
        # Older ones than the last found may have fallen to the limit.
        oldest = found[-1] if len(found) == min(limit, 64) and found else -1
        inside = {offset for offset, time_ms in matching.items() if begin <= time_ms <= end}
        if limit:
            kept = max(self.log_begin, self.built_from, oldest)
            assert {offset for offset in inside if offset >= kept} <= set(found)

    @rule()
    def compare_with_an_index_built_in_one_go(self) -> None:
        straight = SimDisk()
        index = KeyIndex.open(straight, FOLDER, self.config)
        for record in self.log:
            if record.log_offset >= self.built_from:
                put(index, record)
        paths = self.index.paths
        assert paths == [f"{FOLDER}/{name}" for name in index_names(self.disk, FOLDER)]
        assert index.paths[len(index.paths) - len(paths) :] == paths
        for path in paths:
            assert self.disk.read(path) == straight.read(path)

    def teardown(self) -> None:
        self.compare_with_an_index_built_in_one_go()


TestKeyIndex = KeyIndexMachine.TestCase
TestKeyIndex.settings = settings(max_examples=120, stateful_step_count=40)
