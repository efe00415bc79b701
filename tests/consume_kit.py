"""Tools of tests of consumers, beside a cluster: topics, messages in them, and waiting for some."""

from collections.abc import Mapping

from aerobee.client.api.message import Message
from aerobee.client.client import Client
from aerobee.client.consumer.consumer import Consumer
from aerobee.model.properties import encode_properties
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode


class Wire:
    """A client's own connections, for requests that no verb of the client makes."""

    def __init__(self, client: Client) -> None:
        self._session = client._session

    async def ask(
        self,
        address: str,
        code: RequestCode,
        fields: Mapping[str, object] | None = None,
        body: bytes = b"",
    ) -> RemotingCommand:
        said = {name: str(value) for name, value in (fields or {}).items()}
        return await self._session.ask(address, RemotingCommand(code, ext_fields=said, body=body))

    async def make_topic(self, topic: str, queues: int = 4) -> None:
        """On every broker that is alive."""
        for broker in (await self._session.name_servers.cluster()).brokers:
            answer = await self.ask(
                broker.addresses[0],
                RequestCode.UPDATE_AND_CREATE_TOPIC,
                {
                    "topic": topic,
                    "defaultTopic": "TBW102",
                    "readQueueNums": queues,
                    "writeQueueNums": queues,
                    "perm": 6,
                    "topicFilterType": "SINGLE_TAG",
                    "topicSysFlag": 0,
                    "order": "false",
                },
            )
            assert answer.code == 0, answer.remark

    async def send(
        self, topic: str, body: bytes, *, queue: int = 0, broker: int = 0, **properties: str
    ) -> None:
        route = await self._session.routes.of(topic)
        name = sorted(route.brokers)[broker]
        answer = await self.ask(
            route.brokers[name].addresses[0],
            RequestCode.SEND_MESSAGE,
            {
                "producerGroup": "tests",
                "topic": topic,
                "defaultTopic": "TBW102",
                "defaultTopicQueueNums": 4,
                "queueId": queue,
                "sysFlag": 0,
                "bornTimestamp": self._session.clock.now().wall_ms,
                "flag": 0,
                "properties": encode_properties(properties).decode(),
                "reconsumeTimes": 0,
                "unitMode": "false",
            },
            body,
        )
        assert answer.code == 0, answer.remark


async def take(consumer: Consumer, count: int) -> list[Message]:
    """So many messages, each acknowledged as it comes."""
    found: list[Message] = []
    async for message in consumer:
        found.append(message)
        await message.ack()
        if len(found) == count:
            break
    return found


def bodies(messages: list[Message]) -> list[bytes]:
    return [message.body for message in messages]


async def numbered(client: Client, count: int, *, queues: int = 1) -> None:
    """A topic `orders` with messages 0, 1, …: of one queue, or going round."""
    await client.admin.topics.create("orders", queues=queues)
    for start in range(0, count, 100):
        batch = [b"%d" % number for number in range(start, min(start + 100, count))]
        await client.send_batch("orders", batch, order_by="u" if queues == 1 else None)
