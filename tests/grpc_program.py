"""A program of RocketMQ's official gRPC client for Python, which tests run beside a broker.

    python -m tests.grpc_program PORT stories        every story at once; a line of JSON with all
    python -m tests.grpc_program PORT talk           waits for lines: what to do next
    python -m tests.grpc_program PORT send           one message there and back

User, password and TLS are taken from the environment (AEROBEE_GRPC_USER, AEROBEE_GRPC_SECRET,
AEROBEE_GRPC_TLS). It is a process of its own because the client has threads and a log in the home
folder.
"""

import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

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

INVISIBLE_SECONDS = 15
AWAIT_SECONDS = 1
REQUEST_SECONDS = 20
"""Longer than usual: a busy machine takes its time."""
SECONDS_MAX = 60.0
BY_SQL = 2

_credentials = Credentials(
    os.environ.get("AEROBEE_GRPC_USER", ""), os.environ.get("AEROBEE_GRPC_SECRET", "")
)
_tls = {"tls_enable": bool(os.environ.get("AEROBEE_GRPC_TLS"))}
_configuration = ClientConfiguration(
    f"127.0.0.1:{sys.argv[1]}", _credentials, request_timeout=REQUEST_SECONDS
)


def message(topic: str, body: str, **said: Any) -> Message:
    made = Message()
    made.topic = topic
    made.body = body.encode()
    for name, value in said.items():
        setattr(made, name, value)
    return made


def producer(*topics: str, checker: TransactionChecker | None = None) -> Producer:
    made = Producer(_configuration, topics, checker, **_tls)
    made.startup()
    return made


def simple(group: str, topic: str, expression: FilterExpression | None = None) -> SimpleConsumer:
    """A simple consumer whose group has begun."""
    wanted = {topic: expression or FilterExpression()}
    made = SimpleConsumer(_configuration, group, wanted, AWAIT_SECONDS, **_tls)
    made.startup()
    made.receive(1, INVISIBLE_SECONDS)
    return made


def received(consumer: SimpleConsumer, count: int = 1, *, at_once: int = 1) -> list[Message]:
    """So many messages, `at_once` by a call; fewer only after a long time."""
    found: list[Message] = []
    end = time.monotonic() + SECONDS_MAX
    while len(found) < count and time.monotonic() < end:
        found += consumer.receive(at_once, INVISIBLE_SECONDS)
    return found


class Listener(MessageListener):  # type: ignore[misc]
    """Takes messages, and fails those that are named `bad`, so many times."""

    def __init__(self, count: int, failures: int = 0) -> None:
        self.seen: list[tuple[str, int]] = []
        self._left = count
        self._failures = failures
        self._changed = threading.Condition()

    def consume(self, message: Message) -> ConsumeResult:
        body = message.body.decode()
        with self._changed:
            self._changed.notify_all()
            self.seen.append((body, message.delivery_attempt))
            if body == "bad" and self._failures > 0:
                self._failures -= 1
                return ConsumeResult.FAILURE
            self._left -= 1
        return ConsumeResult.SUCCESS

    def sees(self, body: str, seconds: float) -> bool:
        """Whether this message has come, or comes soon."""
        with self._changed:
            return self._changed.wait_for(lambda: body in [one for one, _ in self.seen], seconds)

    def wait(self) -> list[tuple[str, int]]:
        with self._changed:
            self._changed.wait_for(lambda: self._left == 0, SECONDS_MAX)
            return self.seen


def push(group: str, topic: str, listener: Listener) -> PushConsumer:
    made = PushConsumer(_configuration, group, listener, {topic: FilterExpression()}, **_tls)
    made.startup()
    return made


# Stories: each has topics and groups of its own, and returns what it saw.


def normal() -> object:
    sender, consumer = producer("normal"), simple("normal", "normal", FilterExpression("A || B"))
    sent = message("normal", "first", tag="A", keys="k1")
    sent.add_property("color", "red")
    receipt = sender.send(sent)
    sender.send(message("normal", "other tag", tag="C"))
    sender.send_async(message("normal", "second", tag="B")).result()
    (first, second) = sorted(received(consumer, 2), key=lambda one: one.body)
    consumer.change_invisible_duration(first, 1)
    consumer.ack(second)
    (again,) = received(consumer)
    consumer.ack(again)
    consumer.shutdown()
    sender.shutdown()
    return {
        "first": [first.body.decode(), first.tag, list(first.keys), first.properties],
        "is_id_kept": receipt.message_id == first.message_id == again.message_id,
        "attempts": [first.delivery_attempt, again.delivery_attempt],
        "second": second.body.decode(),
    }


def sql() -> object:
    sender = producer("sql")
    consumer = simple("sql", "sql", FilterExpression("size > 3", BY_SQL))
    for size in (1, 5):
        one = message("sql", f"size {size}")
        one.add_property("size", str(size))
        sender.send(one)
    (found,) = received(consumer)
    consumer.ack(found)
    consumer.shutdown()
    sender.shutdown()
    return found.body.decode()


