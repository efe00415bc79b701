"""A member that dies leaves no gap behind it, whatever is settled in whatever order."""

from hypothesis import given
from hypothesis import strategies as st

from aerobee.client.api.message import Message
from aerobee.client.core.consume.process_queue import FlowLimits, ProcessQueue
from tests.received_kit import received

steps = st.lists(st.tuples(st.booleans(), st.integers(min_value=0, max_value=50)), max_size=60)


@given(steps)
def test_what_is_committed_grows_and_skips_nothing(moves: list[tuple[bool, int]]) -> None:
    in_hand = ProcessQueue(3, FlowLimits())
    open_ones: dict[int, Message] = {}
    following, last, size = 3, 3, 0
    for is_pull, number in moves:
        if is_pull:
            offsets = range(following, following + number % 5)
            messages = received(*offsets)
            following += number % 7 + 4  # filtered messages leave holes
            in_hand.put([*messages], following)
            open_ones.update(zip(offsets, messages, strict=True))
        elif open_ones:
            offset = sorted(open_ones)[number % len(open_ones)]
            assert in_hand.settle(open_ones.pop(offset))
        commit = in_hand.commit_offset()
        assert commit == min(open_ones, default=following)
        assert commit >= last
        last = commit
        size = sum(message.size for message in open_ones.values())
        assert (in_hand.count, in_hand.size) == (len(open_ones), size)
