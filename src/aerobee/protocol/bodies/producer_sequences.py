"""The last sequence of a producer in each queue of a topic, as OPEN_PRODUCER answers: JSON.

{"lastSequences":{"0":17,"3":4}}

A queue that is not there has nothing of it.
"""

from collections.abc import Mapping

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import by_number, parse, write_compact

_MEMBER = "lastSequences"


def encode_last_sequences(last: Mapping[int, int]) -> bytes:
    return write_compact({_MEMBER: {str(queue_id): last[queue_id] for queue_id in sorted(last)}})


def decode_last_sequences(body: bytes) -> dict[int, int]:
    members = Members(parse(body), "last sequences").object(_MEMBER)
    found = {}
    for queue_id, sequence in by_number(members.plain()).items():
        if not isinstance(sequence, int) or isinstance(sequence, bool) or sequence < 0:
            raise RemoteProtocolError(f"the last sequence of queue {queue_id} is {sequence!r:.100}")
        found[queue_id] = sequence
    return found
