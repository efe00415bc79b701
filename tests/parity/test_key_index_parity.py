"""The key index compiled and uncompiled: the same calls leave the same bytes and answers."""

import struct
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from aerobee import errors
from aerobee.sim.disk import SimDisk
from aerobee.storage.index import key_index, key_index_file
from tests.pure import pure

PURE_INDEX = pure("aerobee.storage.index.key_index")
PURE_FILE = pure("aerobee.storage.index.key_index_file")
PURE_ERRORS = pure("aerobee.errors")

SLOTS, UNITS = 5, 9
FOLDER = "index"
int32s = st.integers(-(2**31), 2**31 - 1) | st.integers(-2, 12)
int64s = st.integers(-(2**63), 2**63 - 1) | st.integers(1_700_000_000_000, 1_700_000_009_000)
offsets = st.integers(0, 2**63 - 1) | st.integers(0, 50)
texts = st.text(max_size=12).map(str.encode) | st.sampled_from([b"", b"Aa", b"BB", b" a  Aa "])
bad_texts = texts | st.binary(max_size=8)


def test_both_sides_are_what_they_claim() -> None:
    assert key_index.is_compiled()
    assert key_index_file.is_compiled()
    assert not PURE_INDEX.is_compiled()
    assert not PURE_FILE.is_compiled()


@given(st.integers(0, 2**32 - 1))
def test_index_hashes_agree(text_hash: int) -> None:
    assert key_index_file.index_hash(text_hash) == PURE_FILE.index_hash(text_hash)


@given(bad_texts)
def test_topic_hashes_agree(topic: bytes) -> None:
    assert key_index.topic_hash(topic) == PURE_INDEX.topic_hash(topic)


@given(int64s)
def test_file_names_agree(time_ms: int) -> None:
    assert key_index.file_name(time_ms) == PURE_INDEX.file_name(time_ms)


records = st.tuples(bad_texts, bad_texts, bad_texts, bad_texts, st.integers(0, 90), int64s)
queries = st.tuples(bad_texts, bad_texts, int64s, int64s, st.integers(0, 70))


@given(
    st.integers(1, 9),
    st.integers(2, 9),
    st.lists(records, max_size=20),
    st.lists(queries, max_size=5),
    st.integers(-1, 90),
    st.integers(0, 9),
)
def test_the_same_records_leave_the_same_files_and_answers(
    slots: int,
    units: int,
    records: list[Any],
    queries: list[Any],
    dispatched: int,
    unit_count: int,
) -> None:
    def run(module: Any, error_module: Any) -> list[object]:
        config = module.KeyIndexConfig(slots, units)
        disk = SimDisk()
        index = module.KeyIndex.open(disk, FOLDER, config)
        answers: list[object] = [index.put_keys(*record) for record in records]
        answers += [index.find(*query) for query in queries]
        answers += [index.unit_count, index.end_offset, index.end_timestamp, index.paths]
        answers += [disk.read(path) for path in index.paths]
        try:
            again = module.KeyIndex.recover(
                disk, FOLDER, config, dispatched, unit_count, lambda offset: offset
            )
            answers += [again.unit_count, again.end_timestamp]
        except error_module.CorruptFile as error:
            answers.append(str(error))
        answers += [disk.read(f"{FOLDER}/{name}") for name in module.index_names(disk, FOLDER)]
        return answers

    assert run(key_index, errors) == run(PURE_INDEX, PURE_ERRORS)


@given(
    header=st.tuples(int64s, int64s, offsets, offsets, st.integers(-1, 10), st.integers(-1, 10)),
    slots=st.lists(int32s, min_size=SLOTS, max_size=SLOTS),
    units=st.lists(
        st.tuples(int32s, int64s | offsets, int32s, int32s), min_size=UNITS, max_size=UNITS
    ),
    queries=st.lists(
        st.tuples(st.integers(0, 12), int64s, int64s, st.integers(0, 12)), min_size=1, max_size=4
    ),
    unit_count=st.integers(-1, 10),
    put=st.tuples(st.integers(0, 2**31 - 1), int64s, int64s),
)
def test_any_bytes_are_read_and_rebuilt_alike(
    header: tuple[int, ...],
    slots: list[int],
    units: list[tuple[int, ...]],
    queries: list[tuple[int, ...]],
    unit_count: int,
    put: tuple[int, ...],
) -> None:
    content = struct.pack(">qqqqii", *header) + struct.pack(f">{SLOTS}i", *slots)
    content += b"".join(struct.pack(">iqii", *unit) for unit in units)

    def run(module: Any, error_type: type[Exception]) -> list[object]:
        disk = SimDisk()
        disk.replace("file", content)
        answers: list[object] = []
        try:
            file = module.KeyIndexFile(disk.open("file"), SLOTS, UNITS)
            answers += [file.find(*query) for query in queries]
            answers += [file.put(*put), disk.read("file")]
            answers += [file.unit_timestamp(1), file.slots_used]
            file.rebuild_to(unit_count, 7)
            answers += [file.find(*query) for query in queries]
        except error_type as error:
            answers.append(str(error))
        answers.append(disk.read("file"))
        return answers

    assert run(key_index_file, errors.CorruptFile) == run(PURE_FILE, PURE_ERRORS.CorruptFile)
