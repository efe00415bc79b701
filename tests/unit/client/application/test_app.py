import asyncio
import threading
from dataclasses import dataclass

import pytest

from aerobee.client.api.message import Message
from aerobee.client.application.app import App
from aerobee.client.client import Client
from aerobee.client.core.consume.backoff import Backoff
from aerobee.errors import Misuse
from aerobee.testing import Cluster
from tests.net_kit import in_loop


@dataclass
class Order:
    id: int


def test_a_handler_gets_what_it_is_annotated_with() -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            app = App(cluster.connect())
            seen: asyncio.Queue[tuple[Order, str]] = asyncio.Queue()

            @app.consumer("orders", group="billing", start="earliest")
            async def on_order(order: Order, message: Message, client: Client) -> None:
                assert client is app.client
                seen.put_nowait((order, message.tag))

            await cluster.client.send("orders", {"id": 7}, tag="paid")
            async with app:
                assert await seen.get() == (Order(7), "paid")

    in_loop(test)


def test_a_plain_function_runs_on_a_thread() -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            app = App(cluster.connect())
            done = asyncio.Event()
            loop, here = asyncio.get_running_loop(), threading.get_ident()
            seen: list[tuple[bytes, bool]] = []

            @app.consumer("orders", group="billing", start="earliest")
            def on_order(body: bytes) -> None:
                seen.append((body, threading.get_ident() == here))
                loop.call_soon_threadsafe(done.set)

            await cluster.client.send("orders", b"x")
            async with app:
                await done.wait()
            assert seen == [(b"x", False)]

    in_loop(test)


def test_a_handler_that_raises_has_its_message_again() -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            app = App(cluster.connect())
            attempts: asyncio.Queue[int] = asyncio.Queue()

            @app.consumer("orders", group="billing", start="earliest", retry=Backoff(600, 600))
            async def on_order(message: Message) -> None:
                attempts.put_nowait(message.attempt)
                if message.attempt == 1:
                    raise ValueError("not yet")

            await cluster.client.send("orders", b"x")
            async with app:
                assert await attempts.get() == 1
                # It was sent back when the broker has it among what waits.
                schedule = "SCHEDULE_TOPIC_XXXX"
                while not any(
                    queue.max_offset
                    for queue in (await cluster.client.admin.topics.stats(schedule)).queues.values()
                ):
                    pass
                cluster.clock.advance(600)
                assert await attempts.get() == 2

    in_loop(test)


def test_a_body_that_does_not_fit_is_a_dead_letter_at_once() -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            app = App(cluster.connect())
            seen: asyncio.Queue[int] = asyncio.Queue()

            @app.consumer("orders", group="billing", start="earliest")
            async def on_order(order: Order) -> None:
                seen.put_nowait(order.id)

            await cluster.client.send("orders", b"no JSON")
            await cluster.client.send("orders", {"id": 1})
            async with app:
                assert await seen.get() == 1
                while await cluster.client.admin.dead_letters.count("billing") == 0:
                    pass
            assert seen.empty()

    in_loop(test)


def test_hooks_are_called_before_the_first_message_and_after_the_last() -> None:
    async def test() -> None:
        async with Cluster() as cluster:
            app = App(cluster.connect())
            happened: list[str] = []

            @app.on_start
            async def begin(client: Client) -> None:
                await client.send("orders", b"x")
                happened.append("start")

            @app.on_stop
            def end() -> None:
                happened.append("stop")

            @app.consumer("orders", group="billing", start="earliest")
            async def on_order(body: bytes) -> None:
                happened.append("order")
                running.cancel()

            running = asyncio.ensure_future(app.run(ready=lambda app: happened.append("ready")))
            with pytest.raises(asyncio.CancelledError):
                await running
            assert happened == ["start", "ready", "order", "stop"]
            with pytest.raises(Misuse, match="not open"):
                await app.client.send("orders", b"x")

    in_loop(test)


def test_what_cannot_work_is_refused_where_it_is_declared() -> None:
    async def test() -> None:
        app = App("127.0.0.1:1")
        with pytest.raises(Misuse, match="handles nothing"):
            await app.run()
        with pytest.raises(Misuse, match="cannot become"):

            @app.consumer("orders", group="odd")
            async def odd(order: complex) -> None: ...

        with pytest.raises(Misuse):
            app.consumer("orders", group="not a group!")

        @app.consumer("orders", group="billing")
        async def first(order: bytes) -> None: ...

        with pytest.raises(Misuse, match="its own group"):
            app.consumer("refunds", group="billing")(first)
        assert app.groups == ["billing"]

    in_loop(test)
