"""CONSUME_MESSAGE_DIRECTLY: lets one client consume one message again, for an administrator.

The message is named by its offset message id and sent along as it is in the log; the result of the
client's listener is the answer. No offset is committed.
"""

from dataclasses import replace

from aerobee.model.message_id import parse_offset_message_id
from aerobee.protocol.headers.group_status import ConsumeDirectlyHeader
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.admin.group.client_relay import ClientRelay
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.state.groups import Groups
from aerobee.service.broker.state.topics import Topics
from aerobee.service.request import Answer, Request
from aerobee.storage.store import Store


class ConsumeDirectlyHandlers:
    def __init__(
        self,
        identity: BrokerIdentity,
        store: Store,
        topics: Topics,
        groups: Groups,
        relay: ClientRelay,
    ) -> None:
        self._identity = identity
        self._store = store
        self._topics = topics
        self._groups = groups
        self._relay = relay

    def rows(self) -> list[Row]:
        return [
            row(
                RequestCode.CONSUME_MESSAGE_DIRECTLY,
                ConsumeDirectlyHeader,
                self._consume,
                Lane.ADMIN,
            )
        ]

    def _consume(self, request: Request, header: ConsumeDirectlyHeader) -> Answer | None:
        record = self._store.record_at(parse_offset_message_id(header.msg_id).log_offset)
        if record is None:
            return Answer(
                ResponseCode.SYSTEM_ERROR, f"there is no message {header.msg_id[:64]} here"
            )
        topic = self._topics.find(header.topic)
        group = self._groups.find(header.consumer_group)
        told = replace(
            header,
            broker_name=self._identity.name,
            topic_sys_flag=topic.sys_flag if topic is not None else 0,
            group_sys_flag=group.sys_flag if group is not None else 0,
        )
        question = RemotingCommand(
            RequestCode.CONSUME_MESSAGE_DIRECTLY, ext_fields=write_header(told), body=bytes(record)
        )
        return self._relay.ask(request, header.consumer_group, header.client_id, question)
