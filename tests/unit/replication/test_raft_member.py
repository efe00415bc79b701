from aerobee.ports.clock import Now
from aerobee.raft.messages import (
    Message,
    PreVote,
    PreVoteAnswer,
    Records,
    TimeoutNow,
    Vote,
    VoteAnswer,
)
from aerobee.raft.node import Role
from aerobee.raft.saved_state import SavedState, first_state
from aerobee.replication.group_config import RaftGroupConfig, RaftPeer
from aerobee.replication.raft_log import RaftLog
from aerobee.replication.raft_member import RaftMember
from aerobee.replication.raft_seat import RaftSeat
from tests.member_kit import Turns
from tests.store_kit import SMALL_SYNC, StoreKit, draft

PEERS = tuple(RaftPeer(number, f"h{number}:1") for number in range(3))
CONFIG = RaftGroupConfig(is_on=True, peers=PEERS, node=0)
LONG_MS = 10_000


class Life:
    """A member on a store, whose saves are over when the test says so."""

    def __init__(self, seat: RaftSeat, kit: StoreKit, *, leads: bool) -> None:
        self.kit = kit
        self.log = RaftLog(kit.store, 0)
        saved = first_state(CONFIG.members()) if seat.is_new else None
        seat.begin_life(self.log, saved, 0)
        self.saves: list[SavedState] = []
        self.sent: list[tuple[int, Message]] = []
        self.member = RaftMember(
            seat, self.log, leads, self.saves.append, lambda to, one: self.sent.append((to, one))
        )

    def take_sent(self) -> list[tuple[int, Message]]:
        sent, self.sent[:] = list(self.sent), []
        return sent


def at(ms: int) -> Now:
    return Now(ms, ms)


def elected(kit: StoreKit | None = None) -> tuple[RaftSeat, Life]:
    """A follower's life that has won an election in term 1 and has not saved the epoch yet."""
    seat = RaftSeat(CONFIG, "g", Turns(0))
    life = Life(seat, kit or StoreKit(config=SMALL_SYNC), leads=False)
    member = life.member
    member.begin(at(0))
    member.pump(at(LONG_MS))
    assert {type(message) for _, message in life.take_sent()} == {PreVote}
    member.step(1, PreVoteAnswer(1, True), b"", at(LONG_MS))
    assert life.take_sent() == []
    assert life.saves[-1].term == 1
    return seat, life


def test_a_vote_is_asked_for_when_the_term_is_saved_and_not_before() -> None:
    _, life = elected()
    life.member.pump(at(LONG_MS + 5))
    assert life.take_sent() == []
    life.member.state_saved()
    assert life.member.rest_ms(at(LONG_MS)) < 0
    life.member.pump(at(LONG_MS + 5))
    assert [type(message) for _, message in life.take_sent()] == [Vote, Vote]


def test_messages_wait_while_a_state_is_saved() -> None:
    _, life = elected()
    life.member.step(1, VoteAnswer(1, True), b"", at(LONG_MS))
    assert life.member.node.leading is None
    life.member.state_saved()
    life.member.pump(at(LONG_MS + 5))
    assert life.member.node.role is Role.LEADER


def test_a_follower_that_is_elected_asks_for_a_life_as_leader_and_appends_there() -> None:
    seat, life = elected()
    member = life.member
    member.state_saved()
    member.pump(at(LONG_MS))
    member.step(1, VoteAnswer(1, True), b"", at(LONG_MS))
    member.state_saved()
    member.pump(at(LONG_MS))
    assert member.next_life is not None
    assert member.next_life.leads
    assert life.log.end == 0
    # Nothing more is given to the node.
    member.step(2, VoteAnswer(9, False), b"", at(LONG_MS))
    assert seat.node.term == 1
    life.take_sent()
    leading = Life(seat, life.kit.reopen(), leads=True)
    leading.member.begin(at(LONG_MS + 5_000))
    assert leading.log.end == seat.node.log.end > 0
    assert seat.node.role is Role.LEADER
    assert {to for to, one in leading.take_sent() if isinstance(one, Records)} == {1, 2}
    assert leading.member.takes_records


