"""The fields of requests about transactions: END_TRANSACTION, CHECK_TRANSACTION_STATE,
RESUME_CHECK_HALF_MESSAGE, and LIST_OPEN_TRANSACTIONS, which is ours.

Agrees with Java's EndTransactionRequestHeader, CheckTransactionStateRequestHeader and
ResumeCheckHalfMessageRequestHeader; what only some clients say may be absent.
"""

from dataclasses import dataclass

from aerobee.protocol.remoting.declared_header import Int32, Int64, on_wire


@dataclass(frozen=True, slots=True)
class EndTransactionHeader:
    producer_group: str
    tran_state_table_offset: Int64
    """The queue offset of the half message, as the answer to its send or a check said it."""
    commit_log_offset: Int64
    commit_or_rollback: Int32
    """A `TransactionType`: COMMIT, ROLLBACK, or NONE for "not known yet"."""
    from_transaction_check: bool = False
    """Whether it answers a check."""
    message_id: str | None = on_wire("msgId", default=None)
    transaction_id: str | None = None
    topic: str | None = None
    broker_name: str | None = on_wire("bname", default=None)


@dataclass(frozen=True, slots=True)
class CheckTransactionHeader:
    tran_state_table_offset: Int64
    commit_log_offset: Int64
    transaction_id: str
    message_id: str = on_wire("msgId")
    offset_message_id: str = on_wire("offsetMsgId")
    topic: str = ""
    """Of half messages; the real one is in the record that is the body. RocketMQ 4 says neither
    this nor who asks."""
    broker_name: str = on_wire("bname", default="")


@dataclass(frozen=True, slots=True)
class ResumeCheckHeader:
    message_id: str = on_wire("msgId")
    """The offset message id of what was given up."""
    topic: str | None = None


@dataclass(frozen=True, slots=True)
class OpenTransactionsHeader:
    producer_group: str = ""
    """Only of this group; empty: of all."""
    offset: Int64 = 0
    """The first queue offset that is of interest: `nextOffset` of the page before."""
    max_num: Int32 = 32
