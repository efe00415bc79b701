"""Strangers on the HA ports of a master and of its slave: garbage, offsets that cannot be true,
half reports and reports a byte at a time. Their connections end, with a line in the log; everybody
else goes on.
"""

import socket
import struct
import threading

from tests.fault.replication.group import Broker
from tests.fault.replication.world import World

PATIENCE_SECONDS = 30.0
FOR_EVER = 2**62
GROWN_BYTES_MAX = 32 << 20
REASONS = (
    "a report of offset -1",
    "it asks for offset",
    "it acknowledges",
    "it has not said from where to follow",
)


class Stranger:
    """One connection to an HA port."""

    def __init__(self, broker: Broker) -> None:
        place = (broker.place.host, broker.place.port + 1)
        self._socket = socket.create_connection(place, timeout=PATIENCE_SECONDS)

    def report(self, *offsets: int) -> None:
        self.say(b"".join(struct.pack(">q", offset) for offset in offsets))

    def say(self, data: bytes) -> None:
        self._socket.sendall(data)

    def hear(self, size: int) -> None:
        """Wait until so much has come."""
        while size > 0:
            data = self._socket.recv(min(size, 65_536))
            assert data, "it was closed"
            size -= len(data)

    def trickle(self, data: bytes, seconds: float) -> None:
        """A byte at a time, until the other side has enough of it."""
        never = threading.Event()
        for number in range(len(data)):
            try:
                self.say(data[number : number + 1])
            except ConnectionError:
                return
            never.wait(seconds)

    def until_closed(self) -> None:
        """TimeoutError: it is not."""
        try:
            while self._socket.recv(65_536):
                pass
        except ConnectionError:
            pass
        self._socket.close()


def _garbage(stranger: Stranger, world: World) -> None:
    stranger.say(b"\xff" * 64 + b"GET / HTTP/1.0\r\n\r\n")


def _text(stranger: Stranger, world: World) -> None:
    stranger.say(b"GET / HTTP/1.0\r\n\r\n")


def _negative(stranger: Stranger, world: World) -> None:
    stranger.report(-1)


def _beyond_the_end(stranger: Stranger, world: World) -> None:
    stranger.report(world.master.log_end() + (1 << 30))


def _largest(stranger: Stranger, world: World) -> None:
    stranger.report(2**63 - 1)


def _not_sent_yet(stranger: Stranger, world: World) -> None:
    stranger.report(world.master.log_end())
    stranger.report(FOR_EVER)


def _going_back(stranger: Stranger, world: World) -> None:
    end = world.master.log_end()
    stranger.report(end)
    stranger.hear(12)  # something was sent
    stranger.report(end, end - 1)


def _half_a_report(stranger: Stranger, world: World) -> None:
    stranger.say(bytes(3))


def _trickle(stranger: Stranger, world: World) -> None:
    stranger.trickle(bytes(7), 2.0)


def _nothing(stranger: Stranger, world: World) -> None:
    pass


ATTACKS = [
    _garbage,
    _text,
    _negative,
    _beyond_the_end,
    _largest,
    _not_sent_yet,
    _going_back,
    _half_a_report,
    _trickle,
    _nothing,
]


def rogue_peers(world: World) -> None:
    """All at once: those that say too little are closed after ten seconds."""
    memory, counted = world.master.own_bytes(), world.group.in_sync()
    failures: list[str] = []

    def attack(number: int) -> None:
        try:
            stranger = Stranger(world.master)
            ATTACKS[number](stranger, world)
            stranger.until_closed()
        except (OSError, AssertionError) as error:
            failures.append(f"{ATTACKS[number].__name__}: {error!r}")

    threads = [threading.Thread(target=attack, args=(one,)) for one in range(len(ATTACKS))]
    for thread in threads:
        thread.start()
    world.progress(100)
    _follow(world.a_slave())
    for thread in threads:
        thread.join()
    assert failures == []
    said = world.master.said()
    for reason in REASONS:
        assert f"closing the link of a slave: {reason}" in said, reason
    assert world.group.in_sync() == counted
    assert world.master.own_bytes() - memory < GROWN_BYTES_MAX


def _follow(slave: Broker) -> None:
    """Ask a slave for its log: it has none to give."""
    for data in (b"", bytes(8), b"\xff" * 8, struct.pack(">q", slave.log_end())):
        stranger = Stranger(slave)
        stranger.say(data)
        stranger.until_closed()
    assert slave.follows()
