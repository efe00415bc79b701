import pytest

from aerobee.model.queue_mapping import UNDECIDED, MappingItem
from aerobee.protocol.headers.offsets import (
    CommitOffsetHeader,
    MaxOffsetHeader,
    QueueHeader,
    SearchOffsetHeader,
)
from aerobee.protocol.headers.pulling import PullHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.static_topic.logical_offsets import (
    commit_offset,
    earliest_time,
    max_offset,
    min_offset,
    search_offset,
)
from aerobee.service.broker.static_topic.logical_pull import pull
from aerobee.service.broker.static_topic.translation import (
    Ask,
    LogicalQueue,
    Translation,
    ask_offset,
    undecided,
)
from aerobee.service.request import Answer

ASK = Ask("b", RequestCode.GET_MIN_OFFSET, QueueHeader("T", 0))
QUEUE = LogicalQueue("T", 0, (MappingItem(0, 0, "a", UNDECIDED),))


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (Answer(fields={"offset": "7"}), 7),
        (Answer(ResponseCode.SYSTEM_BUSY), Answer(ResponseCode.SYSTEM_BUSY)),
    ],
)
def test_an_offset_is_read_from_an_answer_and_a_refusal_stays_one(
    answer: Answer, found: int | Answer
) -> None:
    asked = ask_offset(ASK)
    assert next(asked) == ASK
    with pytest.raises(StopIteration) as over:
        asked.send(answer)
    assert over.value.value == found


@pytest.mark.parametrize(
    "translation",
    [
        pull(QUEUE, PullHeader("g", "T", 0, 0, 1)),
        max_offset(QUEUE, MaxOffsetHeader("T", 0)),
        min_offset(QUEUE, QueueHeader("T", 0)),
        search_offset(QUEUE, SearchOffsetHeader("T", 0, 5)),
        commit_offset(QUEUE, CommitOffsetHeader("g", "T", 0, 5)),
        earliest_time(QUEUE, QueueHeader("T", 0)),
    ],
)
def test_a_queue_of_which_nothing_can_be_read_yet_asks_nobody(translation: Translation) -> None:
    with pytest.raises(StopIteration) as over:
        next(translation)
    assert over.value.value == undecided(QUEUE)
