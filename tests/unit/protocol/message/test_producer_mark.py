import pytest

from aerobee.errors import LocalProtocolError, RemoteProtocolError
from aerobee.protocol.message.producer_mark import (
    NUMBER_MAX,
    ProducerMark,
    decode_mark,
    encode_follower,
    encode_mark,
    follower_index,
    is_producer_id,
    place_of,
)

MARK = ProducerMark("billing-1", 1794732382394, 17, "9a3f00c1")


def test_a_mark_is_written_as_it_is_drawn_and_read_back() -> None:
    assert encode_mark(MARK) == "1794732382394:17:9a3f00c1:billing-1"
    assert decode_mark(encode_mark(MARK)) == MARK
    assert decode_mark(f"0:{NUMBER_MAX}:00000000:a:b:c").producer == "a:b:c"


def test_places_differ_by_topic_and_by_queue() -> None:
    places = {place_of(topic, queue) for topic in ("Orders", "Orders1") for queue in range(12)}
    assert len(places) == 24
    assert place_of("Orders", 3) == "16929c3e"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1:2:9a3f00c1:",
        "1:2:9A3F00C1:p",
        "-1:2:9a3f00c1:p",
        "1:2:9a3f00c:p",
        "1:x:9a3f00c1:p",
        f"1:{NUMBER_MAX + 1}:9a3f00c1:p",
        f"{NUMBER_MAX + 1}:1:9a3f00c1:p",
        "1:2:9a3f00c1:a b",
        "1:2:9a3f00c1:" + "p" * 121,
        "١:2:9a3f00c1:p",
    ],
)
def test_what_is_no_mark_is_refused(text: str) -> None:
    with pytest.raises(RemoteProtocolError, match=r"mark|large"):
        decode_mark(text)


@pytest.mark.parametrize(
    "mark",
    [
        MARK._replace(producer=""),
        MARK._replace(producer="a\x01b"),
        MARK._replace(producer="é"),
        MARK._replace(sequence=-1),
        MARK._replace(epoch=NUMBER_MAX + 1),
    ],
)
def test_what_cannot_be_read_back_is_not_written(mark: ProducerMark) -> None:
    with pytest.raises(LocalProtocolError, match="no producer's mark"):
        encode_mark(mark)


def test_an_id_is_printable_and_not_long() -> None:
    assert is_producer_id("p" * 120)
    assert not is_producer_id("p" * 121)
    assert not is_producer_id("p\n")


def test_a_message_behind_the_first_of_its_batch_says_how_far() -> None:
    assert encode_follower(17) == "+17"
    assert follower_index("+17") == 17
    for text in ("", "17", "+", "+0", "+017", "+1x", "-1", "+100000", "1:2:9a3f00c1:p"):
        assert follower_index(text) == 0
