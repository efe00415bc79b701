"""Every response code, in one table: the error it becomes and what it says of a send.

Error: Retriable, another broker or a later try may work (Java's producer retries exactly such
codes of a send: 1, 2, 14, 16, 17, 204, 205, 1500); Refused, it will not; none, a normal outcome
that is returned and not raised (queue empty, offset moved, no index hit).

Outcome of the send that it answers: ACKED, stored as promised, SUCCESS and nothing else; FAILED,
refused before anything was appended, so it must never be readable; UNKNOWN, everything else: it
may be in the log, and a retry may make a second one. A code that no send is answered with, and one
that nobody knows, is UNKNOWN: that claims the least.

The numbers are those of RocketMQ's ResponseCode. 209 to 211 meant ACL errors before 5.0. Those from
28000 on are ours.
"""

from enum import Enum, IntEnum

from aerobee.errors import Refused, RemoteAnswer, Retriable

RETRY_AFTER = "retryAfterMs"
"""The field of a refusal that says how long to wait. Only Aerobee's servers send it."""


class SendOutcome(Enum):
    """Outcome of a send, as far as a producer may rely on its answer."""

    ACKED = "acked"
    UNKNOWN = "unknown"
    FAILED = "failed"


_ACKED = SendOutcome.ACKED
_UNKNOWN = SendOutcome.UNKNOWN
_FAILED = SendOutcome.FAILED


