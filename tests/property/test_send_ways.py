"""The short way of a send and the general one are two programs with one meaning: what is taken by
the first is stored and answered as the second would.

Both brokers get the same frames. One handles them as they come from a connection, the other has
every frame decoded and served by its general handlers.
"""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aerobee.model.message import StoredMessage
from aerobee.model.topic import TopicConfig
from aerobee.protocol.message.message_batch import BatchMessage, encode_batch
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.config import BrokerConfig
from tests.broker_kit import BrokerKit
from tests.send_rig import send_frame

TOPICS = (
    TopicConfig("Orders", 4, 4),
    TopicConfig("Tagged", 2, 2, filter_type="MULTI_TAG"),
    TopicConfig("Closed", 2, 2, permission=4),
)
QUEUES = 4
ENDS = st.sampled_from(["", "\x02"])
SPECIAL = """
    KEYS TAGS UNIQ_KEY WAIT DELAY TIMER_DELAY_SEC TRAN_MSG TRACE_ON MSG_REGION CLUSTER POP_CK
    INNER_NUM __CRC32# DELAYED TRACE Cluster BUYER_ID _SYS_MSG_PRIORITY_ __SHARDINGKEY
"""

words = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=6)
ids = st.text("0123456789ABCDEF", min_size=1, max_size=32)
pairs = st.builds("{}\x01{}".format, st.one_of(words, st.sampled_from(SPECIAL.split())), words)
special = st.builds("{}\x01{}".format, st.sampled_from(SPECIAL.split()), st.integers(0, 20))


def joined(own: str, before: list[str], after: list[str], end: str) -> str:
    return "\x02".join([*before, f"UNIQ_KEY\x01{own}", *after]) + end


def mostly(likely: st.SearchStrategy[Any], *others: st.SearchStrategy[Any]) -> Any:
    """As often the first as all others together."""
    chosen = st.sampled_from([likely] * len(others) + list(others))
    return chosen.flatmap(lambda one: one)


few, more = st.lists(special, max_size=2), st.lists(pairs, max_size=2)
properties = mostly(
    st.builds(joined, ids, few, few, ENDS),
    st.builds(joined, ids, more, more, ENDS),
    st.lists(st.one_of(pairs, words), max_size=3).map("\x02".join),
)
# A plain send, but for one thing.
fields = mostly(
    st.fixed_dictionaries({"i": properties}),
    st.fixed_dictionaries({"f": st.sampled_from(["1", "257", "1793", "2", "4", "8", "16", "128"])}),
    st.fixed_dictionaries({"e": st.integers(0, QUEUES).map(str)}),
    st.fixed_dictionaries({"g": st.integers(0, 2**41).map(str), "h": st.integers(-5, 5).map(str)}),
    st.fixed_dictionaries({"j": st.sampled_from(["1", "", "-1"])}),
    st.fixed_dictionaries({"d": st.sampled_from(["", "x", "9"])}),
    st.fixed_dictionaries({"b": st.sampled_from(["Tagged", "Closed", "a.b", "SELF_TEST_TOPIC"])}),
)
batches = st.lists(
    st.builds(BatchMessage, st.binary(max_size=20), st.just({"KEYS": "k"}), st.integers(0, 9)),
    min_size=1,
    max_size=4,
)
bodies = mostly(
    st.tuples(st.binary(max_size=40), st.just(False)),
    st.tuples(batches.map(encode_batch), st.just(True)),
    st.tuples(st.binary(max_size=40), st.just(True)),
)


def stored(kit: BrokerKit) -> list[tuple[StoredMessage, Any]]:
    """Every message with the code that its queue filters by."""
    found = []
    for topic in ("Orders", "Tagged", "SCHEDULE_TOPIC_XXXX"):
        for queue_id in range(18):
            queue = kit.store.queue(topic.encode(), queue_id)
            for message in kit.messages(topic, queue_id):
                assert queue is not None
                unit = queue.unit(message.queue_offset)
                assert unit is not None
                found.append((message, unit[2]))
    return found


def told(answer: RemotingCommand) -> tuple[object, ...]:
    """What an answer says; the wording of a refusal is nobody's business."""
    ids = answer.ext_fields.get("msgId", "").count(",")
    said = {key: text for key, text in answer.ext_fields.items() if key != "msgId"}
    return (answer.code, answer.opaque, answer.flag, answer.serialize_type, said, ids)


