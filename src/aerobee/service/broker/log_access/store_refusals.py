"""The answer to a sender when the store refuses its message.

The code decides what its client does next: try again, try another broker, or give up.
"""

from aerobee.errors import DiskFailed, MessageIllegal, NothingTaken, StorageError, StoreBusy
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.request import Answer


def message_too_large(body_bytes_max: int) -> Answer:
    """The refusal of a body or of properties that are too large, in RocketMQ's own words: people
    look for the cause by them."""
    return Answer(
        ResponseCode.MESSAGE_ILLEGAL,
        "the message is illegal, maybe msg body or properties length not matched. "
        f"msg body length limit {body_bytes_max}B, msg properties length limit 32KB.",
    )


def refused_by_store(error: StorageError) -> Answer:
    """The answer by the kind of error. Nothing was appended."""
    if isinstance(error, MessageIllegal):
        return Answer(ResponseCode.MESSAGE_ILLEGAL, str(error))
    if isinstance(error, StoreBusy):
        return Answer(ResponseCode.SYSTEM_BUSY, str(error))
    if isinstance(error, NothingTaken | DiskFailed):
        # Apache answers too few in-sync replicas with SYSTEM_ERROR, which may mean anything. Every
        # client tries both again elsewhere, and this one says that nothing was stored.
        return Answer(ResponseCode.SERVICE_NOT_AVAILABLE, str(error))
    return Answer(ResponseCode.SYSTEM_ERROR, str(error))
