"""Header fields of CONSUMER_SEND_MSG_BACK, which has a message delivered again later.

Agrees with Java's ConsumerSendMsgBackRequestHeader; fields that only some clients send may be
absent.
"""

from dataclasses import dataclass

from aerobee.protocol.remoting.declared_header import Int32, Int64, on_wire


@dataclass(frozen=True, slots=True)
class SendBackHeader:
    offset: Int64
    """Where the record is in the log: the message names itself by nothing else."""
    group: str
    delay_level: Int32 = 0
    """Below 0: never again, it is a dead letter. 0: the broker chooses."""
    origin_message_id: str | None = on_wire("originMsgId", default=None)
    origin_topic: str | None = None
    unit_mode: bool = False
    max_reconsume_times: Int32 | None = None
    broker_name: str | None = on_wire("bname", default=None)
    reason: str | None = None
    """Ours: why it is a dead letter. Other brokers do not look at it."""