def without_place(message: StoredMessage) -> dict[str, object]:
    """Two texts of the same properties may differ in length: the general way drops pairs that
    nobody reads."""
    left_out = ("log_offset", "store_size")
    return {one: getattr(message, one) for one in StoredMessage.__slots__ if one not in left_out}


@given(
    sends=st.lists(
        st.tuples(fields, bodies, st.booleans(), st.sampled_from([0, 0, 2])),
        min_size=1,
        max_size=12,
    )
)
def test_both_ways_store_and_answer_the_same(sends: list[Any]) -> None:
    as_it_comes, generally = BrokerKit(*TOPICS), BrokerKit(*TOPICS)
    for opaque, (said, (body, is_batch), is_binary, flag) in enumerate(sends):
        data = send_frame(
            {**said, "m": str(is_batch).lower()},
            body,
            code=320 if is_batch else 310,
            opaque=opaque,
            flag=flag,
            is_binary=is_binary,
        )
        as_it_comes.send_frames(data)
        generally.handle_frames(data)
    for kit in (as_it_comes, generally):
        kit.finish()
    assert [told(answer) for answer in as_it_comes.heard()] == [
        told(answer) for answer in generally.heard()
    ]
    ours, theirs = stored(as_it_comes), stored(generally)
    assert [without_place(message) for message, _ in ours] == [
        without_place(message) for message, _ in theirs
    ]
    assert [code for _, code in ours] == [code for _, code in theirs]


TOO_LARGE = (
    "the message is illegal, maybe msg body or properties length not matched. "
    "msg body length limit 1000B, msg properties length limit 32KB."
)


def padded(size: int, more: str = "") -> str:
    """Properties of so many bytes."""
    text = f"UNIQ_KEY\x010A\x02{more}a\x01"
    return text + "x" * (size - len(text) - 1) + "\x02"


@pytest.mark.parametrize("is_short", [True, False])
@pytest.mark.parametrize("is_binary", [False, True])
@pytest.mark.parametrize("code", [10, 310, 320])
def test_what_is_too_large_is_refused_by_both_and_what_follows_is_stored(
    code: int, is_binary: bool, is_short: bool
) -> None:
    kit = BrokerKit(*TOPICS, config=BrokerConfig(body_bytes_max=1000))
    handle = kit.send_frames if is_short else kit.handle_frames
    good = encode_batch([BatchMessage(b"x" * 900, {})]) if code == 320 else b"x" * 1000
    large: list[tuple[dict[str, str], bytes]] = [({}, b"x" * size) for size in (1001, 100_000)]
    large += [({"i": padded(size)}, good) for size in (32_768, 32_769, 33_000, 65_536, 1 << 20)]
    for number, (said, body) in enumerate(large):
        handle(send_frame(said, body, code=code, is_binary=is_binary, opaque=number))
        handle(send_frame({}, good, code=code, is_binary=is_binary, opaque=100 + number))
        refused, taken = kit.heard()
        assert (refused.opaque, refused.code, refused.remark) == (number, 13, TOO_LARGE)
        assert (taken.opaque, taken.code) == (100 + number, 0)
        assert taken.ext_fields["queueOffset"] == str(number), "nothing but good ones is stored"


@pytest.mark.parametrize(
    "more",
    ["", "TRAN_MSG\x01true\x02", "DELAY\x011\x02", "TIMER_DELAY_SEC\x0110\x02"],
)
def test_both_refuse_properties_from_the_same_size_on(more: str) -> None:
    """A broker adds to them, so that it is less than the limit."""
    codes: list[list[int]] = []
    for is_short in (True, False):
        kit = BrokerKit(*TOPICS, config=BrokerConfig(body_bytes_max=1000))
        handle = kit.send_frames if is_short else kit.handle_frames
        for size in range(32_500, 32_768):
            handle(send_frame({"i": padded(size, more)}, b"x"))
        answers = kit.heard()
        assert {answer.remark for answer in answers if answer.code == 13} == {TOO_LARGE}
        codes.append([answer.code for answer in answers])
    assert codes[0] == codes[1] == sorted(codes[0])
    assert set(codes[0]) == {0, 13}
