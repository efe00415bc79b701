"""Dead letters: what a group was given as often as it may be, and never took.

A group that pops refuses by chance, so a message can end there with nothing wrong. Nobody waits for
it then. But it must have come back every time before: each copy in a retry topic says how often the
message had been tried.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from aerobee.model.group import RETRIES_MAX
from aerobee.model.message import StoredMessage
from aerobee.model.names import DEAD_LETTER_PREFIX, RETRY_PREFIX
from tests.sim.history import name_of

Queues: TypeAlias = Mapping[tuple[str, int], Sequence[StoredMessage]]
"""What a broker has, by topic and queue."""


def dead_letters(queues: Queues, group: str) -> Sequence[StoredMessage]:
    return queues.get((f"{DEAD_LETTER_PREFIX}{group}", 0), ())


def dead_names(queues: Queues, group: str) -> set[bytes]:
    return {name_of(message.body) for message in dead_letters(queues, group)}


def early_deaths(queues: Queues, group: str) -> Iterator[str]:
    """Dead letters that did not come back as often as they had to."""
    allowed = set(range(1, RETRIES_MAX + 1))
    for message in dead_letters(queues, group):
        name = name_of(message.body)
        missing = allowed - _times_back(queues, group, name)
        if missing:
            yield f"{name!r} of {group} never came back as number {min(missing)}"
        if message.reconsume_times != RETRIES_MAX + 1:
            yield f"{name!r} of {group} was tried {message.reconsume_times} times"


def _times_back(queues: Queues, group: str, name: bytes) -> set[int]:
    """Which of its tries are in a retry topic of the group: of one that pulls, of one that pops."""
    mine = f"{RETRY_PREFIX}{group}"
    return {
        message.reconsume_times
        for (topic, _), messages in queues.items()
        if topic == mine or topic.startswith(f"{mine}_")
        for message in messages
        if name_of(message.body) == name
    }
