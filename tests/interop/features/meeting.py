"""Has a consumer got its queues? Nobody says so: messages are put into them until it shows."""

from collections.abc import Mapping

from tests.interop.features.ground import QUEUES, Ground
from tests.interop.features.program import Event, Program
from tests.interop.features.waiting import until

Holdings = Mapping[str, set[int]]
"""Consumer → the queues whose messages it gets."""


def meet(
    client: Program, ground: Ground, topic: str, wanted: Holdings, seconds: float = 45
) -> None:
    """Wait until each of these consumers gets the messages of exactly these queues."""
    rounds = iter(range(10_000))

    def they_do() -> bool:
        return _holdings(client, ground, topic, f"hello {next(rounds)}", wanted) == wanted

    until(they_do, seconds, f"{wanted} is not how queues are held")


def _holdings(
    client: Program, ground: Ground, topic: str, word: str, consumers: Holdings
) -> Holdings:
    """One message into each queue: who got which. After a second, whoever has not is nobody."""
    for queue_id in range(QUEUES):
        ground.send(topic, queue_id, f"{word} in {queue_id}", TAGS="hello")
    client.linger(1)
    return {
        consumer: {event["queueId"] for event in client.received(consumer) if _says(event, word)}
        for consumer in consumers
    }


def _says(event: Event, word: str) -> bool:
    body: str = event["body"]
    return body.startswith(f"{word} in ")
