import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.pipeline.sink.queue_plan import QueuePlan, plan_for, read_plan


def queue(broker_name: str, number: int) -> MessageQueue:
    return MessageQueue("t", broker_name, QueueId(number))


def test_a_plan_is_the_queues_by_broker_and_comes_back_from_its_text() -> None:
    queues = [queue("b", 0), queue("b", 1), queue("a", 0)]
    plan = plan_for(queues)
    assert plan == QueuePlan((("a", 1), ("b", 2)))
    assert plan.queues("t") == [queue("a", 0), queue("b", 0), queue("b", 1)]
    assert read_plan(plan.text()) == plan
    assert plan.text() == '{"queues":[["a",1],["b",2]],"stripe":4096,"v":1}'


def test_the_order_in_which_queues_are_told_changes_nothing() -> None:
    queues = [queue("b", 1), queue("a", 0), queue("b", 0)]
    assert plan_for(queues).text() == plan_for(sorted(queues)).text()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no plan"),
        ("{}", "no plan"),
        ('{"queues":5,"stripe":1,"v":1}', "no plan"),
        ('{"queues":[],"stripe":1,"v":1}', "without queues"),
        ('{"queues":[["a",0]],"stripe":1,"v":1}', "without queues"),
        ('{"queues":[["a",1]],"stripe":0,"v":1}', "without queues"),
        ('{"queues":[["a",1]],"stripe":1,"v":2}', "another version"),
    ],
)
def test_what_is_no_plan_is_not_followed(text: str, says: str) -> None:
    with pytest.raises(RemoteProtocolError, match=says):
        read_plan(text)
