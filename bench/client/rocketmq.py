"""The programs of RocketMQ's other clients for Python.

    cpp     `rocketmq` 0.4.4, around the C++ client; to our broker, by name server
    grpc    `rocketmq-python-client` 5, the official one; to Apache's proxy

Both end without closing: neither always comes back from that, and the figures are out by then.
"""

import os
import threading
from collections import deque
from collections.abc import Callable
from importlib import import_module
from typing import Any

import aerobee
from aerobee.model.group import GroupConfig
from aerobee.model.message_queue import MessageQueue, QueueId
from bench.client.meter import (
    BODY,
    FILLED,
    IN_FLIGHT,
    PARTS,
    TOPIC,
    Asked,
    Sending,
    Taking,
    measure_one_by_one,
    measure_sending,
)

BATCHES_IN_FLIGHT = 4
CPP_IN_FLIGHT = 32
"""With more threads it is no faster, and stands still for seconds at times."""
CPP_BATCH = 20
"""Above 4 KiB it compresses the batch as a whole, which no broker can take apart."""
WAITING_MAX = 1000
"""Sends that are not waited for: more of them run into the official client's time limit."""
SECONDS_MAX = 60.0
FAILURES_MAX = 2000


async def cpp_flood(asked: Asked) -> None:
    """A thread for each message in flight: its `send_async` takes twice as long."""
    cpp = _Cpp(asked)

    async def send(count: int) -> int:
        times = max(1, count // CPP_IN_FLIGHT)
        _in_threads(CPP_IN_FLIGHT, times, cpp.producer.send_sync, cpp.message)
        return times * CPP_IN_FLIGHT

    await measure_sending(asked, send)
    os._exit(0)


async def cpp_one(asked: Asked) -> None:
    cpp = _Cpp(asked)
    message = cpp.message()

    async def send() -> None:
        cpp.producer.send_sync(message)

    await measure_one_by_one(asked, send)
    os._exit(0)


async def cpp_stream(asked: Asked) -> None:
    cpp = _Cpp(asked)
    # A message may not go before it is sent, nor be sent twice at once.
    unused = deque(cpp.message() for _ in range(WAITING_MAX))
    window = _Window(WAITING_MAX)

    async def send(count: int) -> int:
        for _ in range(count):
            window.enter()
            message = unused.popleft()

            def sent(_: object, message: Any = message) -> None:
                unused.append(message)
                window.leave()

            def failed(error: BaseException, message: Any = message) -> None:
                unused.append(message)
                window.leave(error)

            cpp.producer.send_async(message, sent, failed)
        window.drain()
        return count

    await measure_sending(asked, send)
    os._exit(0)


async def cpp_batch(asked: Asked) -> None:
    cpp = _Cpp(asked)

    async def send(count: int) -> int:
        times = max(1, count // (BATCHES_IN_FLIGHT * CPP_BATCH))
        _in_threads(BATCHES_IN_FLIGHT, times, cpp.producer.send_batch, cpp.messages)
        return times * BATCHES_IN_FLIGHT * CPP_BATCH

    await measure_sending(asked, send)
    os._exit(0)


async def cpp_receive(asked: Asked) -> None:
    library = import_module("rocketmq.client")
    group = f"bench-{os.getpid()}"
    await _begin_at_start(asked.address, group)
    over = threading.Event()
    counted = threading.Lock()
    taking = Taking(asked)

    def receive(message: Any) -> None:
        size = len(message.body)
        with counted:
            if taking.take(1, size):
                over.set()

    consumer = library.PushConsumer(group)
    consumer.set_namesrv_addr(asked.address)
    consumer.subscribe(FILLED, receive)
    consumer.start()
    over.wait(SECONDS_MAX)
    os._exit(0)


class _Cpp:
    """The C++ client's producer."""

    def __init__(self, asked: Asked) -> None:
        self._library = import_module("rocketmq.client")
        self.producer = self._library.Producer("bench-cpp")
        self.producer.set_namesrv_addr(asked.address)
        self.producer.start()
        self.producer.send_sync(self.message())  # many at once would find no route at first

    def message(self) -> Any:
        made = self._library.Message(TOPIC)
        made.set_body(BODY.decode())
        return made

    def messages(self) -> list[Any]:
        return [self.message() for _ in range(CPP_BATCH)]


def _in_threads(
    threads: int, times: int, send: Callable[[Any], object], make: Callable[[], Any]
) -> None:
    """Each sends what it made again and again: a send writes into a message of the C++ client.
    With many threads it gives up on its own lock now and then; such a send is tried again."""
    errors: list[Exception] = []

    def work() -> None:
        made, left = make(), times
        while left and len(errors) < FAILURES_MAX:
            try:
                send(made)
                left -= 1
            except Exception as error:
                errors.append(error)

    running = [threading.Thread(target=work) for _ in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    if len(errors) >= FAILURES_MAX:
        raise errors[0]


async def grpc_flood(asked: Asked) -> None:
    await measure_sending(asked, _Grpc(asked).sender(IN_FLIGHT))
    os._exit(0)


async def grpc_stream(asked: Asked) -> None:
    await measure_sending(asked, _Grpc(asked).sender(WAITING_MAX))
    os._exit(0)


async def grpc_one(asked: Asked) -> None:
    grpc = _Grpc(asked)

    async def send() -> None:
        grpc.producer.send(grpc.message())

    await measure_one_by_one(asked, send)
    os._exit(0)


async def grpc_receive(asked: Asked) -> None:
    """A push consumer; `address` is the proxy's and, after a comma, the name server's."""
    library = import_module("rocketmq")
    proxy, _, name_server = asked.address.partition(",")
    group = f"bench-{os.getpid()}"
    await _begin_at_start(name_server, group)
    over = threading.Event()
    counted = threading.Lock()
    taking = Taking(asked)

    class Listener(library.MessageListener):  # type: ignore[misc, name-defined]
        def consume(self, message: Any) -> Any:
            size = len(message.body)
            with counted:
                if taking.take(1, size):
                    over.set()
            return library.ConsumeResult.SUCCESS

    settings = library.ClientConfiguration(proxy, library.Credentials())
    wanted = {FILLED: library.FilterExpression()}
    consumer = library.PushConsumer(settings, group, Listener(), wanted)
    consumer.startup()
    over.wait(SECONDS_MAX)
    os._exit(0)


class _Grpc:
    """The official client's producer."""

    def __init__(self, asked: Asked) -> None:
        self._library = import_module("rocketmq")
        proxy, _, _ = asked.address.partition(",")
        settings = self._library.ClientConfiguration(proxy, self._library.Credentials())
        self.producer = self._library.Producer(settings, (TOPIC,))
        self.producer.startup()

    def message(self) -> Any:
        made = self._library.Message()
        made.topic = TOPIC
        made.body = BODY
        return made

    def sender(self, in_flight: int) -> Sending:
        window = _Window(in_flight)

        async def send(count: int) -> int:
            for _ in range(count):
                window.enter()
                future = self.producer.send_async(self.message())
                future.add_done_callback(lambda done: window.leave(done.exception()))
            window.drain()
            return count

        return send


class _Window:
    """As many messages as may be in flight, acknowledged on other threads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._free = threading.Semaphore(size)
        self._error: BaseException | None = None

    def enter(self) -> None:
        self._free.acquire()

    def leave(self, error: BaseException | None = None) -> None:
        self._error = self._error or error
        self._free.release()

    def drain(self) -> None:
        """Wait for all; raise what one of them failed with."""
        for _ in range(self._size):
            self._free.acquire()
        self._free.release(self._size)
        if self._error is not None:
            raise self._error


async def _begin_at_start(name_server: str, group: str) -> None:
    """A new group begins at the end, and neither client can be told otherwise."""
    async with aerobee.connect(name_server) as client:
        await client.admin.groups.put(GroupConfig(group))
        for number in range(PARTS):
            queue = MessageQueue(FILLED, "broker-a", QueueId(number))
            await client.admin.offsets.commit(group, queue, 0)