def leader(kit: StoreKit | None = None) -> tuple[RaftSeat, Life]:
    seat, life = elected(kit)
    life.member.step(1, VoteAnswer(1, True), b"", at(LONG_MS))
    for _ in range(2):
        life.member.state_saved()
        life.member.pump(at(LONG_MS))
    leading = Life(seat, life.kit.reopen(), leads=True)
    leading.member.begin(at(LONG_MS))
    return seat, leading


def test_what_was_appended_while_it_led_belongs_to_its_term() -> None:
    seat, life = leader()
    life.kit.append(draft())
    life.member.step(2, VoteAnswer(2, False), b"", at(LONG_MS + 1))
    assert seat.node.role is Role.FOLLOWER
    assert seat.node.log.end == life.log.end
    assert not life.member.takes_records


def test_a_deposed_leader_asks_for_a_life_as_follower_once_its_term_is_saved() -> None:
    _, life = leader()
    life.member.step(2, VoteAnswer(2, False), b"", at(LONG_MS + 1))
    assert life.member.next_life is None
    life.member.state_saved()
    life.member.pump(at(LONG_MS + 2))
    assert life.member.next_life is not None
    assert not life.member.next_life.leads


def test_a_command_is_refused_while_an_election_is_under_way() -> None:
    _, life = elected()
    assert "busy" in life.member.order(lambda node: "", at(LONG_MS))
    _, leading = leader()
    refusal = leading.member.order(lambda node: node.transfer(7, LONG_MS), at(LONG_MS))
    assert refusal == "node 7 is no other voter"


def nearly_full() -> StoreKit:
    """A store whose log file has no room for another record."""
    kit = StoreKit(config=SMALL_SYNC)
    while SMALL_SYNC.log_file_bytes - kit.store.end_offset > 180:
        kit.append(draft())
    kit.settle()
    return kit.reopen()


def lose_room(kit: StoreKit) -> None:
    kit.disk.capacity_bytes = kit.disk.used_bytes()


def find_room(kit: StoreKit) -> None:
    kit.disk.capacity_bytes = 1 << 40
    for _ in range(3):
        kit.clock.advance(2_000)
        kit.settle()


def test_a_member_without_room_to_begin_a_term_stands_for_none_until_there_is_room() -> None:
    kit = nearly_full()
    lose_room(kit)
    life = Life(RaftSeat(CONFIG, "g", Turns(0)), kit, leads=False)
    life.member.begin(at(0))
    life.member.pump(at(LONG_MS))
    assert life.take_sent() == []
    find_room(kit)
    life.member.pump(at(2 * LONG_MS))
    assert {type(message) for _, message in life.take_sent()} == {PreVote}


def test_nor_does_it_stand_at_the_wish_of_its_leader() -> None:
    kit = nearly_full()
    life = Life(RaftSeat(CONFIG, "g", Turns(0)), kit, leads=False)
    life.member.begin(at(0))
    end = kit.store.end_offset
    heartbeat = Records(1, end, end, 0, 0, None, 0, 0)
    life.member.step(1, heartbeat, b"", at(1))
    life.member.state_saved()
    life.member.pump(at(1))
    assert life.member.node.leader == 1
    lose_room(kit)
    life.member.step(1, TimeoutNow(1), b"", at(2))
    assert (life.member.node.term, life.member.node.role) == (1, Role.FOLLOWER)


def test_a_member_that_cannot_begin_its_term_gives_it_up_and_follows() -> None:
    kit = nearly_full()
    seat, life = elected(kit)
    life.member.step(1, VoteAnswer(1, True), b"", at(LONG_MS))
    for _ in range(2):
        life.member.state_saved()
        life.member.pump(at(LONG_MS))
    assert seat.node.role is Role.LEADER
    leading = Life(seat, kit.reopen(), leads=True)
    lose_room(kit)
    leading.member.begin(at(LONG_MS))
    assert not leading.member.takes_records
    assert len(leading.saves[-1].epochs) == 1
    leading.member.state_saved()
    leading.member.pump(at(LONG_MS))
    wanted = leading.member.next_life
    assert wanted is not None
    assert not wanted.leads
    assert not any(isinstance(message, Records) for _, message in leading.take_sent())