def pushed() -> object:
    listener = Listener(3, failures=1)
    sender, consumer = producer("pushed"), push("pushed", "pushed", listener)
    for body in ("bad", "good", "better"):
        sender.send(message("pushed", body))
    seen = sorted(listener.wait())
    consumer.shutdown()
    sender.shutdown()
    return seen


def fifo() -> object:
    """One of the messages fails as often as its group allows, and is a dead letter then."""
    listener = Listener(4, failures=9)
    sender = producer("fifo")
    for body in ("f0", "f1", "bad", "f2", "f3"):
        sender.send(message("fifo", body, message_group="g"))
    consumer = push("fifo", "fifo", listener)
    seen = listener.wait()
    consumer.shutdown()
    sender.shutdown()
    return seen


def delay() -> object:
    sender, consumer = producer("delay"), simple("delay", "delay")
    due = int(time.time()) + 6  # a busy machine has time to recall what is due a second before
    recalled = sender.send(message("delay", "recalled", delivery_timestamp=due - 1))
    sender.send(message("delay", "late", delivery_timestamp=due))
    sender.recall_message("delay", recalled.recall_handle)
    (found,) = received(consumer)
    is_early = time.time() < due
    consumer.ack(found)
    consumer.shutdown()
    sender.shutdown()
    return [found.body.decode(), is_early]


class Checker(TransactionChecker):  # type: ignore[misc]
    def __init__(self) -> None:
        self.asked: list[str] = []

    def check(self, message: Message) -> TransactionResolution:
        self.asked.append(message.body.decode())
        return TransactionResolution.COMMIT


def transaction() -> object:
    checker = Checker()
    sender, consumer = producer("tx", checker=checker), simple("tx", "tx")
    for body in ("committed", "rolled back", "orphaned"):
        begun = sender.begin_transaction()
        sender.send(message("tx", body), begun)
        if body == "committed":
            begun.commit()
        elif body == "rolled back":
            begun.rollback()
    found = received(consumer, 2)
    for one in found:
        consumer.ack(one)
    consumer.shutdown()
    sender.shutdown()
    return [sorted(one.body.decode() for one in found), checker.asked]


def priority() -> object:
    """Its queue is in no receipt: high priorities come first, although they were sent last."""
    sender, witness = producer("priority"), simple("witness", "priority")
    consumer = simple("priority", "priority")
    for number in (0, 2, 1, 99, 0):
        sender.send(message("priority", f"p{number}", priority=number))
    # What one group has received is there for all.
    received(witness, 5)
    found = received(consumer, 5, at_once=5)
    for one in found:
        consumer.ack(one)
    for member in (consumer, witness, sender):
        member.shutdown()
    return [[one.body.decode(), one.priority] for one in found]


STORIES: list[Callable[[], object]] = [normal, sql, pushed, fifo, delay, transaction, priority]


def tell_stories() -> None:
    with ThreadPoolExecutor(len(STORIES)) as pool:
        under_way = {story.__name__: pool.submit(story) for story in STORIES}
        print(json.dumps({name: one.result() for name, one in under_way.items()}), flush=True)


def talk() -> None:
    """`take N`: as a member of the group `mixed`; `send BODY`: to a push consumer of its own."""
    sender, consumer = producer("mixed"), simple("mixed", "mixed")
    listener = Listener(1)
    pusher = push("talk", "mixed", listener)
    print("ready", flush=True)
    for line in sys.stdin:
        verb, _, word = line.strip().partition(" ")
        if verb == "take":
            found = received(consumer, int(word))
            for one in found:
                consumer.ack(one)
            print(json.dumps([[one.body.decode(), one.properties] for one in found]), flush=True)
        else:
            print("seen" if _send_until_seen(sender, word, listener) else "lost", flush=True)
    consumer.shutdown()
    pusher.shutdown()
    sender.shutdown()


def _send_until_seen(sender: Producer, body: str, listener: Listener) -> bool:
    """Sends, again if it fails or is not seen for a second: a broker may be away."""
    end = time.monotonic() + SECONDS_MAX
    while time.monotonic() < end:
        with contextlib.suppress(Exception):
            sender.send(message("mixed", body))
        if listener.sees(body, 1.0):
            return True
    return False


def send() -> None:
    try:
        sender, consumer = producer("normal"), simple("normal", "normal")
        sender.send(message("normal", "there"))
        (found,) = received(consumer)
        consumer.ack(found)
        print(found.body.decode(), flush=True)
    except Exception as error:
        print(f"refused: {error}", flush=True)
    os._exit(0)  # a client that was refused does not end its threads


if __name__ == "__main__":
    {"stories": tell_stories, "talk": talk, "send": send}[sys.argv[2]]()
