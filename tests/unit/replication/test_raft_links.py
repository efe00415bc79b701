from collections import deque

from aerobee.ports.clock import Now
from aerobee.ports.service import REFUSED, CloseLink, Effects, LinkId, LinkWrite, OpenLink, Peer
from aerobee.raft.frames import Hello
from aerobee.raft.messages import Message, Records, TimeoutNow
from aerobee.replication.raft_links import DIAL_MS, HELLO_MS_MAX, LinkRules, RaftLinks

SILENCE_MS = 2_000
LOG = b"0123456789"
HEARTBEAT = Records(1, 5, 5, 1, 1, None, 0, 0)


class End:
    """The links of one node, and what they have received."""

    def __init__(self, node: int, group: str = "g") -> None:
        self.outbox: Effects = []
        self.received: deque[tuple[int, Message, bytes]] = deque()
        rules = LinkRules(Hello(node, group, f"b{node}:10911"), SILENCE_MS)
        self.ended: list[int] = []
        self.links = RaftLinks(rules, self._slices, self._take, self._note_end, self.outbox)

    def _slices(self, start: int, end: int) -> list[memoryview]:
        return [memoryview(LOG)[start:end]]

    def _take(self, sender: int, message: Message, body: bytes, now: Now) -> None:
        self.received.append((sender, message, body))

    def _note_end(self, node: int, now: Now) -> None:
        self.ended.append(node)

    def effects(self) -> Effects:
        found, self.outbox[:] = list(self.outbox), []
        return found


def now(ms: int) -> Now:
    return Now(ms, ms)


def carry(source: End, target: End, here: LinkId, there: LinkId, ms: int = 0) -> None:
    """Bring what one end has written to the other, byte by byte."""
    for effect in source.effects():
        if isinstance(effect, LinkWrite) and effect.link == here:
            for byte in b"".join(effect.buffers):
                target.links.on_link_bytes(there, bytes([byte]), now(ms))


def linked() -> tuple[End, End]:
    """Node 0 has dialed node 1."""
    dialer, other = End(0), End(1)
    dialer.links.set_peers({1: "h1:1"})
    other.links.set_peers({0: "h0:1"})
    dialer.links.on_tick(0)
    assert OpenLink("h1:1") in dialer.effects()
    dialer.links.on_link_open(LinkId(1), Peer("h1", 1), True, 0)
    other.links.on_link_open(LinkId(9), Peer("h0", 7), False, 0)
    carry(dialer, other, LinkId(1), LinkId(9))
    carry(other, dialer, LinkId(9), LinkId(1))
    return dialer, other


def test_messages_go_one_way_with_the_bytes_of_the_log() -> None:
    dialer, other = linked()
    assert dialer.links.is_linked(1)
    assert not other.links.is_linked(0)
    assert (dialer.links.brokers, other.links.brokers) == (
        {1: "b1:10911"},
        {0: "b0:10911"},
    )
    records = Records(1, 2, 6, 1, 1, None, 0, 0)
    dialer.links.send(1, records, 0)
    dialer.links.send(1, TimeoutNow(1), 0)
    carry(dialer, other, LinkId(1), LinkId(9))
    assert list(other.received) == [(0, records, b"2345"), (0, TimeoutNow(1), b"")]


def test_a_message_without_a_link_is_lost() -> None:
    end = End(0)
    end.links.set_peers({1: "h1:1"})
    end.links.send(1, TimeoutNow(1), 0)
    end.links.send(5, TimeoutNow(1), 0)
    assert end.effects() == []


def test_who_has_not_said_who_it_is_learns_nothing_of_the_group() -> None:
    end = End(1)
    end.links.on_link_open(LinkId(9), Peer("h0", 7), False, 0)
    end.links.on_link_bytes(LinkId(9), b"GET / HTTP/1.1", now(0))
    assert not any(isinstance(one, LinkWrite) for one in end.effects())


def test_a_node_of_another_group_is_not_spoken_with() -> None:
    dialer, stranger = End(0), End(1, "another")
    dialer.links.set_peers({1: "h1:1"})
    dialer.links.on_link_open(LinkId(1), Peer("h1", 1), True, 0)
    stranger.links.on_link_open(LinkId(9), Peer("h0", 7), False, 0)
    carry(dialer, stranger, LinkId(1), LinkId(9))
    carry(stranger, dialer, LinkId(9), LinkId(1))
    assert any(isinstance(one, CloseLink) for one in dialer.effects())
    assert not dialer.links.is_linked(1)


