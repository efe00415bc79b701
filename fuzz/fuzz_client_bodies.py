"""Any bytes are a heartbeat, locks, a status or a subscription, or a ProtocolError each time.

What was read of a heartbeat or of locks is written so that it is read back the same.
"""

import contextlib

from aerobee.errors import ProtocolError
from aerobee.protocol.bodies.group_offsets import decode_client_status, encode_consumer_status
from aerobee.protocol.bodies.heartbeat import decode_heartbeat, encode_heartbeat
from aerobee.protocol.bodies.locks import decode_lock_request, encode_lock_request
from aerobee.protocol.bodies.subscription import decode_subscription_check


def check(data: bytes) -> None:
    """Any bytes are read as one of these or refused, and read back as they were written."""
    try:
        heartbeat = decode_heartbeat(data)
    except ProtocolError:
        pass
    else:
        assert decode_heartbeat(encode_heartbeat(heartbeat)) == heartbeat
    try:
        locks = decode_lock_request(data)
    except ProtocolError:
        pass
    else:
        assert decode_lock_request(encode_lock_request(locks)) == locks
    with contextlib.suppress(ProtocolError):
        encode_consumer_status({"client": decode_client_status(data)})
    with contextlib.suppress(ProtocolError):
        decode_subscription_check(data)
