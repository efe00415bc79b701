"""The deeds of clients: every send with its outcome, every message that a consumer was handed,
everything that a group is done with.

Written by clients while a story runs, judged by `judgement`. What can be judged at once is: a
breach goes to `breaches`, and the story ends.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, Protocol

from aerobee.app.chaos.log_check import Queue, Sent, SentOutcome
from aerobee.protocol.response_codes import SendOutcome

NAME_END = b"|"
NUMBER_END = b"/"

OUTCOMES = {
    SendOutcome.ACKED: SentOutcome.ACKNOWLEDGED,
    SendOutcome.UNKNOWN: SentOutcome.UNKNOWN,
    SendOutcome.FAILED: SentOutcome.REFUSED,
}


class Place(NamedTuple):
    """A queue of a broker."""

    broker: str
    topic: str
    queue_id: int


class Handed(Protocol):
    """A message that a consumer was given, by whichever protocol."""

    @property
    def body(self) -> bytes: ...

    @property
    def queue_offset(self) -> int: ...


class Ending(Enum):
    """Of a transaction."""

    COMMIT = "committed"
    ROLLBACK = "rolled back"
    NEVER = "never ended"


@dataclass
class Attempt:
    """One message of one send: a retry is another."""

    name: bytes
    """`producer-count/try`; a body begins with it."""
    place: Place
    """Where it is stored: of a delayed one, in the schedule."""
    body: bytes
    began: int
    began_ms: int
    delay_ms: int = 0
    outcome: SentOutcome = SentOutcome.UNKNOWN
    ended: int = 0
    ended_ms: int = 0
    offset: int | None = None
    ending: Ending | None = None
    """Of half a transaction: what its producer says of it."""
    is_excused: bool = False
    """Lost in a way that was never promised not to happen."""

    @property
    def number(self) -> bytes:
        """What tells messages apart: the same for all tries."""
        return number_of(self.name)

    def sent(self) -> Sent:
        queue: Queue = (self.place.topic.encode(), self.place.queue_id)
        return Sent(self.name, queue, self.body, self.outcome, self.began, self.ended, self.offset)


@dataclass
class Alarm:
    """One message for an exact time: a retry is another."""

    name: bytes
    broker: str
    deliver_ms: int
    began_ms: int
    outcome: SentOutcome = SentOutcome.UNKNOWN
    recalled: SentOutcome = SentOutcome.REFUSED
    """What came of taking it back; refused, too, if nobody tried."""
    recall_began_ms: int = 0


@dataclass
class HandedBack:
    """A consumer gave a message back and was told that it will come again."""

    group: str
    number: bytes
    broker: str
    at_ms: int


class Breach(NamedTuple):
    kind: str
    detail: str


@dataclass
class History:
    now_ms: Callable[[], int]
    attempts: dict[bytes, Attempt] = field(default_factory=dict)
    handed: dict[Place, dict[int, bytes]] = field(default_factory=lambda: defaultdict(dict))
    """What consumers saw at each offset."""
    done: dict[tuple[str, Place], set[int]] = field(default_factory=lambda: defaultdict(set))
    """Offsets that a group needs no more: processed, or handed back."""
    processed: dict[str, set[bytes]] = field(default_factory=lambda: defaultdict(set))
    """By group, numbers of messages."""
    handed_back: list[HandedBack] = field(default_factory=list)
    alarms: dict[bytes, Alarm] = field(default_factory=dict)
    popped: dict[tuple[str, Place, int], int] = field(default_factory=dict)
    """What is acknowledged by a group that pops, and since when."""
    may_lose_after: Callable[[str, int], bool] = lambda broker, at_ms: False
    """Whether a broker may have lost since what it never promised to keep."""
    breaches: list[Breach] = field(default_factory=list)
    early_ms_max: Callable[[str], int] = lambda broker: 0
    """How much too early a delayed message of a broker may come, because its clock was set."""
    moments: int = 0
    restarted_ms: dict[str, int] = field(default_factory=dict)
    """When brokers began to serve the last time: what older connections bring is of yesterday."""

    def breach(self, kind: str, detail: str) -> None:
        self.breaches.append(Breach(kind, f"at {self.now_ms()} ms: {detail}"))

    # Producers.

    def begin(self, name: bytes, place: Place, body: bytes, delay_ms: int = 0) -> Attempt:
        self.moments += 1
        attempt = Attempt(name, place, body, self.moments, self.now_ms(), delay_ms)
        assert name not in self.attempts
        self.attempts[name] = attempt
        return attempt

    def end(self, attempts: Iterable[Attempt], outcome: SendOutcome, offset: int | None) -> None:
        self.moments += 1
        for index, attempt in enumerate(attempts):
            attempt.outcome = OUTCOMES[outcome]
            attempt.ended = self.moments
            attempt.ended_ms = self.now_ms()
            attempt.offset = offset + index if offset is not None else None

    def acknowledged(self, broker: str) -> list[Attempt]:
        """What a broker has said that it has."""
        return [
            attempt
            for attempt in self.attempts.values()
            if attempt.place.broker == broker
            and attempt.outcome is SentOutcome.ACKNOWLEDGED
            and not attempt.is_excused
        ]

    # Consumers.

    def hand(self, place: Place, message: Handed) -> None:
        """A consumer was given a message."""
        name = name_of(message.body)
        where = f"{name!r} at {message.queue_offset} of {place}"
        attempt = self.attempts.get(name)
        if attempt is None or attempt.body != message.body:
            self.breach("invented", where)
            return
        if attempt.ending not in (None, Ending.COMMIT):
            self.breach("shown", f"{where}, which was {attempt.ending}")
        seen = self.handed[place].setdefault(message.queue_offset, name)
        if seen != name:
            self.breach("changed", f"{where}, where {seen!r} was")
        if attempt.delay_ms:
            waited_ms = self.now_ms() - attempt.began_ms + self.early_ms_max(place.broker)
            if waited_ms < attempt.delay_ms:
                self.breach("early", f"{where}: {waited_ms} of {attempt.delay_ms} ms")

    def finish(self, group: str, place: Place, message: Handed) -> None:
        self.done[group, place].add(message.queue_offset)
        self.processed[group].add(number_of(name_of(message.body)))

    def pop(self, group: str, place: Place, message: Handed) -> None:
        """A message was popped. What was acknowledged may not be."""
        acked_ms = self.popped.get((group, place, message.queue_offset))
        if acked_ms is not None and not self.may_lose_after(place.broker, acked_ms):
            self.breach(
                "acknowledged", f"{group} is given {message.queue_offset} of {place} once more"
            )

    def acknowledge(self, group: str, place: Place, message: Handed, began_ms: int) -> None:
        """A broker says that it keeps an acknowledgement."""
        self.popped[group, place, message.queue_offset] = began_ms

    def hand_back(self, group: str, place: Place, message: Handed) -> None:
        self.done[group, place].add(message.queue_offset)
        number = number_of(name_of(message.body))
        self.handed_back.append(HandedBack(group, number, place.broker, self.now_ms()))

    def skip(self, group: str, place: Place, offsets: Iterable[int]) -> None:
        """Offsets that a filter let nothing through of."""
        self.done[group, place].update(offsets)

    def see_offset(self, group: str, place: Place, offset: int) -> None:
        """A broker says how far a group is."""
        missing = next((i for i in range(offset) if i not in self.done[group, place]), None)
        if missing is not None:
            self.breach("passed over", f"{group} is at {offset} of {place}, {missing} is not done")

    # Brokers.

    def restart(self, broker: str, end_of: Callable[[Place], int], *, may_lose: bool) -> None:
        """A broker is back. What it had shown must still be there, unless it `may_lose` its
        newest messages."""
        self.restarted_ms[broker] = self.now_ms()
        for place, offsets in self.handed.items():
            if place.broker != broker:
                continue
            end = end_of(place)
            gone = [offset for offset in offsets if offset >= end]
            if gone and not may_lose:
                self.breach("vanished", f"{offsets[gone[0]]!r} at {gone[0]} of {place}")
            for offset in gone:
                del offsets[offset]
        for (_, place), done in self.done.items():
            if place.broker == broker and may_lose:
                end = end_of(place)
                done.difference_update([offset for offset in done if offset >= end])


def name_of(body: bytes) -> bytes:
    return body.partition(NAME_END)[0]


def number_of(name: bytes) -> bytes:
    return name.partition(NUMBER_END)[0]
