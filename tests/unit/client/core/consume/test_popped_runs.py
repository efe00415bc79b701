import pytest

from aerobee.client.core.consume.popped_runs import receipts_of, run_of, runs_of
from aerobee.errors import RemoteProtocolError
from aerobee.protocol.consume.pop_receipt import encode_pop_receipt, topic_of
from aerobee.protocol.consume.popped_receipts import read_places
from aerobee.protocol.headers.popping import PopAnswerHeader
from tests.received_kit import received

ANSWER = PopAnswerHeader(5000, 60_000, 3, 0, "0 0 7", "0 0 7,9")


def test_the_nth_message_of_a_queue_has_the_nth_offset() -> None:
    found = receipts_of(ANSWER, "b", received(7, 9))
    assert [encode_pop_receipt(one) for one in found] == [
        "7 5000 60000 3 0 b 0 7",
        "7 5000 60000 3 0 b 0 9",
    ]
    assert {topic_of(one.origin, "g", "T") for one in found} == {"T"}


def test_a_message_that_was_tried_before_brings_its_receipt() -> None:
    (one,) = receipts_of(ANSWER, "b", received(1, POP_CK="1 2 3 4 1 b 0 5"))
    assert (one.start_offset, one.origin, one.queue_offset) == (1, "1", 5)
    assert topic_of(one.origin, "g", "T") == "%RETRY%g_T"
    (other,) = receipts_of(ANSWER, "b", received(1, POP_CK="1 2 3 4 2 b 0 5"))
    assert topic_of(other.origin, "g", "T") == "%RETRY%g+T"


def test_without_places_a_message_lies_where_it_says() -> None:
    bare = PopAnswerHeader(5000, 60_000, 3, 0)
    (one,) = receipts_of(bare, "b", received(7))
    assert (one.start_offset, one.queue_offset) == (7, 7)


def test_an_answer_that_names_too_few_is_refused() -> None:
    with pytest.raises(RemoteProtocolError, match="names 2"):
        receipts_of(ANSWER, "b", received(7, 9, 10))


@pytest.mark.parametrize("text", ["0 0", "0 a 1", "0 0 1,x", "0 0 1;;"])
def test_places_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(RemoteProtocolError):
        read_places(text)
    assert read_places("") == {}


def test_messages_that_lie_where_they_say_are_one_run_of_each_queue() -> None:
    runs = runs_of(ANSWER, received(7, 9))
    assert runs is not None
    (run,) = runs.values()
    (first, second) = receipts_of(ANSWER, "b", received(7, 9))
    assert (run.receipt("b", 7), run.receipt("b", 9)) == (first, second)
    assert run_of(second).receipt("b", 9) == second


@pytest.mark.parametrize(
    ("starts", "offsets"),
    [
        ("", ""),  # places are not told
        ("1 0 7", "1 0 7,9"),  # of a retry topic
        ("0 0 7", "0 0 7,8"),  # under other offsets than their own
        ("0 1 7", "0 1 7,9"),  # in another queue
        ("0 0 7", "0 0 7"),  # fewer than there are
        ("0 0 7", "0 0 7,9,10"),  # more
        ("0 0 7;1 0 3", "0 0 7;1 0 3"),
        ("0 1 7", "0 0 7,9"),
    ],
)
def test_other_messages_are_looked_at_one_by_one(starts: str, offsets: str) -> None:
    answer = PopAnswerHeader(5000, 60_000, 3, 0, starts, offsets)
    assert runs_of(answer, received(7, 9)) is None
