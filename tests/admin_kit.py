"""An admin client beside a cluster in this process, and messages for it to look at."""

from collections.abc import Awaitable, Callable, Mapping

from aerobee.client.admin.admin import Admin, admin
from aerobee.client.client import Client
from aerobee.client.core.routes import client_route
from aerobee.model.message_queue import MessageQueue
from aerobee.model.properties import encode_properties
from aerobee.protocol.bodies.heartbeat import ConsumerBeat
from aerobee.protocol.bodies.subscription import make_subscription
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.testing import Cluster
from tests.net_kit import in_loop

Test = Callable[[Admin, Cluster], Awaitable[None]]


def with_admin(test: Test, *, brokers: int = 1, settings: Mapping[str, str] | None = None) -> None:
    async def run() -> None:
        async with (
            Cluster(brokers=brokers, settings=settings) as cluster,
            admin(cluster.address, timeout=60, connect_timeout=60) as tool,
        ):
            await test(tool, cluster)

    in_loop(run)


async def put(client: Client, queue: MessageQueue, body: bytes, **properties: str) -> str:
    """Store a message in a queue of a topic that exists; the broker's id of it."""
    session = client._session
    route = client_route(queue.topic, (await session.name_servers.route(queue.topic))[0])
    address = route.master(queue.broker_name)
    assert address is not None
    command = RemotingCommand(
        RequestCode.SEND_MESSAGE,
        ext_fields={
            "producerGroup": "P",
            "topic": queue.topic,
            "defaultTopic": "TBW102",
            "defaultTopicQueueNums": "4",
            "queueId": str(queue.queue_id),
            "sysFlag": properties.pop("sys_flag", "0"),
            "bornTimestamp": "1700000000000",
            "flag": "0",
            "properties": encode_properties(properties).decode(),
            "reconsumeTimes": "0",
            "unitMode": "false",
            "batch": "false",
        },
        body=body,
    )
    answer = await session.ask(address, command)
    assert answer.code == 0, answer.remark
    return answer.ext_fields["msgId"]


async def join(client: Client, group: str, topic: str, expression: str = "*") -> None:
    """Have a client say that it consumes a topic, though it never pulls."""
    await client._session.routes.of(topic)
    beat = ConsumerBeat(group, subscriptions=(make_subscription(topic, expression, 1),))
    await client._session.members.consume(beat)
