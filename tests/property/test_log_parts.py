"""A log in any parts, damaged anywhere: every sound record once, and all else reported."""

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from aerobee.pipeline.log_table.log_files import Reach
from tests.log_table_kit import Log, message, rows

_sizes = st.lists(st.integers(0, 700), min_size=1, max_size=14)
_damage = st.lists(st.tuples(st.floats(0, 0.9999), st.binary(min_size=1, max_size=150)), max_size=3)


@given(
    sizes=_sizes,
    damage=_damage,
    parts=st.integers(1, 7),
    window=st.integers(40, 900),
    record=st.integers(900, 2000),
)
def test_parts_meet_and_what_is_not_reported_is_read_once(
    sizes: list[int],
    damage: list[tuple[float, bytes]],
    parts: int,
    window: int,
    record: int,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = Log(Path(folder) / "log", [message(n, b"x" * size) for n, size in enumerate(sizes)])
        changed: set[int] = set()
        for place, data in damage:
            start = int(place * log.end)
            end = min(start + len(data), start - start % log.file_bytes + log.file_bytes)
            before = log.put(start, data[: end - start])
            changed |= {start + n for n, byte in enumerate(before) if byte != data[n]}
        found = rows(
            log.folder, reach=Reach(window, record), onDamage="report", minPartitions=str(parts)
        )
    read = [row["logOffset"] for row in found if row["damage"] is None]
    bad = [
        range(row["logOffset"], row["logOffset"] + row["damagedBytes"])
        for row in found
        if row["damage"] is not None
    ]
    assert read == sorted(read)
    assert len(read) == len(set(read))
    places = dict(log.places)
    assert set(read) <= set(places)
    for start, end in log.places:
        is_hit = any(start <= at < end for at in changed)
        is_reported = any(start in damaged for damaged in bad)
        # The last 21 bytes are the checksum itself: without it the body's own has to do.
        is_seen = is_hit and not any(end - 21 <= at < end for at in changed)
        assert not (start in read and is_reported)
        if not is_hit:
            assert start in read
        elif is_seen:
            assert is_reported
