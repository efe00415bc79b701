"""Names and paths of the state files that a slave copies by COPY_BROKER_STATE.

    producerSequences.json    stored sequences of producers; before the epochs, see below
    producerEpochs.json       epochs of producers, finished rounds
    stagedRounds.json         rounds of staged batches that were decided
    consumerOrderInfo.json    messages that groups popped in order
    deleted_topics            topics that were deleted, and the log offset at which

A round is saved as finished (epochs) before its marks are dropped (sequences). So sequences are
read first and written last: in any mixture of old and new a stored round is known by one of them.
"""

DELETED_TOPICS = "deleted_topics"
READ_ORDER = (
    "producerSequences.json",
    "producerEpochs.json",
    "stagedRounds.json",
    "consumerOrderInfo.json",
)
WRITE_ORDER = tuple(reversed(READ_ORDER))
STATE_FILES = frozenset({*READ_ORDER, DELETED_TOPICS})

PIECE_BYTES_MAX = 1 << 20
"""Of one answer."""


def state_path(root: str, name: str) -> str:
    """The path of a file in a store directory."""
    return f"{root}/{name}" if name == DELETED_TOPICS else f"{root}/config/{name}"
