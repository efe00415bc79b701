"""The lifecycle of a process: starts parts in order, prints when all are ready, waits for a signal
or a failure, and stops parts in reverse order.

    stdout   `ready: nameserver 127.0.0.1:9876`, once it is; then the output of guests
    stderr   logs, and why it could not start
    status   0 stopped by a signal, 1 failed while it ran, 2 wrong configuration, 3 could not start

A second signal has parts stop that wait for clients: members of a Raft group.

A part that cannot start undoes its steps so far. Several parts share one event loop, so a name
server and a broker can run in one process. Guests are parts that are started after `ready`.
"""

import asyncio
import contextlib
import errno
import gc
import logging
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from ipaddress import ip_address
from typing import Protocol, TextIO, runtime_checkable

from aerobee.app.settings.config import ListenConfig
from aerobee.client.connection.loop_portal import new_event_loop
from aerobee.errors import AerobeeError
from aerobee.ports.service import Peer
from aerobee.system.heap import keep_heap

_log = logging.getLogger(__name__)

STOPPED = 0
FAILED = 1
WRONG_CONFIG = 2
COULD_NOT_START = 3

SWITCH_SECONDS = 0.0005
"""How long a disk thread may keep the interpreter to itself; Python's own 5 ms would be seen."""
LARGEST_BYTES = 8 << 20  # of a frame
KEPT_BYTES = 16 << 20

Ended = Callable[[BaseException], None]


class CannotStart(AerobeeError):
    """A precondition of a start does not hold, such as a free port; nothing was changed."""


class Part(Protocol):
    """One service of this process."""

    async def start(self, failed: Ended) -> str:
        """Start serving; returns its name and address for the line `ready`. CannotStart: nothing is
        left behind. Call `failed` if the part fails later."""

    async def stop(self) -> None: ...


@runtime_checkable
class Patient(Protocol):
    """A part whose stop may wait for clients."""

    def hurry(self) -> None:
        """Wait no longer."""


def run(parts: Sequence[Part], guests: Sequence[Part] = ()) -> int:
    """Start the parts, serve until stopped, stop them; returns the exit status. Guests are started
    after the line `ready`, and stopped before the parts."""
    allow_files()
    sys.setswitchinterval(SWITCH_SECONDS)
    keep_heap(LARGEST_BYTES, KEPT_BYTES)
    try:
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            return runner.run(_live(parts, guests))
    except CannotStart as error:
        print(f"aerobee: {error}", file=sys.stderr)
        return COULD_NOT_START


def allow_files() -> int:
    """Raise the limit of open files to the maximum, because every connection is one. Returns the
    limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(OSError, ValueError):  # a system that allows it only in words
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


async def _live(parts: Sequence[Part], guests: Sequence[Part]) -> int:
    loop = asyncio.get_running_loop()
    ending: asyncio.Future[BaseException | None] = loop.create_future()

    def end(error: BaseException | None = None) -> None:
        if not ending.done():
            ending.set_result(error)
            return
        for part in parts:
            if isinstance(part, Patient):
                part.hurry()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup: a closed terminal is no end
            loop.add_signal_handler(number, end)
    async with contextlib.AsyncExitStack() as stack:
        places = []
        faults: list[Exception] = []
        for part in parts:
            if not ending.done():
                places.append(await part.start(end))
                stack.push_async_callback(_stopped, part, faults)
        # What was built at the start stays: no collection has to look at it again.
        gc.collect()
        gc.freeze()
        if not ending.done():
            say(f"ready: {', '.join(places)}")
        for guest in guests:
            if not ending.done():
                said = await guest.start(end)
                stack.push_async_callback(_stopped, guest, faults)
                if said:
                    say(said)
        error = await ending
        if error is None:
            _log.info("stopping")
        else:
            _log.critical("stopping because of an error", extra={"error": repr(error)})
    _log.info("stopped")
    return STOPPED if error is None and not faults else FAILED


def say(text: str) -> None:
    """Print to stdout and flush, as long as somebody reads it."""
    write_if_read(sys.stdout, f"{text}\n")


def write_if_read(stream: TextIO, text: str) -> None:
    """Write and flush. If the reader has closed the stream, or the terminal is gone, this text and
    all that follows is dropped, and the process continues."""
    try:
        stream.write(text)
        stream.flush()
    except OSError:
        nobody = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nobody, stream.fileno())
        os.close(nobody)


async def _stopped(part: Part, faults: list[Exception]) -> None:
    """Stop a part; errors are logged, so that the others are stopped, too."""
    try:
        await part.stop()
    except Exception as error:
        faults.append(error)
        _log.critical("it did not stop as it should", extra={"error": repr(error)})


@contextlib.contextmanager
def explained(listen: ListenConfig, hint: str) -> Iterator[None]:
    """Turn an OSError of binding a port into a CannotStart with an explanation."""
    try:
        yield
    except OSError as error:
        reasons = {
            errno.EADDRINUSE: "another process listens there",
            errno.EADDRNOTAVAIL: "this machine has no such address",
            errno.EACCES: "ports below 1024 need more rights",
        }
        reason = reasons.get(error.errno or 0, error.strerror or str(error))
        at = Peer(listen.host, listen.port)
        raise CannotStart(f"cannot listen on {at}: {reason}", hint=hint) from None


def shout_if_open(sockets: Sequence[socket.socket]) -> None:
    """Say loudly that a server is open to everybody who reaches it, as it was told to be."""
    for bound in sockets:
        host = bound.getsockname()[0]
        if not ip_address(host).is_loopback:
            _log.critical(
                "INSECURE: open to other machines, and nobody is asked who it is. Set "
                "authenticationEnabled=true",
                extra={"at": host},
            )


def warn_if_open(sockets: Sequence[socket.socket]) -> None:
    """Say that pages can be read from other machines."""
    for bound in sockets:
        host = bound.getsockname()[0]
        if not ip_address(host).is_loopback:
            _log.warning(
                "pages open to other machines, and nobody is asked who it is", extra={"at": host}
            )
