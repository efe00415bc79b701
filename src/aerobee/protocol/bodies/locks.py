"""Queue locks ⇄ JSON: the queues that a client locks or unlocks, and those that it got.

{"clientId":"c","consumerGroup":"g","mqSet":[{"brokerName":"b","queueId":0,"topic":"T"}],
 "onlyThisBroker":false}
{"lockOKMQSet":[{"brokerName":"b","queueId":0,"topic":"T"}]}
"""

from collections.abc import Iterable
from dataclasses import dataclass

from aerobee.errors import RemoteProtocolError
from aerobee.model.message_queue import MessageQueue
from aerobee.protocol.bodies.heartbeat import CLIENT_ID_CHARS_MAX, GROUP_CHARS_MAX
from aerobee.protocol.bodies.message_queue import queue_from, queue_json
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import parse, write_compact

LOCK_BYTES_MAX = 4 * 1024 * 1024
DIALECT_BYTES_MAX = 64 * 1024
QUEUES_MAX = 10_000


@dataclass(frozen=True, slots=True)
class LockRequest:
    client_id: str
    group: str
    queues: tuple[MessageQueue, ...]


def decode_lock_request(body: bytes) -> LockRequest:
    members = Members(
        parse(body, bytes_max=LOCK_BYTES_MAX, dialect_bytes_max=DIALECT_BYTES_MAX), "the request"
    )
    client_id, group = members.text("clientId"), members.text("consumerGroup")
    queues = members.array("mqSet")
    if (
        not 0 < len(client_id) <= CLIENT_ID_CHARS_MAX
        or not 0 < len(group) <= GROUP_CHARS_MAX
        or len(queues) > QUEUES_MAX
    ):
        raise RemoteProtocolError(
            f"a client id of {len(client_id)} characters, a group of {len(group)}, "
            f"{len(queues)} queues: more than is served, or nothing"
        )
    return LockRequest(
        client_id, group, tuple(queue_from(Members(one, "an item of mqSet")) for one in queues)
    )


def encode_lock_request(request: LockRequest) -> bytes:
    return write_compact(
        {
            "clientId": request.client_id,
            "consumerGroup": request.group,
            "mqSet": [queue_json(queue) for queue in request.queues],
            "onlyThisBroker": False,
        }
    )


def encode_locked(queues: Iterable[MessageQueue]) -> bytes:
    return write_compact({"lockOKMQSet": [queue_json(queue) for queue in queues]})


def decode_locked(body: bytes) -> tuple[MessageQueue, ...]:
    """The queues that the client got."""
    members = Members(
        parse(body, bytes_max=LOCK_BYTES_MAX, dialect_bytes_max=DIALECT_BYTES_MAX), "the answer"
    )
    return tuple(
        queue_from(Members(one, "an item of lockOKMQSet")) for one in members.array("lockOKMQSet")
    )
