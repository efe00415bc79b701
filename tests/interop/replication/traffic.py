"""Messages for a master, made from a seed: single ones and batches, with tags, keys and properties,
of many sizes.

They are sent over one connection, many in flight. Each answer must say that its message is stored.
"""

import itertools
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from aerobee.model.properties import encode_properties
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from tests.interop.features.ground import Ground
from tests.interop.features.waiting import until
from tests.interop.replication import metadata
from tests.interop.replication.brokers import Broker
from tests.wire_client import WireClient

QUEUES = 4
IN_FLIGHT = 32
_SEND = 10
_SIZES = (0, 1, 17, 200, 1_000, 4_000, 20_000, 100_000)
_NOISE = random.Random(1).randbytes(4 << 20)
_SMALL_SIZES = (1, 200, 5_000)


class BrokerIsGone(Exception):
    """The connection ended before all answers had come."""


def fill(broker: Broker, topic: str, size: int, seed: int, sizes: tuple[int, ...] = _SIZES) -> int:
    """Send bodies of so many bytes in all; the number of messages."""
    count = 0
    with WireClient(broker.broker_port) as client:
        in_flight = 0
        for command in _sends(topic, size, random.Random(seed), sizes):
            client.write(b"".join(encode(command)))
            count += 1
            in_flight += 1
            if in_flight == IN_FLIGHT:
                _check(client.read())
                in_flight -= 1
        for _ in range(in_flight):
            _check(client.read())
    return count


@contextmanager
def stream(broker: Broker, topic: str) -> Iterator[None]:
    """Send, at most 1 MiB or so a second, until the end or until the broker is gone."""
    seeds = itertools.count()

    def send() -> bool:
        try:
            fill(broker, topic, 20_000, next(seeds), _SMALL_SIZES)
        except (OSError, BrokerIsGone):
            return False
        return True

    with meanwhile(send):
        yield


@contextmanager
def meanwhile(step: Callable[[], bool]) -> Iterator[None]:
    """Do this again and again on another thread, until the end or until it says that it is over."""
    is_over = threading.Event()
    failures: list[BaseException] = []

    def go_on() -> None:
        try:
            while step() and not is_over.wait(0.02):
                pass
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
    assert not failures, failures


def _sends(
    topic: str, size: int, dice: random.Random, sizes: tuple[int, ...]
) -> Iterator[RemotingCommand]:
    number = 0
    while size > 0:
        body = _part(dice, dice.choice(sizes))
        number += 1
        size -= len(body)
        properties = {"TAGS": f"tag-{number % 3}", "KEYS": f"key-{number}", "n": str(number)}
        fields = {
            "producerGroup": "interop-traffic",
            "topic": topic,
            "defaultTopic": "TBW102",
            "defaultTopicQueueNums": str(QUEUES),
            "queueId": str(dice.randrange(QUEUES)),
            "sysFlag": "0",
            "bornTimestamp": str(time.time_ns() // 1_000_000),
            "flag": str(number % 5),
            "properties": encode_properties(properties).decode(),
            "reconsumeTimes": "0",
            "unitMode": "false",
            "batch": "false",
        }
        yield RemotingCommand(_SEND, opaque=number, ext_fields=fields, body=body or b"-")


def _part(dice: random.Random, size: int) -> bytes:
    """Some bytes of those that all bodies are made of: new ones for each would take longer than
    their sending."""
    begin = dice.randrange(len(_NOISE) - size)
    return _NOISE[begin : begin + size]


def _check(answer: RemotingCommand | None) -> None:
    if answer is None:
        raise BrokerIsGone
    assert answer.code == 0, answer.remark


def check_same_messages(master: Broker, slave: Broker, topic: str, seconds: float = 90) -> int:
    """Read a topic from both, until the slave has as many messages as the master; they must be the
    same. Their number. Nobody may send meanwhile."""
    until(lambda: topic in metadata.topics(slave), seconds, f"{slave.make}'s slave knows {topic}")
    theirs = Ground(master).stored(topic)
    ours = Ground(slave).stored_all(topic, len(theirs), seconds)
    assert ours == theirs
    return len(theirs)
