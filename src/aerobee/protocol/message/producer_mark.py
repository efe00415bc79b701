"""`ProducerMark`: the property by which a broker recognises a message that is sent again.

    __DEDUP = epoch:sequence:place:producer      1794732382394:17:9a3f00c1:billing-1

    epoch      of two clients with one producer id the one with the greater epoch counts
    sequence   from 0 on, for each queue its own; sends in flight may overtake each other, and
               numbers may be left out
    place      CRC-32 of `topic/queue`, 8 hexadecimal digits: a copy of the message elsewhere
               (a retry, a dead letter, a forwarded one) has the property and is not meant
    producer   the id, printable, at most 120 characters

    __DEDUP = +index                             +3

In a batch the messages behind the first may have only their distance from it: their sequences
follow its sequence, and so do their queue offsets.

A producer that works in rounds, such as a streaming query, counts anew in each: round r has the
epochs from r·2²⁰ and the sequences from r·2³² on. Opening a round ends the one before it.

The mark is a property of the message and so of the record: a broker's knowledge of producers is in
the log. The request is SEND_ONCE, which has the fields of SEND_MESSAGE_V2 and `known`. All of it is
Aerobee's: any other broker does not know the request, and stores nothing.
"""

import re
import zlib
from typing import NamedTuple

from aerobee.errors import LocalProtocolError, RemoteProtocolError

KNOWN = "known"
"""Field of SEND_ONCE, `true`: the broker has acknowledged something of this producer in this queue,
so if it knows nothing of it any more, it cannot tell what is a repetition."""
DUPLICATE = "duplicate"
"""Field of the answer, `true`: it was stored before; the place is where. A place that is no longer
known has the queue offset -1 and no message id."""
QUIET = "quiet"
"""Field of SEND_ONCE, `true`: nobody asks for ids and places, neither now nor of a repetition."""
PRODUCER_CHARS_MAX = 120
NUMBER_MAX = 2**63 - 2  # the number after it still has 64 bits

# Work that goes in rounds: each has epochs and sequences of its own.
ROUND_EPOCHS = 1 << 20
ROUND_SEQUENCES = 1 << 32
ROUND_MAX = (1 << 30) - 1
PLAN_CHARS_MAX = 4000

_PRODUCER = re.compile(r"[!-~]{1,120}", re.ASCII)
_FOLLOWER = re.compile(r"\+([1-9][0-9]{0,4})", re.ASCII)
_MARK = re.compile(r"([0-9]{1,19}):([0-9]{1,19}):([0-9a-f]{8}):([!-~]{1,120})", re.ASCII)


class ProducerMark(NamedTuple):
    producer: str
    epoch: int
    sequence: int
    place: str

    def next(self, count: int) -> "ProducerMark":
        """The mark of the message so many further on in a batch."""
        return self._replace(sequence=self.sequence + count)


def place_of(topic: str, queue_id: int) -> str:
    return f"{zlib.crc32(f'{topic}/{queue_id}'.encode()):08x}"


def is_producer_id(text: str) -> bool:
    return _PRODUCER.fullmatch(text) is not None


def encode_mark(mark: ProducerMark) -> str:
    if (
        not is_producer_id(mark.producer)
        or not 0 <= mark.epoch <= NUMBER_MAX
        or not 0 <= mark.sequence <= NUMBER_MAX
    ):
        raise LocalProtocolError(
            f"{mark} is no producer's mark",
            hint=f"an id has 1 to {PRODUCER_CHARS_MAX} printable ASCII characters and no space",
        )
    return f"{mark.epoch}:{mark.sequence}:{mark.place}:{mark.producer}"


def decode_mark(text: str) -> ProducerMark:
    found = _MARK.fullmatch(text)
    if found is None:
        raise RemoteProtocolError(f"{text[:200]!r} is no producer's mark")
    epoch, sequence, place, producer = found.groups()
    if int(epoch) > NUMBER_MAX or int(sequence) > NUMBER_MAX:
        raise RemoteProtocolError(f"{text[:200]!r} has a number that is too large")
    return ProducerMark(producer, int(epoch), int(sequence), place)


def encode_follower(index: int) -> str:
    """The mark of the message that is so many behind the first of its batch."""
    return f"+{index}"


def follower_index(text: str) -> int:
    """The distance of a message from the first of its batch; 0: its mark is not of that form."""
    found = _FOLLOWER.fullmatch(text)
    return 0 if found is None else int(found.group(1))
