"""The ground of a test: what it does on a server without the client that it tests.

It speaks the protocol itself, in a few plain requests, which any RocketMQ server answers: make a
topic or a group, put a message into a chosen queue, read what a topic holds.
"""

import json
import time
from typing import Protocol

from aerobee.model.message import StoredMessage
from aerobee.model.properties import encode_properties
from aerobee.protocol.bodies.topic_route import decode_topic_route
from aerobee.protocol.message.stored_message import client_messages
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from tests.interop.features.waiting import until
from tests.wire_client import WireClient

QUEUES = 4
_GROUP = "interop-ground"

_SEND, _PULL, _QUERY_OFFSET, _CREATE_TOPIC, _ROUTE, _CREATE_GROUP = 10, 11, 14, 17, 105, 200
_SET_REQUEST_MODE = 401
_FOUND, _NOTHING = 0, (19, 20, 21)


class Reachable(Protocol):
    """A broker, and the name server that knows it."""

    @property
    def name_server(self) -> str: ...

    @property
    def broker_port(self) -> int: ...

    def kill_broker(self) -> None: ...

    def start_broker(self) -> None: ...


class Ground:
    def __init__(self, server: Reachable) -> None:
        self._server = server

    def create_topic(self, topic: str, queues: int = QUEUES, kind: str = "") -> None:
        """Back when name servers know it, too. `kind`: the only type of message that it takes."""
        self._ask(
            _CREATE_TOPIC,
            topic=topic,
            defaultTopic="TBW102",
            readQueueNums=str(queues),
            writeQueueNums=str(queues),
            perm="6",
            topicFilterType="SINGLE_TAG",
            topicSysFlag="0",
            order="false",
            **({"attributes": f"+message.type={kind}"} if kind else {}),
        )
        self.wait_for_route(topic)

    def create_group(self, group: str, retries: int, *, is_orderly: bool = False) -> None:
        """A group whose messages are tried so many times again; and its retry topic.

        Clients learn of a new retry topic only every 30 s; one that exists before them, at once.
        """
        described = {
            "groupName": group,
            "consumeEnable": True,
            "consumeFromMinEnable": True,
            "consumeBroadcastEnable": True,
            "consumeMessageOrderly": is_orderly,
            "retryQueueNums": 1,
            "retryMaxTimes": retries,
            "brokerId": 0,
            "whichBrokerWhenConsumeSlowly": 1,
            "notifyConsumerIdsChangedEnable": True,
        }
        with self._broker() as broker:
            answer = broker.ask(_CREATE_GROUP, body=json.dumps(described).encode())
        assert answer.code == 0, answer.remark
        self.create_topic(f"%RETRY%{group}", queues=1)

    def let_pop(self, topic: str, group: str) -> None:
        """The group's consumers, where they let the broker choose, pop the topic."""
        mode = {"topic": topic, "consumerGroup": group, "mode": "POP", "popShareQueueNum": 0}
        with self._broker() as broker:
            answer = broker.ask(_SET_REQUEST_MODE, body=json.dumps(mode).encode())
        assert answer.code == 0, answer.remark

    def send(self, topic: str, queue_id: int, body: str, **properties: str) -> None:
        answer = self._ask(
            _SEND,
            producerGroup=_GROUP,
            topic=topic,
            defaultTopic="TBW102",
            defaultTopicQueueNums="4",
            queueId=str(queue_id),
            sysFlag="0",
            bornTimestamp=str(time.time_ns() // 1_000_000),
            flag="0",
            properties=encode_properties(properties).decode(),
            reconsumeTimes="0",
            unitMode="false",
            batch="false",
            body=body,
        )
        assert answer.code == 0, answer.remark

    def stored(self, topic: str, queues: int = QUEUES) -> list[StoredMessage]:
        """Everything in the topic, queue by queue, as a client would decode it."""
        messages: list[StoredMessage] = []
        with self._broker() as broker:
            for queue_id in range(queues):
                offset = "0"
                while (answer := broker.ask(_PULL, _pull(topic, queue_id, offset))).code == _FOUND:
                    messages += client_messages(bytes(answer.body))
                    offset = answer.ext_fields["nextBeginOffset"]
                assert answer.code in _NOTHING, answer.remark
        return messages

    def stored_all(self, topic: str, count: int, seconds: float = 10) -> list[StoredMessage]:
        """The same, when there are so many: queues may be written after the answer to a send."""
        until(lambda: len(self.stored(topic)) >= count, seconds, f"not all are in {topic}")
        return self.stored(topic)

    def committed(self, topic: str, group: str) -> int:
        """How many messages of the topic the group is done with."""
        done = 0
        with self._broker() as broker:
            for queue_id in range(QUEUES):
                named = {"consumerGroup": group, "topic": topic, "queueId": str(queue_id)}
                answer = broker.ask(_QUERY_OFFSET, named)
                if answer.code == 0:
                    done += int(answer.ext_fields["offset"])
        return done

    def has_topic(self, topic: str) -> bool:
        return bool(self.brokers_of(topic))

    def brokers_of(self, topic: str) -> list[str]:
        """The names of the brokers that its route leads to."""
        host, _, port = self._server.name_server.rpartition(":")
        with WireClient(int(port), host) as name_server:
            answer = name_server.ask(_ROUTE, {"topic": topic})
        if answer.code != 0:
            return []
        return [broker.name for broker in decode_topic_route(bytes(answer.body)).brokers]

    def wait_for_route(self, topic: str) -> None:
        until(lambda: self.has_topic(topic), 30, f"the name server does not know {topic}")

    def restart_broker(self) -> None:
        self._server.kill_broker()
        self._server.start_broker()
        self.wait_for_route("TBW102")

    def _broker(self) -> WireClient:
        return WireClient(self._server.broker_port)

    def _ask(self, code: int, body: str = "", **fields: str) -> RemotingCommand:
        with self._broker() as broker:
            answer = broker.ask(code, fields, body.encode())
        assert answer.code == 0, answer.remark
        return answer


def _pull(topic: str, queue_id: int, offset: str) -> dict[str, str]:
    return {
        "consumerGroup": _GROUP,
        "topic": topic,
        "queueId": str(queue_id),
        "queueOffset": offset,
        "maxMsgNums": "32",
        "sysFlag": "4",  # the subscription is in the request; nothing is held, nothing committed
        "commitOffset": "0",
        "suspendTimeoutMillis": "0",
        "subscription": "*",
        "subVersion": "0",
        "expressionType": "TAG",
    }
