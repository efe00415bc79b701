from aerobee.model.message_queue import MessageQueue, QueueId


def test_queues_are_ordered_by_topic_then_broker_then_number() -> None:
    queues = [
        MessageQueue("B", "a", QueueId(0)),
        MessageQueue("A", "b", QueueId(0)),
        MessageQueue("A", "a", QueueId(10)),
        MessageQueue("A", "a", QueueId(9)),
    ]
    assert sorted(queues) == queues[::-1]


def test_a_queue_is_named_by_all_three_parts() -> None:
    assert str(MessageQueue("orders", "broker-a", QueueId(3))) == "orders@broker-a:3"


def test_java_writes_a_queue_so() -> None:
    text = MessageQueue("orders", "broker-a", QueueId(3)).java_text
    assert text == "MessageQueue [topic=orders, brokerName=broker-a, queueId=3]"
