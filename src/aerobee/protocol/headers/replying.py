"""Header fields of a reply that a broker pushes to the requesting client.

They have all that a consumer would find in the record, because the requester reads no record.
"""

from dataclasses import dataclass

from aerobee.protocol.remoting.declared_header import Int32, Int64


@dataclass(frozen=True, slots=True)
class PushReplyHeader:
    producer_group: str
    topic: str
    default_topic: str
    default_topic_queue_nums: Int32
    queue_id: Int32
    sys_flag: Int32
    born_timestamp: Int64
    flag: Int32
    properties: str
    reconsume_times: Int32
    unit_mode: bool
    born_host: str
    store_host: str
    store_timestamp: Int64
