"""The short way of a send, compiled and pure: the same frames give the same answers and bytes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aerobee._compiled import is_compiled
from tests.pure import pure
from tests.send_rig import SendRig, end_frame, send_frame

pytestmark = pytest.mark.skipif(
    not is_compiled("aerobee.service.broker.send.fast_send"), reason="nothing is compiled"
)

NAMES = st.sampled_from(
    ["UNIQ_KEY", "TAGS", "KEYS", "DELAY", "TIMER_X", "TRAN_MSG", "a", "__CRC32#", "INNER_NUM", ""]
)
VALUES = st.text(st.sampled_from('ab"\\é\x7f 0'), max_size=5)
PROPERTIES = st.lists(st.tuples(NAMES, VALUES), max_size=5).map(
    lambda pairs: "".join(f"{name}\x01{value}\x02" for name, value in pairs)
)
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "b": st.sampled_from(["Orders", "Unknown"]),
        "e": st.sampled_from(["-1", "0", "3", "4"]),
        "f": st.sampled_from(["0", "1", "4", "769"]),
        "g": st.sampled_from(["0", "1794732382394", "-1"]),
        "i": PROPERTIES,
        "j": st.sampled_from(["0", "2"]),
    },
)
FRAMES = st.builds(
    send_frame,
    FIELDS,
    st.binary(max_size=20),
    code=st.sampled_from([10, 310, 320]),
    opaque=st.integers(-(2**31), 2**31 - 1),
    flag=st.sampled_from([0, 2]),
    is_binary=st.booleans(),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(FRAMES, min_size=1, max_size=6))
def test_both_take_answer_and_store_the_same(frames: list[bytes]) -> None:
    worlds = [SendRig(), SendRig(pure)]
    for frame in frames:
        left = [rig.send(frame) for rig in worlds]
        assert left[0] == left[1]
    assert_same(worlds)


SPECIAL = st.sampled_from(
    [
        {"DELAY": "3"},
        {"DELAY": "19"},
        {"TIMER_DELIVER_MS": "1800000000000"},
        {"TIMER_DELIVER_MS": "1800000001000"},
        {"TIMER_DELAY_SEC": "8"},
        {"TRAN_MSG": "true", "PGROUP": "sellers"},
        {"TRAN_MSG": "true", "PGROUP": "sellers", "REAL_TOPIC": "x"},
        {"TRAN_MSG": "false"},
        {"_SYS_MSG_PRIORITY_": "2"},
        {"_SYS_MSG_PRIORITY_": "9"},
        {"_SYS_MSG_PRIORITY_": "-1"},
        {"_SYS_MSG_PRIORITY_": "2", "__SHARDINGKEY": "k"},
    ]
)
SPECIAL_FRAMES = st.builds(
    lambda said, queue, is_binary, flag: send_frame(
        {
            "e": queue,
            "f": "4" if "TRAN_MSG" in said else "0",
            "i": "UNIQ_KEY\x01id\x02" + "".join(f"{n}\x01{v}\x02" for n, v in said.items()),
        },
        flag=flag,
        is_binary=is_binary,
    ),
    SPECIAL,
    st.sampled_from(["-1", "0", "3"]),
    st.booleans(),
    st.sampled_from([0, 2]),
)
ENDS = st.builds(
    lambda group, queue_offset, log_offset, outcome, is_binary: end_frame(
        {
            "producerGroup": group,
            "tranStateTableOffset": str(queue_offset),
            "commitLogOffset": str(log_offset),
            "commitOrRollback": outcome,
        },
        is_binary=is_binary,
    ),
    st.sampled_from(["sellers", "buyers"]),
    st.integers(0, 2),
    st.sampled_from([0, 0, 1]),
    st.sampled_from(["8", "12", "0"]),
    st.booleans(),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(SPECIAL_FRAMES, ENDS), min_size=1, max_size=6))
def test_both_divert_and_end_the_same(frames: list[bytes]) -> None:
    worlds = [SendRig(diverts=True), SendRig(pure, diverts=True)]
    for frame in frames:
        left = [rig.send(frame) for rig in worlds]
        assert left[0] == left[1]
    assert worlds[0].ends.over == worlds[1].ends.over
    assert len(worlds[0].halves) == len(worlds[1].halves)
    assert_same(worlds)


def assert_same(worlds: list[SendRig]) -> None:
    """The same answers, and the same bytes in the log."""
    assert worlds[0].answers() == worlds[1].answers()
    ends = [rig.store.end_offset for rig in worlds]
    assert ends[0] == ends[1]
    offset = 0
    while offset < ends[0]:
        records = [rig.store.record_at(offset) for rig in worlds]
        assert records[0] is not None
        assert records[0] == records[1]
        offset += len(records[0])
