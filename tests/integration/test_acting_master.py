"""A slave that acts as master, with real processes: the master is killed, the slave has another
master deliver what waits, and hands its progress back when the master returns."""

import asyncio
import contextlib
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from aerobee.client.admin.admin import Admin, admin
from aerobee.client.client import connect
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.protocol.bodies.locks import LockRequest, decode_locked, encode_lock_request
from aerobee.protocol.message.stored_message import client_messages
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from tests.broker_kit import pull_fields
from tests.pop_kit import got_in
from tests.process_kit import Started
from tests.wire_client import WireClient

SECONDS_MAX = 60

TOPIC = "Orders"
POPPED = "Parcels"
RETRY = f"%RETRY%packers_{POPPED}"
WAIT_MS = 20_000
"""Of the message for a time, and of the popped one: the slave acts by then."""
CLUSTER = {
    "enableSlaveActingMaster": "true",
    "enableRemoteEscape": "true",
    "totalReplicas": "2",
    "metricsExporterType": "DISABLE",
    "haListenPort": "0",
    "brokerIP1": "127.0.0.1",
    "bindAddress": "127.0.0.1",
    "mappedFileSizeCommitLog": str(16 << 20),
    "timerPrecisionMs": "100",
    # Level 3 is the one in use.
    "messageDelayLevel": "1s 5s 15s",
    "transactionTimeOut": "8000",
    "transactionCheckInterval": "3000",
}


