"""CHECK_TRANSACTION_STATE: builds the request to a producer from the last copy of a half message.

The header has the offsets of the copy, which the answer repeats; the body is the record under the
real topic and queue, as the producer sent it.
"""

from dataclasses import replace

from aerobee.model.message import StoredMessage
from aerobee.model.message_queue import QueueId
from aerobee.protocol.headers.transactions import CheckTransactionHeader
from aerobee.protocol.message.stored_message import encode_record
from aerobee.protocol.remoting.command_header import ONEWAY_FLAG
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.broker.log_access.real_topic import RealPlace


def check_request(half: StoredMessage, place: RealPlace, broker_name: str) -> RemotingCommand:
    header = CheckTransactionHeader(
        topic=half.topic,
        tran_state_table_offset=half.queue_offset,
        commit_log_offset=half.log_offset,
        message_id=half.unique_id,
        transaction_id=half.unique_id,
        offset_message_id=half.offset_message_id,
        broker_name=broker_name,
    )
    shown = replace(half, topic=place.topic, queue_id=QueueId(place.queue_id))
    return RemotingCommand(
        RequestCode.CHECK_TRANSACTION_STATE,
        flag=ONEWAY_FLAG,
        ext_fields=write_header(header),
        body=encode_record(shown),
    )
