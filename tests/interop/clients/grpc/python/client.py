"""RocketMQ's Python client of gRPC, told on standard input what to do: see features/program.py.

Arguments: the address of the server's gRPC, a name for this process.
"""

import json
import os
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

from rocketmq import (
    ClientConfiguration,
    ConsumeResult,
    Credentials,
    FilterExpression,
    Message,
    MessageListener,
    Producer,
    PushConsumer,
    SimpleConsumer,
    TransactionChecker,
    TransactionResolution,
)

Fields = dict[str, list[str]]

AWAIT_SECONDS = 5
REQUEST_SECONDS = 10
BATCH = 16
BY_SQL = 2
RESOLUTIONS = {
    "commit": TransactionResolution.COMMIT,
    "rollback": TransactionResolution.ROLLBACK,
    "unknown": TransactionResolution.TRANSACTION_RESOLUTION_UNSPECIFIED,
}

_printing = threading.Lock()


def print_event(event: str, **fields: object) -> None:
    with _printing:
        print(json.dumps({"event": event, **fields}), flush=True)


def described(message: Message) -> dict[str, object]:
    return {
        "topic": message.topic,
        "body": message.body.decode(),
        "tags": message.tag,
        "keys": " ".join(sorted(message.keys)),
        "colour": message.properties.get("colour"),
        "messageGroup": message.message_group,
        "msgId": message.message_id,
        "attempt": message.delivery_attempt,
        "time": time.time_ns() // 1_000_000,
    }


class Checker(TransactionChecker):  # type: ignore[misc]
    """Answers the words of a message's property `check` one after the other, then the last."""

    def __init__(self) -> None:
        self._asked: dict[str, int] = defaultdict(int)

    def check(self, message: Message) -> TransactionResolution:
        words = message.properties["check"].split()
        word = words[min(self._asked[message.message_id], len(words) - 1)]
        self._asked[message.message_id] += 1
        print_event("checked", group=message.topic, answer=word, **described(message))
        return RESOLUTIONS[word]


class Listener(MessageListener):  # type: ignore[misc]
    def __init__(self, consumer: str, verdict: str, hold_seconds: float) -> None:
        self._consumer = consumer
        self._verdict = verdict
        self._hold_seconds = hold_seconds

    def consume(self, message: Message) -> ConsumeResult:
        print_event("received", consumer=self._consumer, **described(message))
        if self._verdict == "none":
            threading.Event().wait()
        threading.Event().wait(self._hold_seconds)
        return ConsumeResult.FAILURE if self._verdict == "retry" else ConsumeResult.SUCCESS


def message(fields: Fields, body: str) -> Message:
    made = Message()
    made.topic = fields["topic"][0]
    made.body = body.encode()
    if "tags" in fields:
        made.tag = fields["tags"][0]
    for key in fields.get("keys", [""])[0].split():
        made.keys = key
    for name in ("colour", "check"):
        if name in fields:
            made.add_property(name, fields[name][0])
    if "shard" in fields:
        made.message_group = fields["shard"][0]
    if "deliver" in fields:
        made.delivery_timestamp = int(fields["deliver"][0]) // 1000
    return made


def subscription(fields: Fields) -> dict[str, FilterExpression]:
    if "sql" in fields:
        expression = FilterExpression(fields["sql"][0], BY_SQL)
    else:
        expression = FilterExpression(fields.get("expression", ["*"])[0])
    return {fields["topic"][0]: expression}


def receive(consumer: SimpleConsumer, count: int, invisible_seconds: int) -> list[Message]:
    try:
        found: list[Message] = consumer.receive(count, invisible_seconds)
    except Exception as error:
        # The client may ask before its settings are there, which Apache's proxy does not bear.
        if "Settings" not in str(error):
            raise
        return []
    return found


