"""Facts of the master that is to be replaced, as it and its name servers tell them.

Every question is one that RocketMQ's masters answer, too, and none changes anything.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aerobee.client.admin.admin import Admin
from aerobee.client.admin.brokers import RuntimeInfo
from aerobee.errors import NotFound, RemoteAnswer
from aerobee.model.message_queue import MessageQueue
from aerobee.model.route import MASTER_ID
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.topic_stats import QueueStats
from aerobee.protocol.response_codes import ResponseCode

AEROBEE_KEY = "timerWheelSlots"
"""A setting that Aerobee's brokers report and RocketMQ's do not have."""
_AT_ONCE = 16
_CONNECT_SECONDS_MAX = 3.0


@dataclass(frozen=True, slots=True)
class MasterFacts:
    name: str
    cluster: str
    address: str
    slave_ids: Sequence[int]
    """Of the slaves that are registered."""
    name_servers: Mapping[str, str | None]
    """By address, why one does not answer; None: it does."""
    settings: Mapping[str, str]
    runtime: RuntimeInfo
    topics: Sequence[TopicConfig]

    @property
    def is_aerobee(self) -> bool:
        return AEROBEE_KEY in self.settings

    @property
    def free_id(self) -> int:
        """The smallest id for a slave."""
        return next(one for one in range(1, len(self.slave_ids) + 2) if one not in self.slave_ids)


async def master_facts(admin: Admin, name: str) -> MasterFacts:
    """Ask name servers and the master. NotFound: the name has no master."""
    info = await admin.cluster()
    broker = next((one for one in info.brokers if one.name == name), None)
    address = "" if broker is None else broker.addresses.get(MASTER_ID, "")
    if broker is None or not address:
        there = ", ".join(sorted(one.name for one in info.brokers)) or "none"
        raise NotFound(f"no master of {name!r} is registered", hint=f"there are: {there}")
    return MasterFacts(
        name,
        broker.cluster,
        address,
        sorted(number for number in broker.addresses if number != MASTER_ID),
        await admin.name_servers.answering(),
        (await admin.brokers.config(on=address))[address],
        (await admin.brokers.runtime(on=address))[address],
        (await admin.topics.configs(on=address))[address],
    )


async def queue_counts(
    admin: Admin, address: str, topics: Sequence[str]
) -> dict[MessageQueue, QueueStats]:
    """The bounds of all queues of these topics on one broker; a topic that it does not have has no
    queues."""
    gate = asyncio.Semaphore(_AT_ONCE)

    async def ask(topic: str) -> Mapping[MessageQueue, QueueStats]:
        async with gate:
            try:
                return (await admin.topics.stats(topic, on=address)).queues
            except RemoteAnswer as error:
                if error.code != ResponseCode.TOPIC_NOT_EXIST:
                    raise
                return {}

    found: dict[MessageQueue, QueueStats] = {}
    for queues in await asyncio.gather(*map(ask, topics)):
        found.update(queues)
    return found


async def is_listening(address: str) -> bool:
    """Whether anybody takes connections at an address: a broker that is merely slow does."""
    host, _, port = address.rpartition(":")
    try:
        _, writer = await asyncio.wait_for(
            asyncio.open_connection(host.strip("[]"), int(port)), _CONNECT_SECONDS_MAX
        )
    except OSError:  # a TimeoutError is one, too
        return False
    writer.close()
    return True
