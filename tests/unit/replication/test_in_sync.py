from typing import Any

import pytest

from aerobee.model.broker_role import BrokerRole
from aerobee.ports.service import LinkId
from aerobee.replication.config import ReplicationConfig
from aerobee.replication.in_sync import Copy, InSync
from tests.replication_kit import at, peer

BEAT_MS = 5_000


class Copies:
    """Slaves of a master whose log ends at 1,000 and has been sent to everybody."""

    def __init__(self, k: int = 3, **settings: Any) -> None:
        self.config = ReplicationConfig(
            role=BrokerRole.SYNC_MASTER, in_sync_replicas=k, gap_bytes_max=500, **settings
        )
        self.in_sync = InSync(self.config)
        self.end = 1_000
        self._links = 0

    def join(self, host: str, offset: int = 1_000, ms: int = 0) -> Copy:
        self._links += 1
        copy = self.in_sync.open(LinkId(self._links), peer(host, 40_000 + self._links))
        self.in_sync.begin(copy, offset, offset, self.end, at(ms))
        copy.sent_offset = self.end
        return copy

    def grow(self, *copies: Copy, size: int = 100) -> None:
        """The log grows, and these are sent it."""
        self.end += size
        for copy in copies:
            copy.sent_offset = self.end

    def acknowledge(self, copy: Copy, offset: int, ms: int = 0) -> str:
        return self.in_sync.acknowledge(copy, offset, at(ms))

    @property
    def copied(self) -> int | None:
        return self.in_sync.copied_offset(self.end)

    @property
    def count(self) -> int:
        return self.in_sync.count(self.end)


@pytest.mark.parametrize(
    ("k", "copied"), [(1, None), (2, 900), (3, 700), (4, 650), (5, 0)], ids=str
)
def test_an_offset_is_copied_when_k_brokers_have_it_and_the_master_is_one(
    k: int, copied: int | None
) -> None:
    copies = Copies(k)
    for host, offset in (("a", 700), ("b", 900), ("c", 650)):
        copies.join(host, offset)
    assert copies.copied == copied


def test_nobody_waits_for_slaves_of_an_asynchronous_master() -> None:
    in_sync = InSync(ReplicationConfig(role=BrokerRole.ASYNC_MASTER, in_sync_replicas=2))
    assert (in_sync.waits, in_sync.copied_offset(10), in_sync.shortage(10)) == (False, None, "")
    assert in_sync.needed(10) == 1


def test_what_was_copied_once_stays_so_when_slaves_go() -> None:
    copies = Copies(2)
    first = copies.join("a", 900)
    assert copies.copied == 900
    copies.in_sync.close(first)
    copies.join("a", 600)
    assert copies.copied == 900


def test_acknowledgements_raise_what_is_copied() -> None:
    copies = Copies(3)
    first, second = copies.join("a", 600), copies.join("b", 600)
    assert copies.acknowledge(first, 900) == ""
    assert copies.copied == 600
    assert copies.acknowledge(second, 800) == ""
    assert copies.copied == 800


@pytest.mark.parametrize(
    ("offset", "words"), [(599, "acknowledges 599 after 600"), (1_001, "was sent the log up to")]
)
def test_an_acknowledgement_that_cannot_be_true_is_refused(offset: int, words: str) -> None:
    copies = Copies(2)
    slave = copies.join("a", 600)
    assert words in copies.acknowledge(slave, offset)
    assert slave.ack_offset == 600
    assert copies.copied == 600


def test_an_acknowledgement_of_bytes_that_were_not_sent_yet_is_refused() -> None:
    copies = Copies(2)
    slave = copies.join("a", 1_000)
    copies.grow()
    assert "up to 1000" in copies.acknowledge(slave, 1_050)
    assert copies.copied == 1_000


# In sync, and enough of them.


def test_a_slave_is_in_sync_while_it_has_reported_and_its_gap_is_small() -> None:
    copies = Copies(2)
    silent = copies.in_sync.open(LinkId(9), peer("z"))
    near, far = copies.join("a", 501), copies.join("b", 500)
    assert copies.count == 2
    statuses = {
        status.peer.host: (status.is_in_sync, status.why_not)
        for status in copies.in_sync.statuses(copies.end, at(0))
    }
    assert statuses[silent.peer.host] == (False, "it has not reported yet")
    assert statuses[near.peer.host] == (True, "")
    assert statuses[far.peer.host] == (
        False,
        "500 bytes behind; 500 are too many (haMaxGapNotInSync)",
    )


def test_a_send_is_refused_while_fewer_than_k_are_in_sync() -> None:
    copies = Copies(3)
    copies.join("a")
    assert "not enough: 3 are needed and 2 in sync" in copies.in_sync.shortage(copies.end)
    second = copies.join("b")
    assert copies.in_sync.shortage(copies.end) == ""
    copies.in_sync.close(second)
    assert copies.in_sync.shortage(copies.end)
    assert copies.in_sync.connected() == 1