class Client:
    def __init__(self, address: str) -> None:
        self._configuration = ClientConfiguration(
            address, Credentials("", ""), request_timeout=REQUEST_SECONDS
        )
        self._producers: dict[str, Producer] = {}
        self._consumers: dict[str, Any] = {}
        self._taken: dict[str, Message] = {}
        self._checker = Checker()
        self._verbs: dict[str, Callable[[Fields], None]] = {
            "send": self._send,
            "recall": self._recall,
            "subscribe": self._subscribe,
            "open": self._open,
            "take": self._take,
            "ack": self._ack,
            "postpone": self._postpone,
            "close": self._close,
        }

    def obey(self, line: str) -> None:
        fields = parse_qs(line)
        number = fields["id"][0]
        try:
            self._verbs[fields["do"][0]](fields)
            print_event("done", id=number)
        except Exception as error:
            print_event("failed", id=number, error=repr(error))

    def _producer(self, topic: str) -> Producer:
        if topic not in self._producers:
            made = Producer(self._configuration, [topic], self._checker)
            made.startup()
            self._producers[topic] = made
        return self._producers[topic]

    def _send(self, fields: Fields) -> None:
        producer = self._producer(fields["topic"][0])
        messages = [message(fields, body) for body in fields["body"]]
        how, number = fields["how"][0], fields["id"][0]
        if how == "async":
            receipts = [one.result() for one in [producer.send_async(one) for one in messages]]
        elif how == "transaction":
            outcome = fields["outcome"][0]
            receipts = [self._transact(producer, one, outcome) for one in messages]
        else:
            receipts = [producer.send(one) for one in messages]
        for receipt in receipts:
            told = {"msgId": receipt.message_id, "recallHandle": receipt.recall_handle}
            print_event("sent", id=number, **told)

    def _transact(self, producer: Producer, one: Message, outcome: str) -> Any:
        begun = producer.begin_transaction()
        receipt = producer.send(one, begun)
        if outcome == "commit":
            begun.commit()
        elif outcome == "rollback":
            begun.rollback()
        return receipt

    def _recall(self, fields: Fields) -> None:
        topic = fields["topic"][0]
        recalled = self._producer(topic).recall_message(topic, fields["handle"][0])
        print_event("recalled", id=fields["id"][0], msgId=recalled)

    def _subscribe(self, fields: Fields) -> None:
        name = fields["consumer"][0]
        hold_seconds = int(fields.get("hold", ["0"])[0]) / 1000
        listener = Listener(name, fields.get("verdict", ["ok"])[0], hold_seconds)
        group, wanted = fields["group"][0], subscription(fields)
        self._start(name, PushConsumer(self._configuration, group, listener, wanted))

    def _open(self, fields: Fields) -> None:
        group, wanted = fields["group"][0], subscription(fields)
        made = SimpleConsumer(self._configuration, group, wanted, AWAIT_SECONDS)
        self._start(fields["consumer"][0], made)

    def _start(self, name: str, consumer: Any) -> None:
        consumer.startup()
        self._consumers[name] = consumer

    def _take(self, fields: Fields) -> None:
        consumer = self._consumers[fields["consumer"][0]]
        end = time.monotonic() + int(fields["wait"][0]) / 1000
        left = int(fields["count"][0])
        while left > 0 and time.monotonic() < end:
            found = receive(consumer, min(left, BATCH), int(fields["invisible"][0]) // 1000)
            left -= len(found)
            for one in found:
                self._taken[one.message_id] = one
                print_event("found", id=fields["id"][0], **described(one))

    def _ack(self, fields: Fields) -> None:
        for wanted in fields["wanted"]:
            self._consumers[fields["consumer"][0]].ack(self._taken[wanted])

    def _postpone(self, fields: Fields) -> None:
        invisible_seconds = int(fields["invisible"][0]) // 1000
        for wanted in fields["wanted"]:
            by = self._consumers[fields["consumer"][0]]
            by.change_invisible_duration(self._taken[wanted], invisible_seconds)

    def _close(self, fields: Fields) -> None:
        self._consumers.pop(fields["consumer"][0]).shutdown()


if __name__ == "__main__":
    client = Client(sys.argv[1])
    for line in sys.stdin:
        client.obey(line.strip())
    os._exit(0)  # threads of the client would hold the process for a while
