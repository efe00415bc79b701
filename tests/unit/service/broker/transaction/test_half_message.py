from dataclasses import replace

import pytest

from aerobee.errors import MessageIllegal
from aerobee.model.flags import TransactionType
from aerobee.model.message import StoredMessage
from aerobee.model.message_queue import LogOffset
from aerobee.service.broker.log_access.real_topic import find_real_place
from aerobee.service.broker.transaction.half_message import (
    committed,
    first_offset,
    given_up,
    group_of,
    half_of,
    immunity_ms,
    is_given_up,
    is_half,
    renewed,
    resumed,
    times_checked,
)
from tests.delay_kit import message

SENT = replace(
    message(b"body", "Orders", 3, UNIQ_KEY="id-1", TRAN_MSG="true", PGROUP="g", TAGS="A"),
    flag=9,
    sys_flag=0x5,
    reconsume_times=0,
)
SAME = ("body", "flag", "born_timestamp", "born_host", "reconsume_times")


def same(first: StoredMessage, second: StoredMessage) -> bool:
    return all(getattr(first, name) == getattr(second, name) for name in SAME)


def test_a_half_knows_where_its_message_belongs_and_is_no_transaction_to_the_store() -> None:
    half = half_of(SENT, "other")
    assert (half.topic, half.queue_id, half.sys_flag) == ("RMQ_SYS_TRANS_HALF_TOPIC", 0, 0x1)
    assert half.properties == {
        **SENT.properties,
        "REAL_TOPIC": "Orders",
        "REAL_QID": "3",
        "__transactionId__": "id-1",
    }
    assert same(half, SENT)
    assert is_half(half)
    assert not is_half(SENT)
    assert find_real_place(half.properties) == ("Orders", 3)


def test_a_half_without_a_group_is_of_its_senders() -> None:
    sent = message(TRAN_MSG="true")
    assert group_of(half_of(sent, "senders")) == "senders"
    assert group_of(half_of(SENT, "senders")) == "g"
    assert group_of(half_of(SENT, "")) == "g"


@pytest.mark.parametrize("group", ["", "g" * 121])
def test_a_half_of_a_group_that_nobody_can_be_asked_in_is_refused(group: str) -> None:
    with pytest.raises(MessageIllegal, match="producer group"):
        half_of(message(TRAN_MSG="true"), group)


def test_what_the_broker_keeps_count_by_is_not_taken_from_a_sender() -> None:
    forged = message(
        PGROUP="g",
        TRANSACTION_CHECK_TIMES="15",
        TRAN_PREPARED_QUEUE_OFFSET="0",
        REAL_TOPIC="Others",
        REAL_QID="7",
    )
    half = half_of(forged, "")
    assert (times_checked(half), first_offset(half)) == (0, None)
    assert find_real_place(half.properties) == ("Orders", 0)


def test_a_half_that_is_stored_again_says_how_often_and_which_it_was_first() -> None:
    half = half_of(SENT, "")
    copy = renewed(half, 5, 2)
    assert (times_checked(copy), first_offset(copy)) == (2, 5)
    assert same(copy, half)
    assert (copy.topic, copy.queue_id, copy.sys_flag) == (half.topic, 0, half.sys_flag)
    moved = renewed(half, 5, 0)
    assert "TRANSACTION_CHECK_TIMES" not in moved.properties


def test_a_committed_message_is_the_one_that_was_sent() -> None:
    half = replace(half_of(SENT, ""), log_offset=LogOffset(4711))
    real = committed(half)
    assert real is not None
    assert (real.topic, real.queue_id, real.prepared_offset) == ("Orders", 3, 4711)
    assert real.transaction_type is TransactionType.COMMIT
    assert real.sys_flag & 0x1, "still compressed"
    assert real.properties == {**SENT.properties, "__transactionId__": "id-1"}
    assert same(real, SENT)


@pytest.mark.parametrize(
    "wrong",
    [
        {"REAL_TOPIC": ""},
        {"REAL_QID": ""},
        {"REAL_QID": "-1"},
        {"REAL_QID": "one"},
        {"REAL_QID": "1000000000"},
        {"REAL_QID": "9" * 400},
        {"REAL_TOPIC": "RMQ_SYS_TRANS_HALF_TOPIC"},
    ],
)
def test_a_half_that_does_not_say_where_it_belongs_cannot_be_committed(
    wrong: dict[str, str],
) -> None:
    half = half_of(SENT, "")
    properties = {**half.properties, **wrong}
    assert committed(replace(half, properties=properties)) is None


def test_what_is_given_up_is_kept_as_it_was_and_can_begin_again() -> None:
    half = renewed(half_of(SENT, ""), 5, 15)
    parked = given_up(half)
    assert (parked.topic, parked.queue_id) == ("TRANS_CHECK_MAX_TIME_TOPIC", 0)
    assert parked.properties == half.properties
    assert is_given_up(parked)
    assert not is_given_up(half)
    again = resumed(parked)
    assert is_half(again)
    # Its first life is over: nothing may be taken for said about it that was said of that.
    assert (times_checked(again), first_offset(again)) == (0, None)
    assert find_real_place(again.properties) == ("Orders", 3)


@pytest.mark.parametrize(
    ("text", "ms"),
    [("10", 10_000), ("0", 0), ("-1", None), ("", None), ("soon", None), ("9" * 30, None)],
)
def test_immunity_is_a_number_of_seconds_or_nothing(text: str, ms: int | None) -> None:
    assert immunity_ms(message(CHECK_IMMUNITY_TIME_IN_SECONDS=text)) == ms
    assert immunity_ms(message()) is None
