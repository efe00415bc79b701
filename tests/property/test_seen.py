"""The known sequences of a producer, against a plain set of all that it ever stored."""

from hypothesis import given
from hypothesis import strategies as st

from aerobee.service.broker.deduplication.seen_sequences import (
    NO_PLACE,
    SeenSequences,
    SequenceVerdict,
    StoredPlace,
)

# Mostly counting on, with holes, late ones and repetitions.
STEPS = st.lists(
    st.one_of(st.just(1), st.integers(1, 3), st.integers(-40, 200)), min_size=1, max_size=400
)


@given(STEPS, st.integers(0, 2**62))
def test_nothing_is_stored_twice_and_nothing_new_is_taken_for_a_repetition(
    steps: list[int], start: int
) -> None:
    seen, stored, sequence = SeenSequences(), {}, start
    for number, step in enumerate(steps):
        sequence = max(0, sequence + step)
        verdict = seen.judge(sequence)
        if verdict is SequenceVerdict.NEW:
            assert sequence not in stored
            stored[sequence] = StoredPlace(number, number * 7)
            seen.note(sequence, stored[sequence])
        elif verdict is SequenceVerdict.REPEATED:
            assert sequence in stored
            assert seen.place(sequence) in (stored[sequence], NO_PLACE)
        else:
            assert sequence < seen.floor
        if number % 50 == 49:
            seen = SeenSequences.restored(seen.floor, seen.runs(), seen.last_places(1000))
    assert seen.last == max(stored)
    for sequence, place in list(stored.items()):
        if sequence >= seen.floor:
            assert seen.judge(sequence) is SequenceVerdict.REPEATED
            assert seen.place(sequence) == place