class Group:
    """A name server, and brokers of two names."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._started: list[Started] = []
        paths = {
            "AEROBEE_NAMESRV_KV_CONFIG_PATH": str(home / "kvConfig.json"),
            "AEROBEE_NAMESRV_CONFIG_STORE_PATH": str(home / "namesrv.properties"),
            "AEROBEE_NAMESRV_SUPPORT_ACTING_MASTER": "true",
            "AEROBEE_NAMESRV_NOTIFY_MIN_BROKER_ID_CHANGED": "true",
        }
        name_server = self._begin("nameserver", "start", "--port", "0", **paths)
        self.name_server = f"127.0.0.1:{name_server.ports()['nameserver']}"
        self.ports: dict[str, int] = {}

    def _begin(self, *words: str, **environment: str) -> Started:
        started = Started(self._home, *words, **environment)
        self._started.append(started)
        return started

    def broker(self, folder: str, **settings: str) -> Started:
        file = self._home / f"{folder}.conf"
        lines = {**CLUSTER, "storePathRootDir": str(self._home / folder), **settings}
        file.write_text("".join(f"{key}={text}\n" for key, text in lines.items()))
        port = str(self.ports.get(folder, 0))
        words = ("broker", "start", "-c", str(file), "-n", self.name_server, "--port", port)
        started = self._begin(*words)
        self.ports[folder] = started.ports()["broker"]
        return started

    def log(self, folder: str) -> bytes:
        files = sorted((self._home / folder / "commitlog").iterdir())
        return b"".join(file.read_bytes() for file in files)

    def end(self) -> None:
        for started in reversed(self._started):
            if started.process.poll() is None:
                started.process.kill()
            print(started.process.args, *started.end(), sep="\n")


def send(port: int, topic: str, body: bytes, properties: Mapping[str, str], flags: int = 0) -> None:
    text = "".join(f"{name}\x01{value}\x02" for name, value in properties.items())
    fields = {
        "a": "senders",
        "b": topic,
        "c": "TBW102",
        "d": "1",
        "e": "0",
        "f": str(flags),
        "g": str(int(time.time() * 1000)),
        "h": "0",
        "i": text,
        "j": "0",
        "k": "false",
    }
    deadline = time.monotonic() + SECONDS_MAX
    while time.monotonic() < deadline:
        # A master that has just started asks its slaves first, and is built anew.
        with contextlib.suppress(OSError, AssertionError), WireClient(port) as wire:
            if wire.ask(310, fields, body).code == 0:
                return
    raise AssertionError("nothing can be sent")


def bodies(port: int, topic: str) -> list[bytes]:
    """The messages in the first queue of a topic at one broker."""
    with WireClient(port) as wire:
        fields = pull_fields(topic=topic, consumerGroup="packers", suspendTimeoutMillis=0)
        answer = wire.ask(11, fields)
        if answer.code != 0:
            return []
        return [message.body for message in client_messages(bytes(answer.body))]


async def eventually(is_so: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + SECONDS_MAX
    while not await asyncio.to_thread(is_so):  # the client goes on meanwhile
        assert time.monotonic() < deadline, what


async def status(told: Admin, address: str) -> str:
    """The state of a slave, as it says itself."""
    member = await told.replicas.member(address)
    return getattr(member.status, "state", member.problem)


def offset(port: int) -> int:
    """Of the group, in the first queue, as a broker knows it."""
    with WireClient(port) as wire:
        fields = {"consumerGroup": "packers", "topic": TOPIC, "queueId": "0"}
        return int(wire.ask(14, fields).ext_fields.get("offset", "-1"))


def pop(port: int) -> RemotingCommand:
    now = str(int(time.time() * 1000))
    fields = {
        "consumerGroup": "packers",
        "topic": POPPED,
        "queueId": "-1",
        "maxMsgNums": "8",
        "invisibleTime": str(WAIT_MS),
        "pollTime": "0",
        "bornTime": now,
        "initMode": "0",
        "expType": "TAG",
        "exp": "*",
        "order": "false",
    }
    with WireClient(port) as wire:
        return wire.ask(200050, fields)


def locked(port: int, client: str) -> list[MessageQueue]:
    """The queues that a consumer has got of the one for which it asked."""
    queue = MessageQueue(TOPIC, "broker-a", QueueId(0))
    with WireClient(port) as wire:
        body = encode_lock_request(LockRequest(client, "packers", (queue,)))
        return list(decode_locked(bytes(wire.ask(41, body=body).body)))


def test_what_waits_comes_through_another_master_and_is_not_done_again(tmp_path: Path) -> None:
    group = Group(tmp_path)
    try:
        asyncio.run(_story(group))
    finally:
        group.end()


async def _story(group: Group) -> None:
    master = group.broker("a", brokerName="broker-a")
    group.broker("s", brokerName="broker-a", brokerRole="SLAVE", brokerId="1")
    first, slave = group.ports["a"], group.ports["s"]
    send(first, TOPIC, b"at once", {"WAIT": "true"})
    send(first, POPPED, b"popped", {"WAIT": "true"})

    def is_popped() -> bool:
        return [one.body for one in got_in(pop(first), "packers")] == [b"popped"]

    await eventually(is_popped, "nothing was popped")
    with WireClient(first) as wire:
        fields = {"consumerGroup": "packers", "topic": TOPIC, "queueId": "0", "commitOffset": "1"}
        assert wire.ask(15, fields).code == 0
    send(first, TOPIC, b"delayed", {"DELAY": "3", "UNIQ_KEY": "D"})
    at = int(time.time() * 1000) + WAIT_MS
    send(first, TOPIC, b"timed", {"TIMER_DELIVER_MS": str(at), "UNIQ_KEY": "T"})
    half = {"TRAN_MSG": "true", "PGROUP": "payers", "UNIQ_KEY": "H"}
    send(first, TOPIC, b"half", half, flags=4)
    await eventually(lambda: group.log("s") == group.log("a"), "the slave does not follow")
    await eventually(lambda: offset(slave) == 1, "the slave does not copy tables")
    master.stop(signal.SIGKILL)
    copied = group.log("s")
    group.broker("b", brokerName="broker-b")
    second = group.ports["b"]
    checked = []

    async def check(message: object) -> bool:
        checked.append(message)
        return True

    address = f"127.0.0.1:{slave}"
    async with connect(group.name_server) as client, admin(group.name_server) as told:
        # The topic has to be there, for its producers to know the second master.
        send(second, TOPIC, b"other", {"WAIT": "true"})
        await client.answer_checks("payers", check, topics=[TOPIC])

        def all_there() -> bool:
            return sorted(bodies(second, TOPIC)) == [b"delayed", b"half", b"other", b"timed"]

        await eventually(lambda: bodies(second, RETRY) == [b"popped"], "the popped one is gone")
        await eventually(all_there, "what waited does not come")
        assert len(checked) == 1
        assert await status(told, address) == "acting as master"
        assert pop(slave).code == 14
        assert [len(locked(slave, client)) for client in ("one", "other", "one")] == [1, 0, 1]
        assert group.log("s") == copied, "an acting master wrote to its log"
        group.broker("a", brokerName="broker-a")
        send(first, TOPIC, b"again", {"DELAY": "2"})
        deadline = time.monotonic() + SECONDS_MAX
        while await status(told, address) != "following":
            assert time.monotonic() < deadline
    # What is not done yet is due before this message.
    await eventually(lambda: b"again" in bodies(first, TOPIC), "no message is delayed any more")
    assert bodies(first, TOPIC) == [b"at once", b"again"]
    assert bodies(first, RETRY) == []
    assert sorted(bodies(second, TOPIC)) == [b"delayed", b"half", b"other", b"timed"]
    await eventually(lambda: group.log("s") == group.log("a"), "the slave does not follow again")
