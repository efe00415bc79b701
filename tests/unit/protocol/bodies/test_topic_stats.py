from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.protocol.bodies.topic_stats import QueueStats, encode_topic_stats


def test_the_queues_are_keys_and_their_stats_written_as_apache_does() -> None:
    body = encode_topic_stats(
        {
            MessageQueue("T", "b", QueueId(0)): QueueStats(1, 7, 1794734361888),
            MessageQueue("T", "b", QueueId(1)): QueueStats(0, 0, 0),
        },
        0.3,
    )
    assert body == (
        b'{"offsetTable":{{"brokerName":"b","queueId":0,"topic":"T"}:{"lastUpdateTimestamp":'
        b'1794734361888,"maxOffset":7,"minOffset":1},{"brokerName":"b","queueId":1,"topic":"T"}:'
        b'{"lastUpdateTimestamp":0,"maxOffset":0,"minOffset":0}},"topicPutTps":0.3}'
    )