class ResponseCode(IntEnum):
    """A number with the error it becomes and the outcome of the send it answers."""

    error: type[Retriable] | type[Refused] | None
    outcome: SendOutcome

    def __new__(
        cls,
        number: int,
        error: type[Retriable] | type[Refused] | None,
        outcome: SendOutcome,
    ) -> "ResponseCode":
        code = int.__new__(cls, number)
        code._value_ = number
        code.error = error
        code.outcome = outcome
        return code

    SUCCESS = 0, None, _ACKED
    SYSTEM_ERROR = 1, Retriable, _UNKNOWN
    SYSTEM_BUSY = 2, Retriable, _FAILED
    REQUEST_CODE_NOT_SUPPORTED = 3, Refused, _FAILED
    TRANSACTION_FAILED = 4, Refused, _UNKNOWN
    # Stored, and still "sent" to a Java client; but the promise was not kept in time.
    FLUSH_DISK_TIMEOUT = 10, None, _UNKNOWN
    SLAVE_NOT_AVAILABLE = 11, None, _UNKNOWN
    FLUSH_SLAVE_TIMEOUT = 12, None, _UNKNOWN
    MESSAGE_ILLEGAL = 13, Refused, _FAILED
    SERVICE_NOT_AVAILABLE = 14, Retriable, _FAILED
    VERSION_NOT_SUPPORTED = 15, Refused, _FAILED
    NO_PERMISSION = 16, Retriable, _FAILED
    TOPIC_NOT_EXIST = 17, Retriable, _FAILED
    TOPIC_EXIST_ALREADY = 18, Refused, _UNKNOWN
    PULL_NOT_FOUND = 19, None, _UNKNOWN
    PULL_RETRY_IMMEDIATELY = 20, None, _UNKNOWN
    PULL_OFFSET_MOVED = 21, None, _UNKNOWN
    QUERY_NOT_FOUND = 22, None, _UNKNOWN
    SUBSCRIPTION_PARSE_FAILED = 23, Refused, _UNKNOWN
    # The next heartbeat brings what 24, 25, 27 and 28 miss.
    SUBSCRIPTION_NOT_EXIST = 24, Retriable, _UNKNOWN
    SUBSCRIPTION_NOT_LATEST = 25, Retriable, _UNKNOWN
    # Answers a send to the retry topic of a group that is not there.
    SUBSCRIPTION_GROUP_NOT_EXIST = 26, Refused, _FAILED
    FILTER_DATA_NOT_EXIST = 27, Retriable, _UNKNOWN
    FILTER_DATA_NOT_LATEST = 28, Retriable, _UNKNOWN
    INVALID_PARAMETER = 29, Refused, _FAILED
    TRANSACTION_SHOULD_COMMIT = 200, None, _UNKNOWN
    TRANSACTION_SHOULD_ROLLBACK = 201, None, _UNKNOWN
    TRANSACTION_STATE_UNKNOW = 202, None, _UNKNOWN
    TRANSACTION_STATE_GROUP_WRONG = 203, Refused, _UNKNOWN
    NO_BUYER_ID = 204, Retriable, _UNKNOWN
    NOT_IN_CURRENT_UNIT = 205, Retriable, _UNKNOWN
    CONSUMER_NOT_ONLINE = 206, Retriable, _UNKNOWN
    CONSUME_MSG_TIMEOUT = 207, Retriable, _UNKNOWN
    NO_MESSAGE = 208, None, _UNKNOWN
    POLLING_FULL = 209, Retriable, _UNKNOWN
    POLLING_TIMEOUT = 210, None, _UNKNOWN
    BROKER_NOT_EXIST = 211, Refused, _UNKNOWN
    BROKER_DISPATCH_NOT_COMPLETE = 212, Retriable, _UNKNOWN
    BROADCAST_CONSUMPTION = 213, Refused, _UNKNOWN
    FLOW_CONTROL = 215, Retriable, _FAILED
    NOT_LEADER_FOR_QUEUE = 501, Retriable, _FAILED
    ILLEGAL_OPERATION = 604, Refused, _UNKNOWN
    # Said instead of serving the request: connect anew and send again.
    GO_AWAY = 1500, Retriable, _FAILED
    RPC_UNKNOWN = -1000, Retriable, _UNKNOWN
    RPC_ADDR_IS_NULL = -1002, Retriable, _UNKNOWN
    RPC_SEND_TO_CHANNEL_FAILED = -1004, Retriable, _UNKNOWN
    RPC_TIME_OUT = -1006, Retriable, _UNKNOWN
    CONTROLLER_FENCED_MASTER_EPOCH = 2000, Refused, _UNKNOWN
    CONTROLLER_FENCED_SYNC_STATE_SET_EPOCH = 2001, Refused, _UNKNOWN
    CONTROLLER_INVALID_MASTER = 2002, Refused, _UNKNOWN
    CONTROLLER_INVALID_REPLICAS = 2003, Refused, _UNKNOWN
    CONTROLLER_MASTER_NOT_AVAILABLE = 2004, Retriable, _UNKNOWN
    CONTROLLER_INVALID_REQUEST = 2005, Refused, _UNKNOWN
    CONTROLLER_BROKER_NOT_ALIVE = 2006, Retriable, _UNKNOWN
    CONTROLLER_NOT_LEADER = 2007, Retriable, _UNKNOWN
    CONTROLLER_BROKER_METADATA_NOT_EXIST = 2008, Refused, _UNKNOWN
    CONTROLLER_INVALID_CLEAN_BROKER_METADATA = 2009, Refused, _UNKNOWN
    CONTROLLER_BROKER_NEED_TO_BE_REGISTERED = 2010, Refused, _UNKNOWN
    CONTROLLER_MASTER_STILL_EXIST = 2011, Refused, _UNKNOWN
    CONTROLLER_ELECT_MASTER_FAILED = 2012, Retriable, _UNKNOWN
    CONTROLLER_ALTER_SYNC_STATE_SET_FAILED = 2013, Retriable, _UNKNOWN
    CONTROLLER_BROKER_ID_INVALID = 2014, Refused, _UNKNOWN
    CONTROLLER_JRAFT_INTERNAL_ERROR = 2015, Retriable, _UNKNOWN
    CONTROLLER_BROKER_LIVE_INFO_NOT_EXISTS = 2016, Retriable, _UNKNOWN
    USER_NOT_EXIST = 3001, Refused, _UNKNOWN
    POLICY_NOT_EXIST = 3002, Refused, _UNKNOWN
    # Ours: of sends that are stored once.
    PRODUCER_FENCED = 28101, Refused, _FAILED
    PRODUCER_FORGOTTEN = 28102, Refused, _UNKNOWN
    TOO_MANY_PRODUCERS = 28103, Refused, _FAILED
    ROUND_FINISHED = 28104, Refused, _FAILED


_BY_NUMBER = {int(code): code for code in ResponseCode}


def find_response_code(number: int) -> ResponseCode | None:
    """The code with this number, if it is known."""
    return _BY_NUMBER.get(number)


def error_for(number: int, remark: str) -> RemoteAnswer | None:
    """The error that an answer becomes, or None for a normal outcome.

    A number that nobody knows is a refusal: trying again would be a guess.
    """
    code = _BY_NUMBER.get(number)
    name = code.name if code is not None else "unknown response code"
    error = code.error if code is not None else Refused
    if error is None:
        return None
    said = f": {remark}" if remark else ""
    return error(f"{name} ({number}){said}", code=number)


def outcome_of(number: int) -> SendOutcome:
    """The outcome of a send that is answered with this number."""
    code = _BY_NUMBER.get(number)
    return code.outcome if code is not None else SendOutcome.UNKNOWN
