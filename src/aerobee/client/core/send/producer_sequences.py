"""The numbers of one producer whose messages are stored once: which comes next in which queue.

A broker says where it left off (`opened`); from then on the numbers are ours. A number that was
taken and not stored is left out. After `forget` the broker has to be asked again.
"""

from collections.abc import Mapping

from aerobee.model.message_queue import MessageQueue
from aerobee.protocol.message.producer_mark import ProducerMark, place_of


class ProducerSequences:
    """Topics are as they are called on the wire."""

    def __init__(self, producer: str) -> None:
        self.producer = producer
        self._epochs: dict[str, int] = {}
        self._next: dict[tuple[str, str], dict[int, int]] = {}
        self._known: set[MessageQueue] = set()

    def is_open(self, broker_name: str, topic: str) -> bool:
        return (broker_name, topic) in self._next

    def epoch(self, broker_name: str) -> int:
        """What we send with; -1: the broker has yet to say."""
        return self._epochs.get(broker_name, -1)

    def opened(self, broker_name: str, topic: str, epoch: int, last: Mapping[int, int]) -> None:
        """A broker says what to send with, and the last number in each queue."""
        self._epochs[broker_name] = epoch
        self._next[broker_name, topic] = {queue: number + 1 for queue, number in last.items()}

    def forget(self, broker_name: str) -> None:
        """The broker knows us no more."""
        self._epochs.pop(broker_name, None)
        for key in [key for key in self._next if key[0] == broker_name]:
            del self._next[key]
        self._known = {queue for queue in self._known if queue.broker_name != broker_name}

    def take(self, queue: MessageQueue, count: int = 1) -> ProducerMark:
        """The mark of the next message, the first of so many."""
        numbers = self._next[queue.broker_name, queue.topic]
        first = numbers.get(queue.queue_id, 0)
        numbers[queue.queue_id] = first + count
        place = place_of(queue.topic, queue.queue_id)
        return ProducerMark(self.producer, self._epochs[queue.broker_name], first, place)

    def is_known(self, queue: MessageQueue) -> bool:
        """Whether the broker has acknowledged one of ours there."""
        return queue in self._known

    def acknowledged(self, queue: MessageQueue) -> None:
        self._known.add(queue)
