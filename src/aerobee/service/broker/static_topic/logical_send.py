"""A send to a logical queue, as a send to the physical queue of its leader.

A send that names no queue goes to the logical queues of this broker by turns. The answer has the
logical queue and offset; the offset is -1 while the queue is being moved here.
"""

from collections.abc import Mapping
from typing import NamedTuple

from aerobee.model.queue_mapping import MappingItem, TopicMapping
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.send.send_fields import SendFields
from aerobee.service.request import Answer

_QUEUE, _OFFSET = "queueId", "queueOffset"


class LogicalSend(NamedTuple):
    number: int
    """Of the logical queue."""
    item: MappingItem

    def command(self, command: RemotingCommand) -> RemotingCommand:
        """The send with the physical queue."""
        queue_field = SendFields(command).name("e")
        return RemotingCommand(
            command.code,
            flag=command.flag,
            opaque=command.opaque,
            version=command.version,
            language=command.language,
            remark=command.remark,
            ext_fields={**command.ext_fields, queue_field: str(self.item.queue_id)},
            body=command.body,
        )

    def answer(self, answer: Answer) -> Answer:
        """The answer with logical numbers; refusals have none."""
        said: Mapping[str, str] = answer.fields or {}
        if _OFFSET not in said:
            return answer
        offset = self.item.logical_or_undecided(int(said[_OFFSET]))
        return answer._replace(fields={**said, _QUEUE: str(self.number), _OFFSET: str(offset)})


def topic_of_send(command: RemotingCommand) -> str:
    return SendFields(command).optional_text("b")


def find_leader(mapping: TopicMapping, command: RemotingCommand, turn: int) -> LogicalSend | int:
    """The queue of a send; its number, if this broker does not lead it. RemoteProtocolError: it has
    no number."""
    number = SendFields(command).int32("e")
    if number < 0:
        led = sorted(mapping.info().led)
        number = led[turn % len(led)] if led else number
    chain = mapping.led_chain(number)
    return number if chain is None else LogicalSend(number, chain[-1])
