"""What a sender is told when the store does not take its message.

The code decides what its client does next: try again, try elsewhere, or give up.
"""

from aerobee.errors import DiskFailed, DiskFull, MessageIllegal, StorageError, StoreBusy
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.request import Answer


def refused_by_store(error: StorageError) -> Answer:
    """Nothing was appended; whether another try helps depends on why."""
    if isinstance(error, MessageIllegal):
        return Answer(ResponseCode.MESSAGE_ILLEGAL, str(error))
    if isinstance(error, StoreBusy):
        return Answer(ResponseCode.SYSTEM_BUSY, str(error))
    if isinstance(error, DiskFull | DiskFailed):
        return Answer(ResponseCode.SERVICE_NOT_AVAILABLE, str(error))
    return Answer(ResponseCode.SYSTEM_ERROR, str(error))
