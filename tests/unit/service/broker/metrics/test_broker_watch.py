"""A whole broker, watched: sends and pulls of both ways are counted and measured."""

import pytest

from aerobee.model.topic import TopicConfig
from aerobee.protocol.text.metric_text import metrics_text
from aerobee.service.broker.config import BrokerConfig
from aerobee.storage.config import StorageConfig
from tests.broker_kit import OTHER, STORAGE, SYNC, BrokerKit
from tests.send_rig import send_frame

ORDERS = TopicConfig("Orders", read_queues=1, write_queues=1)
FRAME = send_frame({"e": "0"})


class Watched(BrokerKit):
    def text(self) -> str:
        watch = self.broker.watch
        return b"".join(metrics_text(watch.metrics(self.clock.now()), watch.labels)).decode()

    def value(self, name: str, **labels: str) -> float:
        """The one sample of a name that has these labels."""
        wanted = [f'{label}="{text}"' for label, text in labels.items()]
        (line,) = [
            line
            for line in self.text().splitlines()
            if line.startswith((f"{name}{{", f"{name} ")) and all(one in line for one in wanted)
        ]
        return float(line.rpartition(" ")[2])


def watched(storage: StorageConfig = STORAGE) -> Watched:
    return Watched(ORDERS, storage=storage)


@pytest.mark.parametrize("storage", [STORAGE, SYNC], ids=["async", "sync"])
def test_sends_of_both_ways_are_counted_and_measured(storage: StorageConfig) -> None:
    kit = watched(storage)
    kit.send_frames(FRAME * 3)
    kit.handle_frames(FRAME * 2)
    kit.finish()
    assert kit.value("rocketmq_messages_in_total", topic="Orders") == 5
    assert kit.value("rocketmq_throughput_in_total", topic="Orders") == kit.store.end_offset
    counts = kit.value(
        "rocketmq_rpc_latency_count", request_code="send_message_v2", response_code="success"
    )
    assert counts == 5


def test_a_synchronous_send_took_until_the_disk_had_it() -> None:
    kit = watched(SYNC)
    kit.send_frames(FRAME)
    kit.clock.advance(40)
    kit.finish()
    total = kit.value("rocketmq_rpc_latency_sum", request_code="send_message_v2")
    assert total == 40


def test_pulls_of_both_ways_are_counted_and_measured() -> None:
    kit = watched()
    kit.send_frames(FRAME * 5, OTHER)
    kit.finish()
    kit.pull(queueOffset=0, maxMsgNums=2)
    kit.pull(queueOffset=2, maxMsgNums=3)  # like the one before: taken in place
    assert kit.value("rocketmq_messages_out_total", topic="Orders", consumer_group="g") == 5
    assert kit.value("rocketmq_throughput_out_total", topic="Orders") == kit.store.end_offset
    assert kit.value("rocketmq_rpc_latency_count", request_code="pull_message") == 2


def test_a_pull_that_was_held_is_told_apart() -> None:
    kit = watched()
    kit.tell(11, {"consumerGroup": "g", **_PULL}, channel=OTHER)
    kit.clock.advance(300)
    kit.send_frames(FRAME)
    assert kit.value("rocketmq_rpc_latency_sum", is_long_polling="true") == 300
    assert kit.value("rocketmq_messages_out_total", consumer_group="g") == 1


def test_lag_is_shown_of_who_has_committed() -> None:
    kit = watched()
    kit.send_frames(FRAME * 5, OTHER)
    kit.finish()
    kit.ask(15, {"consumerGroup": "g", "topic": "Orders", "queueId": "0", "commitOffset": "2"})
    kit.clock.advance(250)
    assert kit.value("rocketmq_consumer_lag_messages", consumer_group="g") == 3
    assert kit.value("rocketmq_consumer_lag_latency", consumer_group="g") == 250
    assert kit.value("aerobee_consumer_queue_lag_seconds", queue_id="0") == 0.25


def test_every_sample_says_whose_it_is() -> None:
    kit = watched()
    shared = '{cluster="DefaultCluster",node_type="broker",node_id="broker-a"'
    lines = [line for line in kit.text().splitlines() if not line.startswith("#")]
    assert lines
    assert all(shared in line for line in lines)


def test_the_broker_itself_is_shown() -> None:
    kit = watched()
    assert kit.value("rocketmq_broker_permission") == 6
    assert kit.value("rocketmq_topic_number") > 10
    assert kit.value("rocketmq_consumer_group_number") > 5
    assert kit.value("aerobee_nameservers_registered") == 0


def test_how_many_samples_there_are_is_bounded_by_a_setting() -> None:
    kit = Watched(ORDERS, config=BrokerConfig(samples_max=3))
    for number in range(10):
        kit.ask(
            15,
            {
                "consumerGroup": f"g{number}",
                "topic": "Orders",
                "queueId": "0",
                "commitOffset": "0",
            },
        )
    lines = kit.text().splitlines()
    assert sum(line.startswith("rocketmq_consumer_lag_messages{") for line in lines) == 3


def test_a_broker_whose_name_server_does_not_answer_is_not_ready() -> None:
    kit = Watched(addresses=["10.0.0.1:9876"])
    kit.tick()
    now = kit.clock.now()
    assert kit.broker.watch.ailments(now) == []
    assert kit.broker.watch.obstacles(now) == ["no name server knows the broker: 10.0.0.1:9876"]
    alone = watched()
    assert alone.broker.watch.obstacles(alone.clock.now()) == []


_PULL = {
    "topic": "Orders",
    "queueId": "0",
    "queueOffset": "0",
    "maxMsgNums": "32",
    "sysFlag": "6",
    "commitOffset": "0",
    "suspendTimeoutMillis": "15000",
    "subscription": "*",
    "subVersion": "0",
}
