from typing import Any, cast

from aerobee.model.topic import TopicConfig
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.text.json_text import parse
from tests.broker_kit import BrokerKit
from tests.captured import captured
from tests.send_rig import send_frame
from tests.store_kit import draft

HELD = "Held6af97907"


def table_of(answer: RemotingCommand) -> dict[str, Any]:
    assert answer.code == 0, answer.remark
    return cast("dict[str, Any]", parse(bytes(answer.body)))


def test_an_empty_topic_is_answered_as_apache_does() -> None:
    empty = [
        table_of(answer)
        for answer in captured("GET_TOPIC_STATS_INFO", "response")
        if b'"maxOffset":0' in bytes(answer.body)
    ]
    kit = BrokerKit(TopicConfig(HELD, 2, 4))
    assert table_of(kit.ask(202, {"topic": HELD})) == empty[0]


def test_queues_are_answered_with_their_ends_and_the_time_of_the_last_message() -> None:
    kit = BrokerKit(TopicConfig("Orders", 2, 1))
    for _ in range(4):
        kit.run(1_000)
        stored_ms = kit.clock.now().wall_ms
        kit.store.append(draft(b"Orders", 1), stored_ms)
    kit.run(1_000)
    queue = kit.store.queue(b"Orders", 1)
    assert queue is not None
    queue.hide_before(1)

    def key(queue_id: int) -> tuple[tuple[str, object], ...]:
        return (("brokerName", "broker-a"), ("queueId", queue_id), ("topic", "Orders"))

    assert table_of(kit.ask(202, {"topic": "Orders"}))["offsetTable"] == {
        key(0): {"lastUpdateTimestamp": 0, "maxOffset": 0, "minOffset": 0},
        key(1): {"lastUpdateTimestamp": stored_ms, "maxOffset": 4, "minOffset": 1},
    }


def test_what_comes_in_is_answered_per_second() -> None:
    kit = BrokerKit(TopicConfig("Orders", 4, 4))
    assert table_of(kit.ask(202, {"topic": "Orders"}))["topicPutTps"] == 0.0
    for _ in range(20):
        kit.send_frames(send_frame())
        kit.run(1_000)
    kit.heard()
    assert 0.8 < table_of(kit.ask(202, {"topic": "Orders"}))["topicPutTps"] < 1.2
    kit.run(120_000, 1_000)
    assert table_of(kit.ask(202, {"topic": "Orders"}))["topicPutTps"] == 0.0


def test_a_topic_that_is_not_there_is_said() -> None:
    answer = BrokerKit().ask(202, {"topic": "Never"})
    assert (answer.code, answer.remark) == (17, "topic[Never] not exist")
