"""Apache goes on with what was not over when our broker stopped: timers, transactions, POP.

Our broker runs on a pretended disk, a few seconds of its life in a moment, and stops cleanly. What
it left is written to a real folder, and Apache's broker opens that. We are its only client.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.heartbeat import Heartbeat, encode_heartbeat
from aerobee.protocol.consume.pop_receipt import encode_pop_receipt
from aerobee.protocol.headers.transactions import CheckTransactionHeader
from aerobee.protocol.remoting.declared_header import read_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.config import BrokerConfig
from aerobee.sim.clock import SimClock
from tests.broker_kit import TIMER_LOG_BYTES, BrokerKit, pull_fields, records_in
from tests.interop.apache import Broker, Jars
from tests.interop.features.waiting import until
from tests.interop.seed_store import CONFIG, SETTINGS
from tests.pop_kit import got_in
from tests.transaction_kit import CHECK, COMMIT, END, GROUP, Begun, begin, end_fields
from tests.wire import JAVA_FIELDS
from tests.wire_client import WireClient

pytestmark = pytest.mark.java

POP, ACK, HEARTBEAT, PULL, SEND = 200050, 200051, 34, 11, 310
IN_TIME_MS = 20_000
"""From the stop of our broker until the timer is due and what was popped is visible again."""
STORY_MS = 6_000
FORGOTTEN = b"forgotten"
SECONDS_MAX = 120
GOING_ON = {
    **SETTINGS,
    "timerWheelEnable": "true",
    "mappedFileSizeTimerLog": TIMER_LOG_BYTES,
    "transactionTimeOut": 1_000,
    "transactionCheckInterval": 2_000,
    "autoCreateSubscriptionGroup": "true",
}


class Left(NamedTuple):
    """What our broker left, and when things are due."""

    due_ms: int
    to_commit: Begun
    to_check: Begun


def pop_fields(now_ms: int) -> dict[str, str]:
    return {
        "consumerGroup": "poppers",
        "topic": "Popped",
        "queueId": "-1",
        "maxMsgNums": "32",
        "invisibleTime": str(IN_TIME_MS + STORY_MS),
        "pollTime": "0",
        "bornTime": str(now_ms),
        "initMode": "0",
        "expType": "TAG",
        "exp": "*",
        "order": "false",
    }


def pop_and_acknowledge(kit: BrokerKit, bodies: list[bytes]) -> None:
    """Send messages, pop them, and acknowledge all but forgotten ones."""
    now_ms = kit.clock.now().wall_ms
    for body in bodies:
        sent = {**JAVA_FIELDS, "b": "Popped", "e": "0", "g": str(now_ms)}
        assert kit.ask(SEND, sent, body).code == 0
    popped = got_in(kit.ask(POP, pop_fields(now_ms)), "poppers")
    assert [got.body for got in popped] == bodies
    for got in popped:
        if got.body != FORGOTTEN:
            acked = {
                "consumerGroup": "poppers",
                "topic": "Popped",
                "queueId": "0",
                "offset": str(got.message.queue_offset),
                "extraInfo": encode_pop_receipt(got.receipt),
            }
            assert kit.ask(ACK, acked).code == 0


def leave(root: Path) -> Left:
    """Two halves are open, a message waits for its time, of three that were popped one is not
    acknowledged."""
    now_ms = time.time_ns() // 1_000_000
    clock = SimClock(now_ms - STORY_MS)
    topics = [TopicConfig(name, 2, 2) for name in ("Orders", "Popped")]
    kit = BrokerKit(*topics, config=BrokerConfig(), storage=CONFIG, clock=clock)
    due_ms = now_ms + IN_TIME_MS
    text = f"UNIQ_KEY\x01timed\x02TIMER_DELIVER_MS\x01{due_ms}\x02"
    assert kit.ask(SEND, {**JAVA_FIELDS, "e": "0", "i": text}, b"timed").code == 0
    halves = [begin(kit, name.encode(), name) for name in ("committed", "checked")]
    pop_and_acknowledge(kit, [b"first"])
    pop_and_acknowledge(kit, [b"second", FORGOTTEN])
    kit.run(STORY_MS, 100)
    kit.stop()
    for path, content in kit.disk.files().items():
        target = root.parent / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return Left(due_ms, *halves)


@pytest.fixture(scope="module")
def going_on(
    jars: Jars, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Left, WireClient, int]]:
    folder = tmp_path_factory.mktemp("ours")
    left = leave(folder / "store")
    with (
        Broker(jars, folder / "broker", folder / "store", GOING_ON) as broker,
        WireClient(port := int(broker.address.rpartition(":")[2])) as client,
    ):
        yield left, client, port


def found_in(client: WireClient, topic: str, queue_id: int) -> dict[bytes, int]:
    """(body, when it was stored) of a queue's messages."""
    answer = client.ask(PULL, pull_fields(topic=topic, queueId=queue_id, sysFlag=4))
    return {message.body: message.store_timestamp for message in records_in(answer)}


def test_apache_delivers_our_timer_when_it_is_due(going_on: tuple[Left, WireClient, int]) -> None:
    left, client, _ = going_on
    found = until(lambda: found_in(client, "Orders", 0), SECONDS_MAX, "the timer is delivered")
    assert list(found) == [b"timed"]
    # Apache's wheel turns once a second.
    assert found[b"timed"] >= left.due_ms - 1_000


def test_apache_takes_the_end_of_our_transaction(going_on: tuple[Left, WireClient, int]) -> None:
    left, client, _ = going_on
    assert client.ask(END, end_fields(left.to_commit, COMMIT)).code == 0
    assert b"committed" in until(
        lambda: found_in(client, "Orders", 1), SECONDS_MAX, "the message is seen"
    )


def test_apache_asks_the_producer_of_our_transaction(
    going_on: tuple[Left, WireClient, int],
) -> None:
    left, client, port = going_on
    with WireClient(port) as producer:
        beat = encode_heartbeat(Heartbeat("a-client", (GROUP,), ()))
        assert producer.ask(HEARTBEAT, body=beat).code == 0
        header = read_header(CheckTransactionHeader, _question(producer).ext_fields)
    said = {
        **end_fields(left.to_check, COMMIT),
        "commitLogOffset": str(header.commit_log_offset),
        "tranStateTableOffset": str(header.tran_state_table_offset),
        "fromTransactionCheck": "true",
    }
    assert client.ask(END, said).code == 0
    until(lambda: b"checked" in found_in(client, "Orders", 1), SECONDS_MAX, "the message is seen")


def _question(producer: WireClient) -> RemotingCommand:
    """The first about the half that is not over."""
    while True:
        command = producer.read()
        assert command is not None
        if command.code == CHECK and b"checked" in bytes(command.body):
            return command


def test_apache_brings_back_what_was_popped_and_not_acknowledged(
    going_on: tuple[Left, WireClient, int],
) -> None:
    left, client, _ = going_on

    def popped() -> list[bytes]:
        answer = client.ask(POP, pop_fields(time.time_ns() // 1_000_000))
        return [message.body for message in records_in(answer)] if answer.code == 0 else []

    assert until(popped, SECONDS_MAX, "the message comes back") == [FORGOTTEN]
    assert time.time_ns() // 1_000_000 >= left.due_ms - 1_000
