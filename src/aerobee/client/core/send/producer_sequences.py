"""`ProducerSequences` counts the sequence numbers of one deduplicating producer, by queue.

A broker answers OPEN with the last number that it stored (`opened`); from then on the client
counts. A number that was taken and not stored is left out. After `forget` the broker has to be
asked again.
"""

from collections.abc import Mapping

from aerobee.model.message_queue import MessageQueue
from aerobee.protocol.message.producer_mark import ProducerMark, place_of


class ProducerSequences:
    """Sequence numbers of one producer id. Topics are named as on the wire."""

    def __init__(self, producer: str) -> None:
        self.producer = producer
        self._epochs: dict[str, int] = {}
        self._next: dict[tuple[str, str], dict[int, int]] = {}
        self._known: set[MessageQueue] = set()

    def is_open(self, broker_name: str, topic: str) -> bool:
        return (broker_name, topic) in self._next

    def epoch(self, broker_name: str) -> int:
        """The producer epoch of sends; -1: the broker has yet to give it."""
        return self._epochs.get(broker_name, -1)

    def opened(self, broker_name: str, topic: str, epoch: int, last: Mapping[int, int]) -> None:
        """Take the broker's epoch, and the last number in each queue."""
        self._epochs[broker_name] = epoch
        self._next[broker_name, topic] = {queue: number + 1 for queue, number in last.items()}

    def forget(self, broker_name: str) -> None:
        """Drop the state of a broker that does not know this producer any more."""
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
        """Whether the broker has acknowledged a message of this producer in the queue."""
        return queue in self._known

    def acknowledged(self, queue: MessageQueue) -> None:
        self._known.add(queue)
