"""A topic as the send path sees it: the few facts that decide about a send, and nothing to look up.

Made anew whenever the topic's configuration changes.
"""

from typing import TYPE_CHECKING

from aerobee.model.flags import is_writable
from aerobee.model.names import is_broker_written, is_retry_topic
from aerobee.model.topic import SINGLE_TAG, TopicConfig

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython

_PLAIN_BYTES_MAX = 127  # longer names need the other record version


def is_compiled() -> bool:
    return cython.compiled


class TopicEntry:
    """E1. `is_plain`: a send to it needs no check but those of the entry itself."""

    __slots__ = ("_turn", "is_plain", "name", "queues_end", "write_queues")

    def __init__(self, config: TopicConfig) -> None:
        self.name = config.name.encode()
        self.write_queues = config.write_queues
        # Queues that are only read any more may still be written to by who asks for one of them.
        self.queues_end = max(config.read_queues, config.write_queues)
        self.is_plain = (
            is_writable(config.permission)
            and config.write_queues > 0
            and config.filter_type == SINGLE_TAG
            and not config.attributes
            and not config.is_order
            and not is_retry_topic(config.name)
            and not is_broker_written(config.name)
            and len(self.name) <= _PLAIN_BYTES_MAX
        )
        self._turn = 0

    def next_queue(self) -> int:
        """The queue of a send that leaves the choice to the broker: each in turn."""
        self._turn += 1
        if self._turn >= self.write_queues:
            self._turn = 0
        return self._turn