def test_k_adapts_to_the_slaves_in_sync_and_not_below_the_least() -> None:
    copies = Copies(3, adapts_in_sync=True, in_sync_replicas_min=2)
    assert copies.in_sync.needed(copies.end) == 2
    assert copies.in_sync.shortage(copies.end)
    copies.join("a", 700)
    assert copies.in_sync.needed(copies.end) == 2
    assert (copies.in_sync.shortage(copies.end), copies.copied) == ("", 700)
    copies.join("b", 600)
    assert copies.in_sync.needed(copies.end) == 3
    copies.join("c", 900)
    assert copies.in_sync.needed(copies.end) == 3
    assert copies.copied == 700


def test_what_was_acknowledged_without_a_slave_stays_so_when_one_is_in_sync() -> None:
    copies = Copies(2, adapts_in_sync=True)
    assert copies.copied is None
    slave = copies.join("a", 800)
    assert copies.copied == 1_000
    copies.grow(slave)
    assert copies.copied == 1_000
    copies.acknowledge(slave, 1_100)
    assert copies.copied == 1_100


# A slave counts once.


def test_two_connections_from_one_host_count_once_and_the_newest_counts() -> None:
    copies = Copies(3)
    old = copies.join("a", 900)
    copies.join("a", 700, ms=10)
    assert (copies.count, copies.in_sync.connected()) == (2, 1)
    assert copies.copied == 0
    by_port = {s.peer.port: s for s in copies.in_sync.statuses(copies.end, at(10))}
    assert "same host" in by_port[old.peer.port].why_not
    copies.join("b", 600, ms=20)
    assert copies.copied == 600


def test_what_a_dead_connection_left_on_the_network_does_not_make_it_count() -> None:
    copies = Copies(3)
    old = copies.join("a", 800)
    new = copies.join("a", 800, ms=10_000)
    copies.grow(old, new)
    # Reports of the time before, which come late and together.
    for ms in (10_100, 10_101, 10_101 + BEAT_MS // 2 - 2):
        assert copies.acknowledge(old, 1_000, ms) == ""
    copies.acknowledge(new, 1_100, 10_200)
    assert copies.count == 2
    assert copies.copied == 0


def test_two_slaves_on_one_host_count_as_two_once_both_make_progress() -> None:
    copies = Copies(3)
    first = copies.join("a")
    second = copies.join("a", ms=10)
    assert copies.count == 2
    copies.grow(first, second)
    copies.acknowledge(second, 1_100, 20)
    assert copies.copied == 0
    copies.acknowledge(first, 1_001, 21)
    assert copies.count == 3
    assert copies.copied == 1_001


def test_two_idle_slaves_on_one_host_count_as_two_after_their_heartbeats() -> None:
    copies = Copies(3)
    first = copies.join("a")
    copies.join("a", ms=10)
    copies.acknowledge(first, 1_000, BEAT_MS)
    assert copies.count == 2
    copies.acknowledge(first, 1_000, 2 * BEAT_MS)
    assert copies.count == 3
    assert copies.copied == 1_000


def test_each_further_connection_from_a_host_puts_the_others_in_doubt_again() -> None:
    copies = Copies(4)
    first, second = copies.join("a"), copies.join("a", ms=1)
    copies.grow(first, second)
    copies.acknowledge(first, 1_100, 5)
    assert copies.count == 3
    third = copies.join("a", ms=10)
    assert copies.count == 2
    copies.grow(first, second, third)
    for slave in (first, second, third):
        copies.acknowledge(slave, 1_200, 20)
    assert copies.count == 4
    assert copies.copied == 1_200


def test_slaves_on_different_hosts_count_at_once() -> None:
    copies = Copies(3)
    copies.join("a")
    copies.join("b")
    assert (copies.count, copies.copied) == (3, 1_000)


# Lag.


def test_lag_is_told_in_bytes_and_in_time() -> None:
    copies = Copies(2)
    slave = copies.join("a", 1_000, ms=100)
    copies.grow(slave)
    copies.in_sync.note_end(copies.end, 200)
    copies.grow(slave)
    copies.in_sync.note_end(copies.end, 300)
    (status,) = copies.in_sync.statuses(copies.end, at(350))
    assert (status.lag_bytes, status.lag_ms, status.ack_offset) == (200, 150, 1_000)
    copies.acknowledge(slave, 1_100, 360)
    (status,) = copies.in_sync.statuses(copies.end, at(360))
    assert (status.lag_bytes, status.lag_ms) == (100, 60)
    copies.acknowledge(slave, 1_200, 370)
    (status,) = copies.in_sync.statuses(copies.end, at(370))
    assert (status.lag_bytes, status.lag_ms) == (0, 0)


def test_the_lag_of_a_slave_that_joins_late_counts_from_then_on() -> None:
    copies = Copies(2)
    copies.join("a", 600, ms=5_000)
    (status,) = copies.in_sync.statuses(copies.end, at(5_040))
    assert (status.lag_bytes, status.lag_ms) == (400, 40)
