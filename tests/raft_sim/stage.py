"""Stage: a group of hosts whose every message is delivered by hand, for stories of rare shapes.

    stage = Stage(3)
    stage.elect(1)
    stage.submit(1)                 a record, on node 1 alone
    stage.settle(without={3})       everything is delivered but to and from node 3
    stage.power_cut(2)

Saves are done at once; so are syncs, unless a disk is in `slow_disks`. Time passes only by
`advance`, and only the node that a story names looks at its clock.
"""

from collections.abc import Callable, Container, Iterable

from aerobee.raft.config import RaftConfig
from aerobee.raft.membership import Change, Member, Members, voters
from aerobee.raft.messages import Message
from aerobee.raft.node import Node
from aerobee.raft.saved_state import first_state
from tests.raft_sim.disk_log import Chunk
from tests.raft_sim.host import Host
from tests.raft_sim.judge import Judge

TIMEOUT_MS = 1000
CONFIG = RaftConfig(election_timeout_ms=TIMEOUT_MS, heartbeat_ms=200, batch_bytes=40)
NOBODY: frozenset[int] = frozenset()
LETTERS_MAX = 1000


class NoEntropy:
    """Every election timeout is the shortest."""

    def below(self, limit: int) -> int:
        return 0


class Letter:
    """A message under way."""

    __slots__ = ("chunk", "message", "sender", "to")

    def __init__(self, sender: int, to: int, message: Message, chunk: Chunk) -> None:
        self.sender = sender
        self.to = to
        self.message = message
        self.chunk = chunk


class Stage:
    """Surroundings of hosts, moved by a story."""

    def __init__(
        self,
        nodes: int,
        *,
        learners: Iterable[int] = (),
        spares: Iterable[int] = (),
        config: RaftConfig = CONFIG,
    ) -> None:
        self.judge = Judge()
        self.now = 0.0
        self.letters: list[Letter] = []
        self.slow_disks: set[int] = set()
        self.full_disks: set[int] = set()
        self.record_bytes = 30
        self.hosts: dict[int, Host] = {}
        first = voters(*range(1, nodes + 1))
        if learners:
            first = Members((*first.listed, *(Member(node, "", False) for node in learners)))
        for number in (*first.nodes, *spares):
            saved = first_state(first) if number in first.nodes else first_state()
            host = self.hosts[number] = self.judge.hosts[number] = Host(number, saved, config, self)
            host.entropy = NoEntropy()
            host.clock_offset = 1000.0 * number
            host.start()

    # Surroundings.

    def send(self, sender: int, to: int, message: Message, chunk: Chunk) -> None:
        self.letters.append(Letter(sender, to, message, chunk))

    def begin_save(self, host: Host, done: Callable[[], None]) -> None:
        done()

    def begin_sync(self, host: Host) -> None:
        if host.number in self.slow_disks:
            host.is_syncing = False
        else:
            host.sync_done(host.log.end, host.log.life)

    def arm(self, host: Host) -> None:
        """Stories call `tick` themselves."""

    def acknowledged(self, host: Host) -> None:
        """Stories read when they want to."""

    def record_size(self) -> int:
        return self.record_bytes

    def has_room(self, host: Host) -> bool:
        return host.number not in self.full_disks

    # Moves.

    def advance(self, ms: float) -> None:
        self.now += ms

    def tick(self, *nodes: int) -> None:
        for node in nodes:
            self.hosts[node].tick()

    def pass_on(self, letter: Letter) -> None:
        """Deliver a letter, which may have been delivered before."""
        self.hosts[letter.to].deliver(letter.sender, letter.message, letter.chunk)

    def take(
        self, kind: type[Message] | tuple[type[Message], ...], to: Container[int] | None = None
    ) -> list[Letter]:
        """Take the letters of a kind out of the post."""
        taken = [
            letter
            for letter in self.letters
            if isinstance(letter.message, kind) and (to is None or letter.to in to)
        ]
        self.letters = [letter for letter in self.letters if letter not in taken]
        return taken

    def settle(
        self,
        without: Container[int] = NOBODY,
        held: tuple[type[Message], ...] = (),
        is_lost: Callable[[Letter], bool] = lambda letter: False,
    ) -> None:
        """Deliver everything, and what follows from it. Letters for or from some nodes are lost,
        and those that the story chooses; those of some kinds stay under way."""
        kept: list[Letter] = []
        for _ in range(LETTERS_MAX):
            if not self.letters:
                self.letters = kept
                return
            letter = self.letters.pop(0)
            if isinstance(letter.message, held):
                kept.append(letter)
            elif letter.to in without or letter.sender in without or is_lost(letter):
                continue
            else:
                self.pass_on(letter)
        raise AssertionError("the post never ends")

    def settle_and_find(self, kind: type[Message]) -> Letter:
        """Deliver everything, and tell the last letter of a kind that was among it."""
        found: list[Letter] = []

        def look_at(letter: Letter) -> bool:
            if isinstance(letter.message, kind):
                found.append(letter)
            return False

        self.settle(is_lost=look_at)
        assert found, f"no {kind.__name__} was sent"
        return found[-1]

    def elect(
        self,
        node: int,
        without: Container[int] = NOBODY,
        held: tuple[type[Message], ...] = (),
    ) -> None:
        """Let a node stand for election when everybody's patience is over, up to three times: the
        first may only tell it of a later term."""
        for _ in range(3):
            self.advance(2 * TIMEOUT_MS)
            self.tick(node)
            self.settle(without, held)
            if self.leads(node):
                return

    def beat(self, leader: int, without: Container[int] = NOBODY) -> None:
        """A heartbeat, and the answers to it."""
        self.advance(self.hosts[leader].config.heartbeat_ms)
        self.tick(leader)
        self.settle(without)

    def submit(self, node: int, count: int = 1) -> bool:
        return self.hosts[node].submit(count)

    def change(self, node: int, change: Change) -> str:
        return self.hosts[node].command(lambda core: core.change_members(change))

    def transfer(self, node: int, target: int) -> str:
        host = self.hosts[node]
        return host.command(lambda core: core.transfer(target, host.now_ms()))

    def hold(self, node: int, *, is_full: bool) -> None:
        """The disk of a node has no room, or has room again."""
        self.hosts[node].core.is_full = is_full

    def bar(self, node: int, *, is_barred: bool) -> None:
        """The host of a node has no room to begin a term, and knows it; or has room again."""
        self.hosts[node].core.is_barred = is_barred

    def forget(self, node: int, offset: int) -> None:
        """Retention removes the log below."""
        host = self.hosts[node]
        host.log.start = offset

        def forget(core: Node) -> str:
            core.log_starts_at(offset)
            return ""

        host.command(forget)

    def kill(self, node: int) -> None:
        self.hosts[node].stop(is_saved=True)

    def power_cut(self, node: int) -> None:
        """Everything that was not synced is lost."""
        self.hosts[node].stop(is_saved=True)
        self.hosts[node].log.lose(0)

    def start(self, node: int) -> None:
        self.hosts[node].start()

    # Facts.

    def leads(self, node: int) -> bool:
        host = self.hosts[node]
        return host.is_up and host.core.leading is not None

    def term(self, node: int) -> int:
        return self.hosts[node].core.term

    def commit(self, node: int) -> int:
        return self.hosts[node].core.log.commit

    def end(self, node: int) -> int:
        return self.hosts[node].log.end

    def reads(self, node: int) -> bool:
        """Whether a read by lease is answered; the judge says whether rightly."""
        return self.hosts[node].read()
