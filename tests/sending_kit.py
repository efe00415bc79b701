"""Tools that send to a cluster of a test, below the client, and look at what was stored.

async with SendBench(cluster) as bench:
    receipt = await bench.sending.send("orders", b"x")
    assert (await bench.stored(receipt)).body == b"x"
"""

from aerobee.client.api.client_options import ClientOptions
from aerobee.client.api.receipt import Receipt
from aerobee.client.connection.session import Session
from aerobee.client.send.sender import Sender
from aerobee.model.message import StoredMessage
from aerobee.model.message_id import parse_offset_message_id
from aerobee.protocol.headers.queries import ViewMessageHeader
from aerobee.protocol.message.stored_message import decode_record, expanded
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from tests.client_kit import LocalCluster


class SendBench:
    """What sends, and what looks at what was stored."""

    def __init__(self, cluster: LocalCluster, **options: object) -> None:
        self.session = Session(ClientOptions((cluster.address,), **options))  # type: ignore[arg-type]
        self.sending = Sender(self.session)

    async def __aenter__(self) -> "SendBench":
        await self.session.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.session.close()

    async def stored(self, receipt: Receipt) -> StoredMessage:
        topic = self.sending.drafts.wire_topic(receipt.queue.topic)
        route = await self.session.routes.of(topic, may_be_new=True)
        address = route.master(receipt.queue.broker_name)
        assert address is not None
        offset = parse_offset_message_id(receipt.offset_id).log_offset
        fields = write_header(ViewMessageHeader(offset))
        command = RemotingCommand(int(RequestCode.VIEW_MESSAGE_BY_ID), ext_fields=fields)
        answer = await self.session.ask(address, command)
        assert answer.code == 0, answer.remark
        return expanded(decode_record(bytes(answer.body)))
