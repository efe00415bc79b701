"""A Raft group of whole brokers on a pretended world: real stores, links and requests between them.

    group = MemberGroup(3)
    leader = group.elected()
    leader.kit.send_frames(send_frame()); group.run(50)
    group.stop(leader.number); group.elected()

`run` lets time pass in small steps: disks work, links carry bytes, requests of brokers to each
other are answered, and lives follow each other as the process would have it.
"""

from collections.abc import Callable, Mapping, Sequence

from aerobee.model.broker_role import MASTER_ID, BrokerRole, Stage
from aerobee.model.topic import TopicConfig
from aerobee.ports.service import (
    REFUSED,
    ChannelId,
    CloseLink,
    Dial,
    Effect,
    LinkId,
    LinkWrite,
    OpenLink,
    Peer,
    Rebuild,
)
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from aerobee.replication.config import ReplicationConfig
from aerobee.replication.group_config import RaftGroupConfig, RaftPeer
from aerobee.replication.raft_seat import RaftSeat
from aerobee.service.access.config import OPEN, AccessConfig
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.replication.raft.raft_side import RaftSide
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.store import Store
from tests.broker_kit import SYNC, BrokerKit, create_fields
from tests.store_kit import ROOT

STEP_MS = 10
NAME_SERVER = "ns:9876"
_FIRST_CHANNEL = 100


class Turns:
    """Election timeouts that differ from node to node, and from try to try."""

    def __init__(self, number: int) -> None:
        self._next = 200 * number

    def below(self, limit: int) -> int:
        self._next += 370
        return self._next % limit


class Member:
    def __init__(
        self,
        group: "MemberGroup",
        number: int,
        config: RaftGroupConfig,
        disk: SimDisk | None = None,
        access: AccessConfig = OPEN,
    ) -> None:
        self.number = number
        self.access = access
        self.config = config
        self.seat = RaftSeat(config, "g", Turns(number))
        self.disk = disk or SimDisk()
        self.is_up = True
        self.lives: list[Rebuild] = []
        """What led to each life but the first."""
        self._group = group
        self.kit = self._life(Stage.FOLLOWING)

    def _life(self, stage: Stage) -> BrokerKit:
        leads = stage is Stage.LEADING
        role = BrokerRole.SYNC_MASTER if leads else BrokerRole.SLAVE
        identity = BrokerIdentity(
            broker_id=MASTER_ID if leads else self.number + 1,
            address=f"b{self.number}:10911",
            ha_address=self.config.address,
            replication=ReplicationConfig(role=role),
            stage=stage,
            raft=self.seat,
            access=self.access,
        )
        return BrokerKit(
            identity=identity,
            disk=self.disk,
            storage=SYNC,
            clock=self._group.clock,
            addresses=(NAME_SERVER,),
        )

    @property
    def side(self) -> RaftSide:
        side = self.kit.broker._duties.links
        assert isinstance(side, RaftSide)
        return side

    @property
    def leads(self) -> bool:
        """Whether it leads, and a majority follows."""
        leading = self.side.node.leading
        is_followed = leading is not None and leading.has_committed()
        return self.is_up and self.side.takes_messages and is_followed

    def rebuild(self, wanted: Rebuild) -> None:
        self.lives.append(wanted)
        self.kit.stop()
        if wanted.is_emptied:
            for path in self.disk.list_directory(f"{ROOT}/commitlog"):
                self.disk.remove(f"{ROOT}/commitlog/{path}")
        if wanted.cut_at is not None:
            Store.open(self.disk, ROOT, SYNC, SimDiskWorker(), cut_at=wanted.cut_at).close()
        self.kit = self._life(wanted.stage)

    def restart(self) -> None:
        """Another process on what a kill has left."""
        self.disk = self.disk.kill()
        self.seat = RaftSeat(self.config, "g", Turns(self.number))
        self.is_up = True
        self.kit = self._life(Stage.FOLLOWING)


