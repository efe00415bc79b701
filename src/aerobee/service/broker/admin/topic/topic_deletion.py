"""Deleting a topic's messages from a broker: its queues, and the broker's own records of them.

A deletion is over when it is on the disk. A crash before that may leave the queues as they were; a
crash after that brings nothing back. Two files are not written again for a deletion. Each of them
holds the log offset of its last save, and a start drops the entries of topics that were deleted
after it:

    consumerOffset.json       committed offsets                  state/consumer_offsets.py
    producerSequences.json    messages that were sent once       deduplication/sequences_file.py

Delayed messages and messages for a time stay in the log, and are dropped when they are due
(`log_access/redelivery.py`). Half messages and staged batches stay, too: a producer that commits or
publishes them later stores them in the topic that has the name then.
"""

from collections.abc import Callable, Sequence

from aerobee.service.broker.deduplication.round_completion import RoundCompletion
from aerobee.storage.metadata.saved_value import Done
from aerobee.storage.store import Store


def delete_messages(
    store: Store,
    round_completion: RoundCompletion,
    forget_popped: Callable[[str], None],
    topics: Sequence[str],
    done: Done,
) -> None:
    """Delete the messages of topics. `done` is called once, when all of it is on the disk or with
    the first error. `forget_popped` drops the state of pops of a topic."""
    each = _when_all(2 * len(topics), done)
    for topic in topics:
        store.delete_topic(topic.encode(), each)
        round_completion.forget_topic(topic, each)
        forget_popped(topic)


def _when_all(count: int, done: Done) -> Done:
    """A callback for `count` operations: its last call calls `done`, with the first error."""
    errors: list[BaseException | None] = []

    def each(error: BaseException | None) -> None:
        errors.append(error)
        if len(errors) == count:
            done(next((error for error in errors if error is not None), None))

    return each