def test_a_peer_that_says_nothing_is_dialed_anew() -> None:
    dialer, _ = linked()
    dialer.links.send(1, HEARTBEAT, 1_000)
    dialer.links.on_tick(1_000 + SILENCE_MS)
    assert dialer.links.is_linked(1)
    dialer.effects()
    dialer.links.on_tick(1_001 + SILENCE_MS)
    effects = dialer.effects()
    assert isinstance(effects[0], CloseLink)
    assert effects[-1] == OpenLink("h1:1")


def test_a_peer_that_answers_is_left_alone() -> None:
    dialer, other = linked()
    # Node 1 dials in its turn, and speaks on its own link.
    other.links.on_link_open(LinkId(8), Peer("h0", 1), True, 1_000)
    dialer.links.on_link_open(LinkId(2), Peer("h1", 1), False, 1_000)
    carry(other, dialer, LinkId(8), LinkId(2))
    carry(dialer, other, LinkId(2), LinkId(8))
    dialer.links.send(1, HEARTBEAT, 1_000)
    other.links.send(0, TimeoutNow(1), 1_000)
    carry(other, dialer, LinkId(8), LinkId(2))
    assert list(dialer.received) == [(1, TimeoutNow(1), b"")]
    dialer.effects()
    dialer.links.on_tick(1_001 + SILENCE_MS)
    assert dialer.effects() == []


def test_dialing_is_repeated_with_a_pause() -> None:
    end = End(0)
    end.links.set_peers({1: "h1:1"})
    end.links.on_tick(0)
    end.links.on_link_failed("h1:1", "no answer", now(5))
    end.effects()
    end.links.on_tick(5 + DIAL_MS - 1)
    assert end.effects() == []
    assert end.links.rest_ms(5) == DIAL_MS
    end.links.on_tick(5 + DIAL_MS)
    assert end.effects() == [OpenLink("h1:1")]


def test_a_peer_has_ended_if_its_links_are_closed_and_nobody_listens() -> None:
    dialer, _ = linked()
    dialer.links.on_link_failed("h1:1", REFUSED, now(5))
    assert dialer.ended == []
    dialer.links.on_link_closed(LinkId(1))
    dialer.links.on_link_failed("h1:1", "no answer", now(6))
    assert dialer.ended == []
    dialer.links.on_link_failed("h1:1", REFUSED, now(7))
    assert dialer.ended == [1]


def test_a_link_without_a_hello_is_closed_after_a_while() -> None:
    end = End(0)
    end.links.on_link_open(LinkId(4), Peer("h", 1), False, 0)
    end.effects()
    end.links.on_tick(HELLO_MS_MAX)
    assert end.effects() == []
    end.links.on_tick(HELLO_MS_MAX + 1)
    assert [type(one) for one in end.effects()] == [CloseLink]


def test_a_member_that_was_removed_is_not_written_to() -> None:
    dialer, _ = linked()
    dialer.links.set_peers({})
    assert [type(one) for one in dialer.effects()] == [CloseLink]
    assert not dialer.links.is_linked(1)


def test_why_a_peer_is_not_reached_is_known_until_it_is() -> None:
    end = End(0)
    end.links.set_peers({1: "h1:1"})
    assert end.links.problem(1) == ""
    end.links.on_tick(0)
    end.links.on_link_failed("h1:1", REFUSED, now(5))
    assert end.links.problem(1) == REFUSED
    end.links.on_tick(500)
    stranger = End(7)
    end.links.on_link_open(LinkId(1), Peer("h1", 1), True, 500)
    stranger.links.on_link_open(LinkId(9), Peer("h0", 7), False, 500)
    carry(end, stranger, LinkId(1), LinkId(9))
    carry(stranger, end, LinkId(9), LinkId(1))
    assert end.links.problem(1) == "node 7 is no member of the group"
    dialer, _ = linked()
    assert dialer.links.problem(1) == dialer.links.problem(2) == ""
