import pytest

from aerobee.protocol.message.marked_batch import COUNT_MAX, MarkedBatch
from aerobee.protocol.message.message_batch import BatchMessage, encode_batch
from aerobee.protocol.message.producer_mark import NUMBER_MAX

FIRST = "7:98:9a3f00c1:q/0"


def batch(*texts: str, before: str = "KEYS", after: str = "") -> bytes:
    def properties(text: str) -> dict[str, str]:
        found = {before: "k", "__DEDUP": text}
        return found | {after: "x"} if after else found

    return encode_batch(BatchMessage(b"body", properties(text)) for text in texts)


def test_marks_that_follow_each_other_are_counted() -> None:
    marked = MarkedBatch()
    assert marked.read(batch(FIRST)) == 1
    assert marked.read(batch(FIRST, *[f"+{index}" for index in range(1, 12)])) == 12
    assert marked.text == FIRST


def test_a_mark_may_be_the_only_property() -> None:
    body = encode_batch([BatchMessage(b"body", {"__DEDUP": FIRST})])
    assert MarkedBatch().read(body) == 1


@pytest.mark.parametrize(
    "second",
    [
        FIRST,
        "7:99:9a3f00c1:q/0",
        "+0",
        "+2",
        "+01",
        "+11",
        "1",
        "+1 ",
        "-1",
    ],
)
def test_one_mark_that_does_not_follow_is_found(second: str) -> None:
    assert MarkedBatch().read(batch(FIRST, second)) == 0


def test_a_mark_that_is_not_last_or_is_part_of_another_name_is_left_to_others() -> None:
    assert MarkedBatch().read(batch(FIRST, after="more")) == 0
    body = encode_batch([BatchMessage(b"body", {"my__DEDUP": FIRST})])
    assert MarkedBatch().read(body) == 0
    first = BatchMessage(b"body", {"__DEDUP": FIRST})
    other = BatchMessage(b"body", {"my__DEDUP": "+1"})
    assert MarkedBatch().read(encode_batch([first, other])) == 0


@pytest.mark.parametrize("text", ["", "x", "7:8:9:q", "7:98:9a3f00c1:q 0", "+1"])
def test_what_is_no_mark_is_left_to_others(text: str) -> None:
    body = encode_batch([BatchMessage(b"body", {"KEYS": "k", "__DEDUP": text or "-"})])
    assert MarkedBatch().read(body) == 0


def test_bytes_that_are_no_batch_are_left_to_others() -> None:
    whole = batch(FIRST, "+1")
    for end in range(len(whole)):
        count = MarkedBatch().read(whole[:end])
        assert count == (1 if end == len(batch(FIRST)) else 0)
    assert MarkedBatch().read(encode_batch([BatchMessage(b"body", {})])) == 0


def test_numbers_and_counts_have_an_end() -> None:
    last = f"7:{NUMBER_MAX}:9a3f00c1:q/0"
    assert MarkedBatch().read(batch(last)) == 0
    texts = [FIRST, *[f"+{index}" for index in range(1, COUNT_MAX + 1)]]
    assert MarkedBatch().read(batch(*texts[:-1])) == COUNT_MAX
    assert MarkedBatch().read(batch(*texts)) == 0
