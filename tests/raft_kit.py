"""A Raft group of real stores: the core, its frames, state files and commit logs, in one process.

    group = RaftGroup(3)
    group.elect(1)
    group[1].send(b"a body")
    group.settle()

Disks do their work at once. A cut of a log is a new life of its member, as in a broker.
"""

from collections import deque

from aerobee.raft.config import RaftConfig
from aerobee.raft.frames import Hello, RaftFrameReader, encode_frame
from aerobee.raft.membership import NOBODY, Members, voters
from aerobee.raft.messages import Records
from aerobee.raft.node import Node
from aerobee.raft.saved_state import first_state
from aerobee.raft.state_file import load_state, save_state
from aerobee.replication.raft_log import RaftLog
from aerobee.sim.disk import SimDisk
from aerobee.storage.store import Store
from tests.store_kit import ROOT, SMALL_SYNC, StoreKit, bodies_of, draft

CONFIG = RaftConfig(election_timeout_ms=1000, batch_bytes=1500, window_bytes=6000)
STATE = f"{ROOT}/config/raft"


class Fixed:
    """Every election timeout is the shortest."""

    def below(self, limit: int) -> int:
        return 0


class RaftMember:
    """One node on its own disk."""

    def __init__(
        self, group: "RaftGroup", number: int, members: Members, kit: StoreKit | None = None
    ) -> None:
        self.group = group
        self.number = number
        self.kit = kit or StoreKit(config=SMALL_SYNC)
        if load_state(self.kit.disk, STATE) is None:
            self.kit.disk.make_directory(f"{ROOT}/config")
            save_state(self.kit.disk, STATE, first_state(members, self.kit.store.min_offset))
        self.is_up = True
        self.cuts: list[int] = []
        self.log = RaftLog(self.kit.store, 0)
        self._begin()

    def _begin(self) -> None:
        """A life: everything from the disk."""
        state = load_state(self.kit.disk, STATE)
        assert state is not None
        self.node = Node(
            self.number,
            state,
            self.log.bounds(),
            CONFIG,
            Fixed(),
            self._boundary,
            self.group.now_ms,
        )
        self.work(b"")

    def _boundary(self, start: int, limit: int) -> int:
        return self.log.boundary(start, limit)

    def restart(self, disk: SimDisk | None = None) -> None:
        """Begin again after a kill, or with what a power cut has left."""
        self.kit = StoreKit(disk or self.kit.disk.kill(), SMALL_SYNC, clock=self.kit.clock)
        self.log = RaftLog(self.kit.store, 0)
        self.is_up = True
        self._begin()

    def kill(self) -> None:
        self.is_up = False

    def send(self, body: bytes) -> None:
        assert self.node.may_append
        self.kit.append(draft(body=body))
        self.node.appended(self.kit.store.end_offset)
        self.work(b"")

    def bodies(self) -> list[bytes]:
        """What a consumer can read."""
        self.kit.store.dispatch()
        return bodies_of(self.kit.store)

    def receive(self, sender: int, frame: bytes) -> None:
        reader = RaftFrameReader()
        reader.receive(frame)
        assert reader.advance()
        assert not isinstance(reader.message, Hello)
        self._stepped = reader.message
        self.node.step(sender, reader.message, self.group.now_ms)
        self.work(reader.body)

    def work(self, body: bytes) -> None:
        """Do what the core asks for, until it asks for nothing more."""
        while (ready := self.node.ready()) is not None:
            if ready.cut is not None:
                self._cut(ready.cut)
                return
            if ready.save is not None:
                save_state(self.kit.disk, STATE, ready.save)
            if ready.has_records:
                assert isinstance(self._stepped, Records)
                self.log.append_records(self._stepped, memoryview(body))
            if ready.control is not None:
                if self.log.has_copied:
                    self._open_anew(None)
                wall_ms = self.kit.clock.now().wall_ms
                self.node.appended(self.log.append_control(ready.control, wall_ms))
            for to, message in ready.sends:
                frame = encode_frame(message)
                if isinstance(message, Records):
                    frame += b"".join(self.log.slices(message.start, message.end))
                self.group.post.append((self.number, to, frame))
            self.log.note_commit(ready.commit)
            self.kit.settle()
            self.node.synced(self.log.synced)

    def _cut(self, offset: int) -> None:
        self.cuts.append(offset)
        self._open_anew(offset)
        self._begin()

    def _open_anew(self, cut_at: int | None) -> None:
        kit = self.kit
        kit.store.close()
        kit.store = Store.open(kit.disk, ROOT, SMALL_SYNC, kit.worker, cut_at=cut_at)
        self.log = RaftLog(kit.store, self.log.committed)


class RaftGroup:
    def __init__(self, count: int, *, kits: dict[int, StoreKit] | None = None) -> None:
        self.now_ms = 0
        self.post: deque[tuple[int, int, bytes]] = deque()
        self.members: dict[int, RaftMember] = {}
        first = voters(*range(1, count + 1))
        for number in first.nodes:
            kit = (kits or {}).get(number)
            self.members[number] = RaftMember(self, number, first, kit)

    def __getitem__(self, number: int) -> RaftMember:
        return self.members[number]

    def join(self, number: int) -> None:
        """A node with an empty store, which waits to be added."""
        self.members[number] = RaftMember(self, number, NOBODY)

    def settle(self, *without: int) -> None:
        """Deliver all frames but those of and for some nodes."""
        for _ in range(5000):
            if not self.post:
                return
            sender, to, frame = self.post.popleft()
            if sender not in without and to not in without and self.members[to].is_up:
                self.members[to].receive(sender, frame)
        raise AssertionError("the post never ends")

    def tick(self, number: int) -> None:
        member = self.members[number]
        member.node.tick(self.now_ms)
        member.work(b"")

    def elect(self, number: int, *without: int) -> None:
        """Let a node stand for election until it leads; the first try may only show it a term."""
        for _ in range(4):
            self.now_ms += 2 * CONFIG.election_timeout_ms
            self.tick(number)
            self.settle(*without)
            if self.members[number].node.leading is not None:
                return
        raise AssertionError(f"node {number} is not elected")

    def beat(self, leader: int, *without: int) -> None:
        self.now_ms += CONFIG.heartbeat_ms
        self.tick(leader)
        self.settle(*without)
