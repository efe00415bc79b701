"""Ranges of offsets, limited, cut and packed: no offset is left out, none comes twice or is new."""

from hypothesis import given
from hypothesis import strategies as st

from aerobee.model.message_queue import MessageQueue
from aerobee.pipeline.source.offset_ranges import QueueRange, limited, pack, split

_ranges = st.dictionaries(
    st.builds(MessageQueue, st.sampled_from("tu"), st.sampled_from("ab"), st.integers(0, 5)),
    st.tuples(st.integers(0, 50), st.integers(1, 40)),
    max_size=8,
).map(
    lambda found: [
        QueueRange(key, start, start + size) for key, (start, size) in sorted(found.items())
    ]
)


def offsets(ranges: list[QueueRange]) -> list[tuple[MessageQueue, int]]:
    return sorted((one.queue, offset) for one in ranges for offset in range(one.start, one.end))


@given(_ranges, st.integers(0, 30), st.integers(0, 20), st.integers(1, 9))
def test_cut_and_packed_is_what_it_was(
    ranges: list[QueueRange], pieces: int, most: int, partitions: int
) -> None:
    cut = split(ranges, pieces_min=pieces, messages_max=most)
    assert offsets(cut) == offsets(ranges)
    if most:
        assert all(one.size <= most for one in cut)
    packed = pack(cut, partitions, most)
    if most:
        assert all(sum(one.size for one in partition) <= most for partition in packed)
    else:
        assert len(packed) <= partitions
    assert offsets([one for partition in packed for one in partition]) == offsets(ranges)
    assert all(packed)


@given(_ranges, st.integers(1, 200))
def test_a_limit_takes_from_the_front_and_gives_all_it_may(
    ranges: list[QueueRange], most: int
) -> None:
    given_out = limited(ranges, most)
    total = sum(one.size for one in ranges)
    assert sum(one.size for one in given_out) == min(total, most)
    whole = {one.queue: one for one in ranges}
    for one in given_out:
        assert one.start == whole[one.queue].start
        assert one.end <= whole[one.queue].end
    if len(ranges) <= most:
        assert {one.queue for one in given_out} == set(whole)
