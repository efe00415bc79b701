"""Traffic of the soak test: every way of sending and of consuming that our client has, all on one
client, as an application would, while the broker is killed.

A body is `number lane`. Each kind of message has a topic, and a group that must get all of it.
"""

import asyncio
import contextlib
import itertools
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from functools import partial

import aerobee
from aerobee.errors import AerobeeError
from bench.soak.ledger import Ledger

BATCH = 20
LANES = 8
ROLLED_BACK_EVERY = 5
SLOW_SECONDS = 0.02
DELAY_SECONDS = 1

Kind = Callable[[aerobee.Client, Ledger, Iterator[int]], Awaitable[None]]


async def _sent(send: Callable[[], Awaitable[object]], ledger: Ledger, *numbers: int) -> None:
    """Keep the books of one send. A broker that is not there is what this is about."""
    for number in numbers:
        ledger.begin(number)
    try:
        await send()
    except AerobeeError:
        for number in numbers:
            ledger.fail(number)
    else:
        for number in numbers:
            ledger.ack(number)


async def awaited(client: aerobee.Client, ledger: Ledger, numbers: Iterator[int]) -> None:
    """Singly, eight at a time."""
    chosen = list(itertools.islice(numbers, 8))
    await asyncio.gather(
        *(_sent(partial(client.send, ledger.title, f"{one} -"), ledger, one) for one in chosen)
    )


async def batched(client: aerobee.Client, ledger: Ledger, numbers: Iterator[int]) -> None:
    chosen = list(itertools.islice(numbers, BATCH))
    send = partial(client.send_batch, ledger.title, [f"{one} -" for one in chosen])
    await _sent(send, ledger, *chosen)


async def ordered(client: aerobee.Client, ledger: Ledger, numbers: Iterator[int]) -> None:
    """Each lane one after the other: a send is answered before the next of its lane begins."""
    for number in itertools.islice(numbers, LANES):
        lane = f"lane-{number % LANES}"
        send = partial(client.send, ledger.title, f"{number} {lane}", order_by=lane)
        await _sent(send, ledger, number)


async def delayed(client: aerobee.Client, ledger: Ledger, numbers: Iterator[int]) -> None:
    number = next(numbers)
    send = partial(client.send, ledger.title, f"{number} -", delay=DELAY_SECONDS)
    await _sent(send, ledger, number)


async def once(client: aerobee.Client, ledger: Ledger, numbers: Iterator[int]) -> None:
    """Tried again for as long as it takes, and stored once all the same."""
    producer = client.producer(ledger.title, dedup=f"soak-{random.getrandbits(40):x}")
    with contextlib.suppress(AerobeeError):  # it cannot begin without a broker
        async with producer:
            for _ in range(50):
                number = next(numbers)
                await _sent(partial(producer.send, f"{number} -"), ledger, number)


def is_kept(number: int) -> bool:
    """Whether a transaction succeeds. Its check-back says the same."""
    return number % ROLLED_BACK_EVERY != 0


class _Unwanted(Exception):
    """What makes a transaction fail."""


async def traded(client: aerobee.Client, ledger: Ledger, numbers: Iterator[int]) -> None:
    number = next(numbers)
    ledger.begin(number)
    has_begun = False
    try:
        async with client.transaction(
            ledger.title, f"{number} -", group="soak-traders", check=_checked
        ):
            has_begun = True
            if not is_kept(number):
                raise _Unwanted
    except (_Unwanted, AerobeeError):
        pass  # whoever was not told asks, and is told by _checked
    if not has_begun:
        ledger.fail(number)
    elif is_kept(number):
        ledger.ack(number)
    else:
        ledger.refuse(number)


async def _checked(message: aerobee.Message) -> bool:
    return is_kept(int(message.body.split()[0]))


KINDS: dict[str, tuple[Kind, float]] = {
    "soak-awaited": (awaited, 0.05),
    "soak-batched": (batched, 0.2),
    "soak-ordered": (ordered, 0.1),
    "soak-delayed": (delayed, 0.1),
    "soak-once": (once, 0.05),
    "soak-traded": (traded, 0.2),
}
"""By topic: how its messages are sent, and the seconds between two calls."""


def new_ledgers() -> dict[str, Ledger]:
    return {
        topic: Ledger(
            topic, is_ordered=topic == "soak-ordered", is_stored_once=topic == "soak-once"
        )
        for topic in KINDS
    }


async def send_for_ever(client: aerobee.Client, ledger: Ledger) -> None:
    kind, pause = KINDS[ledger.title]
    numbers = itertools.count(1)
    while True:
        await kind(client, ledger, numbers)
        await asyncio.sleep(pause)


async def receive_for_ever(client: aerobee.Client, ledger: Ledger) -> None:
    """By POP, in order, or as members of a group do it."""
    chosen: dict[str, object] = {"group": f"{ledger.title}-readers", "start": "earliest"}
    if ledger.title == "soak-batched":
        chosen |= {"mode": "pop", "invisible": 10}
    if ledger.is_ordered:
        chosen |= {"order": "queue"}
    async with client.consumer(ledger.title, **chosen) as consumer:  # type: ignore[arg-type]
        async for message in consumer:
            async with message.process():
                number, lane = message.body.decode().split()
                ledger.see(int(number), f"{message.queue}:{message.offset}", lane)


async def receive_slowly(client: aerobee.Client) -> None:
    """Never catches up: the broker keeps what is behind, the client a little of it."""
    async with client.consumer(
        "soak-awaited", group="soak-slow", start="earliest", concurrency=1
    ) as consumer:
        async for message in consumer:
            async with message.process():
                await asyncio.sleep(SLOW_SECONDS)


@contextlib.asynccontextmanager
async def running(
    work: Sequence[Awaitable[None]],
) -> AsyncIterator[Sequence["asyncio.Future[None]"]]:
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
