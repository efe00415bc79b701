"""A large cluster for the console: real brokers in one process, filled by the requests of tools.

    25 masters, each with a slave · 10,000 topics · 10,000 groups with offsets · 1,000 clients

Topics and groups are spread over the masters. Clients are connections that send heartbeats, each as
a producer and as a member of one group; nothing is sent or consumed.
"""

import asyncio
import contextlib
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from typing import NamedTuple

import aerobee
from aerobee.client.admin.admin import Admin
from aerobee.model.group import GroupConfig
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.route import MASTER_ID
from aerobee.model.subscription import Subscription
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.heartbeat import ConsumerBeat, Heartbeat, encode_heartbeat
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode

AT_ONCE = 50
BEAT_SECONDS = 30.0
IS_ANSWER = 1


class Size(NamedTuple):
    masters: int = 25
    topics: int = 10_000
    groups: int = 10_000
    clients: int = 1_000


def topic_name(number: int) -> str:
    return f"team-{number % 40:02}-topic-{number:05}"


def group_name(number: int) -> str:
    return f"team-{number % 40:02}-group-{number:05}"


class Cluster(NamedTuple):
    name_server: str
    pid: int


@contextlib.contextmanager
def running_cluster(size: Size) -> Iterator[Cluster]:
    """`aerobee up` with brokers on free ports, in a folder that is removed."""
    words = ("up", "--temp", "--no-console", "--port", "0", "--nameserver-port", "0")
    several = ("--brokers", str(size.masters), "--slaves", "1")
    command = [sys.executable, "-m", "aerobee", *words, *several]
    up = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert up.stdout is not None
        told = next(
            found[1]
            for line in up.stdout
            if line.startswith("ready:") and (found := re.search(r"nameserver (\S+?)[,\s]", line))
        )
        yield Cluster(told, up.pid)
    finally:
        up.terminate()
        up.communicate(timeout=120)


async def fill(cluster: Cluster, size: Size) -> None:
    """Create topics and groups, and commit an offset of each group."""
    async with aerobee.admin(cluster.name_server, timeout=60.0) as admin:
        masters = await _masters(admin)
        names = sorted(masters)
        for at, broker in enumerate(names):
            topics = range(at, size.topics, len(names))
            groups = range(at, size.groups, len(names))
            await admin.topics.put_many([TopicConfig(topic_name(one)) for one in topics], on=broker)
            await admin.groups.put_many([GroupConfig(group_name(one)) for one in groups], on=broker)
            gate = asyncio.Semaphore(AT_ONCE)
            await asyncio.gather(*(_commit(admin, gate, masters, broker, one) for one in groups))


async def _commit(
    admin: Admin, gate: asyncio.Semaphore, masters: dict[str, str], broker: str, number: int
) -> None:
    async with gate:
        queue = MessageQueue(topic_name(number), broker, QueueId(0))
        await admin.offsets.commit(group_name(number), queue, 0, on=masters[broker])


@contextlib.asynccontextmanager
async def connected_clients(cluster: Cluster, size: Size) -> AsyncIterator[None]:
    """Clients that stay while the block lasts."""
    async with aerobee.admin(cluster.name_server) as admin:
        masters = await _masters(admin)
    names = sorted(masters)
    beats = [
        asyncio.create_task(_client(masters[names[number % len(names)]], number))
        for number in range(size.clients)
    ]
    try:
        yield
    finally:
        for one in beats:
            one.cancel()
        await asyncio.wait(beats)


async def _client(address: str, number: int) -> None:
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        beat = ConsumerBeat(group_name(number), subscriptions=(Subscription(topic_name(number)),))
        told = Heartbeat(f"10.0.{number // 250}.{number % 250}@{number}", ("orders",), (beat,))
        request = RemotingCommand(RequestCode.HEART_BEAT, body=encode_heartbeat(told))
        while True:
            writer.writelines(encode(request))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(BEAT_SECONDS):
                    while True:
                        await _refuse_next(reader, writer)
    finally:
        writer.close()


async def _refuse_next(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the next question of a broker at once: this client has nothing to tell."""
    size = int.from_bytes(await reader.readexactly(4), "big")
    frame = await reader.readexactly(size)
    header = json.loads(frame[4 : 4 + (int.from_bytes(frame[:4], "big") & 0xFFFFFF)])
    if not header["flag"] & IS_ANSWER:
        told = RemotingCommand(
            ResponseCode.SYSTEM_ERROR, flag=IS_ANSWER, opaque=header["opaque"], remark="nothing"
        )
        writer.writelines(encode(told))


async def _masters(admin: Admin) -> dict[str, str]:
    brokers = (await admin.cluster()).brokers
    return {one.name: one.addresses[MASTER_ID] for one in brokers if MASTER_ID in one.addresses}