class MemberGroup:
    def __init__(
        self,
        count: int,
        *topics: TopicConfig,
        preferred: tuple[int, ...] = (),
        disk: SimDisk | None = None,
        access: AccessConfig = OPEN,
    ) -> None:
        """`disk` has the store of the first member."""
        self.access = access
        self.clock = SimClock()
        self.told: list[tuple[int, int, str]] = []
        """What the name server was told: by which member, the code, and the broker id."""
        peers = tuple(RaftPeer(number, f"n{number}:40911") for number in range(count))
        self.members = [
            Member(
                self,
                number,
                RaftGroupConfig(is_on=True, peers=peers, node=number, preferred=preferred),
                disk if number == 0 else None,
                access,
            )
            for number in range(count)
        ]
        self.cuts: set[frozenset[int]] = set()
        """Pairs between which nothing is carried, and nobody is told."""
        # Of each link both ends: the member and its number for the link.
        self._links: dict[tuple[int, LinkId], tuple[int, LinkId]] = {}
        self._next = 0
        self._asked: list[tuple[Member, Dial, Member, ChannelId]] = []
        for topic in topics:
            assert self.ask(self.elected(), 17, create_fields(topic)).code == 0

    def join(self) -> Member:
        """A member with an empty store, which waits to be added."""
        number = len(self.members)
        own = RaftPeer(number, f"n{number}:40911")
        peers = (*self.members[0].config.peers, own)
        config = RaftGroupConfig(is_on=True, peers=peers, node=number, joins=True)
        self.members.append(Member(self, number, config, access=self.access))
        return self.members[-1]

    def __getitem__(self, number: int) -> Member:
        return self.members[number]

    # Time.

    def run(self, ms: int) -> None:
        for _ in range(0, ms, STEP_MS):
            self.clock.advance(STEP_MS)
            for member in self.members:
                if member.is_up:
                    member.kit.work()
                    member.kit.tick()
                    self._carry_out(member)
            self._answer()

    def until(self, is_so: Callable[[], bool], ms: int = 20_000) -> None:
        for _ in range(0, ms, STEP_MS):
            if is_so():
                return
            self.run(STEP_MS)
        raise AssertionError("it does not come about")

    def elected(self, *without: int) -> Member:
        """The leader, once there is one that is none of these."""

        def leaders() -> list[Member]:
            return [one for one in self.members if one.leads and one.number not in without]

        self.until(lambda: bool(leaders()))
        return leaders()[0]

    def stop(self, number: int) -> None:
        """Kill a member: its links close."""
        self.members[number].is_up = False
        for end in [one for one in self._links if number in (one[0], self._links[one][0])]:
            self._close(*end)

    def ask(
        self, member: Member, code: int, fields: Mapping[str, str] | None = None, body: bytes = b""
    ) -> RemotingCommand:
        """The answer of a member to a request, as soon as the group lets it answer."""
        member.kit.heard()
        member.kit.tell(code, fields, body)
        self._carry_out(member)
        found: list[RemotingCommand] = []

        def is_answered() -> bool:
            found.extend(one for one in member.kit.heard() if one.is_response)
            return bool(found)

        self.until(is_answered)
        return found[0]

    # Effects.

    def _carry_out(self, member: Member) -> None:
        while member.kit.wanted or member.kit.dialed:
            wanted, member.kit.wanted = member.kit.wanted, []
            dialed, member.kit.dialed = member.kit.dialed, []
            for dial in dialed:
                self._dial(member, dial)
            for effect in wanted:
                self._do(member, effect)

    def _do(self, member: Member, effect: Effect) -> None:
        match effect:
            case OpenLink(address):
                self._open(member, address)
            case LinkWrite(link, buffers):
                self._write(member, link, buffers)
            case CloseLink(link, _):
                self._close(member.number, link)
            case Rebuild():
                for number, link in [one for one in self._links if one[0] == member.number]:
                    self._close(number, link)
                member.rebuild(effect)

    def _open(self, member: Member, address: str) -> None:
        other = next((one for one in self.members if one.config.address == address), None)
        now = self.clock.now()
        if other is None or not other.is_up or self._is_cut(member, other):
            is_ended = other is not None and not other.is_up
            reason = REFUSED if is_ended else "no answer"
            failed = member.kit.broker.on_link_failed(address, reason, now)
            member.kit.carry_out(failed)
            return
        self._next += 2
        here, there = LinkId(self._next), LinkId(self._next + 1)
        self._links[member.number, here] = (other.number, there)
        self._links[other.number, there] = (member.number, here)
        for one, link, is_dialed in ((other, there, False), (member, here, True)):
            peer = Peer("10.0.0.1", 1)
            one.kit.carry_out(one.kit.broker.on_link_open(link, peer, is_dialed, now))

    def _write(self, member: Member, link: LinkId, buffers: Sequence[bytes | memoryview]) -> None:
        end = self._links.get((member.number, link))
        if end is None:
            return
        other = self.members[end[0]]
        if not self._is_cut(member, other):
            data = b"".join(buffers)
            now = self.clock.now()
            other.kit.carry_out(other.kit.broker.on_link_bytes(end[1], data, now))
            other.kit.carry_out(other.kit.broker.settle(now))

    def _close(self, number: int, link: LinkId) -> None:
        end = self._links.pop((number, link), None)
        if end is None:
            return
        self._links.pop(end, None)
        for at, which in ((number, link), end):
            member = self.members[at]
            if member.is_up:
                closed = member.kit.broker.on_link_closed(which, self.clock.now())
                member.kit.carry_out(closed)

    def _is_cut(self, one: Member, other: Member) -> bool:
        return frozenset((one.number, other.number)) in self.cuts

    # Requests to each other.

    def _dial(self, member: Member, dial: Dial) -> None:
        if dial.address == NAME_SERVER:
            command = dial.command
            broker_id = command.ext_fields.get("brokerId", "")
            self.told.append((member.number, command.code, broker_id))
            known = RemotingCommand(0, flag=1)
            answered = member.kit.broker.on_answer(dial.ticket, known, self.clock.now())
            member.kit.carry_out(answered)
            return
        other = next((one for one in self.members if f"b{one.number}:10911" == dial.address), None)
        if other is None or not other.is_up or self._is_cut(member, other):
            answer = member.kit.broker.on_answer(dial.ticket, None, self.clock.now())
            member.kit.carry_out(answer)
            return
        self._next += 1
        channel = ChannelId(_FIRST_CHANNEL + self._next)
        other.kit.open(channel)
        other.kit.send_frames(b"".join(encode(dial.command)), channel)
        self._asked.append((member, dial, other, channel))

    def _answer(self) -> None:
        for asked in list(self._asked):
            member, dial, other, channel = asked
            is_lost = not other.is_up or channel not in other.kit._lines
            heard = [] if is_lost else other.kit.heard(channel)
            if not is_lost and not heard:
                continue
            self._asked.remove(asked)
            if member.is_up:
                answer = heard[0] if heard else None
                told = member.kit.broker.on_answer(dial.ticket, answer, self.clock.now())
                member.kit.carry_out(told)
