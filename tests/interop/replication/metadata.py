"""Everything beside the log that a slave copies, as a broker answers it to RocketMQ's requests for
it.
"""

import json
import re
from typing import Any

from tests.interop.replication.brokers import Broker
from tests.wire_client import WireClient

_TOPICS, _MAX_OFFSET, _CONSUMER_OFFSETS, _DELAY_OFFSETS, _GROUPS = 21, 30, 43, 45, 201


def topics(broker: Broker) -> dict[str, Any]:
    """Settings of topics, by name."""
    found: dict[str, Any] = _answer(broker, _TOPICS)["topicConfigTable"]
    return found


def groups(broker: Broker) -> dict[str, Any]:
    """Settings of consumer groups, by name."""
    found: dict[str, Any] = _answer(broker, _GROUPS)["subscriptionGroupTable"]
    return found


def consumer_offsets(broker: Broker) -> dict[str, dict[str, int]]:
    """Queue offsets by `topic@group` and queue."""
    found: dict[str, dict[str, int]] = _answer(broker, _CONSUMER_OFFSETS)["offsetTable"]
    return found


def delay_offsets(broker: Broker) -> dict[str, int]:
    """Queue offsets by delay level."""
    found: dict[str, int] = _answer(broker, _DELAY_OFFSETS)["offsetTable"]
    return found


def queue_ends(broker: Broker, topic: str, queues: int) -> list[int]:
    """The queue offset behind the last message of each queue."""
    with WireClient(broker.broker_port) as client:
        answers = [
            client.ask(_MAX_OFFSET, {"topic": topic, "queueId": str(queue_id)})
            for queue_id in range(queues)
        ]
    return [int(answer.ext_fields["offset"]) for answer in answers]


def _answer(broker: Broker, code: int) -> Any:
    with WireClient(broker.broker_port) as client:
        answer = client.ask(code)
    assert answer.code == 0, answer.remark
    return json.loads(_quoted(bytes(answer.body)))


def _quoted(body: bytes) -> bytes:
    """Strict JSON: RocketMQ writes numbers as keys."""
    return re.sub(rb"([{,])(-?\d+):", rb'\1"\2":', body)
