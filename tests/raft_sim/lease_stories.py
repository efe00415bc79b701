"""Stories of votes, leases and transfers: leaders that are cut off, clocks that differ, promises.

Each is a function that raises if a law is broken (`stories`).
"""

from aerobee.raft.messages import (
    Fetch,
    PreVoteAnswer,
    Records,
    TimeoutNow,
    Vote,
    VoteAnswer,
)
from tests.raft_sim.disk_log import NO_RECORDS
from tests.raft_sim.stage import TIMEOUT_MS, Letter, Stage


def double_vote_after_power_cut() -> None:
    """A voter that loses power remembers its vote."""
    stage = Stage(3)
    stage.advance(2 * TIMEOUT_MS)
    stage.tick(1, 2)
    for letter in [letter for letter in stage.letters if letter.to == 3]:
        stage.letters.remove(letter)
        stage.pass_on(letter)  # 3 would vote for either
    first, second = stage.take(PreVoteAnswer)
    stage.pass_on(first)
    (vote,) = stage.take(Vote, to={3})
    stage.hosts[3].deliver(2, VoteAnswer(1, False), NO_RECORDS)  # it knows of the term before
    stage.pass_on(vote)
    stage.take(VoteAnswer)
    stage.power_cut(3)
    stage.start(3)
    stage.advance(TIMEOUT_MS)  # it votes for nobody before
    stage.pass_on(second)
    (vote,) = stage.take(Vote, to={3})
    stage.pass_on(vote)
    (answer,) = stage.take(VoteAnswer)
    assert isinstance(answer.message, VoteAnswer)
    assert not answer.message.is_granted


def end_of_a_leader() -> None:
    """The process of a leader ends, and the others notice: one of them leads long before an
    election timeout is over, and they do not split their votes."""
    stage = Stage(3)
    stage.elect(1)
    stage.submit(1)
    stage.settle()
    stage.beat(1)
    stage.kill(1)
    for node in (2, 3):
        stage.hosts[node].note_end(1)
    for _ in range(4):
        stage.advance(TIMEOUT_MS // 40)
        stage.tick(2, 3)
    stage.settle()
    assert stage.leads(2)
    assert stage.term(3) == stage.term(2) == 2


def end_of_a_follower() -> None:
    """The end of another node breaks no promise to the leader."""
    stage = Stage(3)
    stage.elect(1)
    stage.submit(1)
    stage.settle()
    stage.beat(1)
    stage.kill(3)
    stage.hosts[2].note_end(3)
    stage.advance(TIMEOUT_MS // 2)
    stage.tick(2)
    assert stage.leads(1)
    assert stage.hosts[2].core.leader == 1


def deposed_leader() -> None:
    """A leader that was cut off answers no read once another may lead."""
    stage = Stage(3)
    stage.elect(1)
    stage.submit(1)
    stage.settle()
    stage.beat(1)
    assert stage.reads(1)
    _elect_behind_back(stage, 2, cut_off=1)
    stage.reads(1)


def _elect_behind_back(stage: Stage, node: int, cut_off: int) -> None:
    """Elect a node as soon as the others allow it; the old leader does not look at its clock."""
    for _ in range(60):
        if stage.leads(node):
            break
        stage.advance(TIMEOUT_MS // 20)
        stage.tick(node)
        stage.settle(without={cut_off})
        stage.reads(cut_off)
    assert stage.leads(node)
    stage.submit(node)
    stage.settle(without={cut_off})
    assert stage.commit(node) == stage.end(node)


def slow_clock_of_a_leader() -> None:
    """Clocks that differ by the drift that is allowed do not make a lease outlive its time."""
    stage = Stage(3)
    stage.hosts[1].clock_rate = 0.9
    for node in (2, 3):
        stage.hosts[node].clock_rate = 1.1
    stage.elect(1)
    stage.submit(1)
    stage.settle()
    stage.beat(1)
    assert stage.reads(1)
    _elect_behind_back(stage, 2, cut_off=1)
    for _ in range(10):
        stage.reads(1)
        stage.advance(10)


def forgotten_promise() -> None:
    """A follower that restarts keeps the promise that it gave its leader before: no vote for an
    election timeout."""
    stage = Stage(3)
    stage.elect(1)
    stage.submit(1)
    stage.settle()
    for _ in range(6):
        stage.beat(1, without={3})  # 2 alone holds up the lease
    assert stage.reads(1)
    stage.kill(2)
    stage.start(2)
    stage.tick(3)  # it has not heard the leader for long
    stage.settle(without={1})
    if stage.leads(3):
        stage.submit(3)
        stage.settle(without={1})
    stage.reads(1)
    assert not stage.leads(3)


def vote_within_a_lease() -> None:
    """A vote in a term that the voter has heard of otherwise is refused within the lease, too."""
    stage = Stage(3)
    stage.elect(1)
    stage.submit(1)
    stage.settle()
    stage.beat(1)
    voter, candidate = stage.hosts[2], stage.hosts[3]
    voter.deliver(3, VoteAnswer(9, False), NO_RECORDS)  # there is a term 9
    vote = Vote(9, candidate.log.end, candidate.core.log.last_term, False)
    voter.deliver(3, vote, NO_RECORDS)
    (answer,) = stage.take(VoteAnswer, to={3})
    assert isinstance(answer.message, VoteAnswer)
    assert not answer.message.is_granted
    assert stage.reads(1)


def late_transfer() -> None:
    """A leader whose transfer came to nothing reads without its lease from then on: the order to
    stand for election may still arrive."""
    stage = Stage(3)
    stage.elect(1)
    stage.submit(1)
    stage.settle()
    stage.beat(1)
    assert stage.transfer(1, 2) == ""
    assert not stage.submit(1)
    (order,) = stage.take(TimeoutNow)
    for _ in range(6):
        stage.advance(200)
        stage.tick(1)
        stage.settle(held=(TimeoutNow,))
    stage.letters.clear()
    assert stage.leads(1)
    assert stage.submit(1)
    stage.settle()
    stage.beat(1)
    stage.pass_on(order)
    stage.settle(without={1})
    assert stage.leads(2)
    stage.submit(2)
    stage.settle(without={1})
    stage.reads(1)


def transfer() -> None:
    """Leadership goes to a voter that has everything, in one exchange, and appends stop before."""
    stage = Stage(3)
    stage.elect(1)
    stage.submit(1, 3)
    stage.settle(without={2})
    assert stage.transfer(1, 2) == ""
    assert not stage.take(TimeoutNow)  # it lacks records
    assert not stage.submit(1)
    stage.beat(1)
    assert stage.leads(2)
    assert not stage.leads(1)
    assert stage.submit(2)
    stage.settle()
    assert stage.commit(2) == stage.end(2)


def returning_node() -> None:
    """A node that was cut off for long does not depose the leader that all others hear."""
    stage = Stage(3)
    stage.elect(1)
    term = stage.term(1)
    for _ in range(20):
        stage.beat(1, without={3})
        stage.tick(3)
        stage.settle(without={3})
    stage.beat(1)
    stage.beat(1)
    assert stage.leads(1)
    assert stage.term(1) == stage.term(3) == term


def leader_without_majority() -> None:
    """A leader that hears no majority for an election timeout steps down."""
    stage = Stage(3)
    stage.elect(1)
    for _ in range(6):
        stage.beat(1, without={2, 3})
    assert not stage.leads(1)


def leader_that_is_not_heard() -> None:
    """A leader that hears its followers, and is not heard by them, steps down."""
    stage = Stage(3)
    stage.elect(1)
    for _ in range(6):
        stage.advance(200)
        stage.tick(1)
        stage.take((Records,))
        for node in (2, 3):
            fetch = Fetch(stage.term(node), stage.end(node), 1, stage.end(node), -1, False)
            stage.hosts[1].deliver(node, fetch, stage.hosts[node].log.chunk(0, 0))
    assert not stage.leads(1)


def stepped_down_leader_stands_again() -> None:
    """A leader that stepped down waits for an election like everybody else."""
    stage = Stage(3)
    stage.elect(1)
    for _ in range(6):
        stage.beat(1, without={2, 3})
    assert not stage.leads(1)
    stage.elect(1)
    assert stage.leads(1)


def clocks_of_different_times() -> None:
    """A leader has its lease, whatever time the clocks of the others show."""
    stage = Stage(3)
    stage.hosts[2].clock_offset = 1e6
    stage.hosts[3].clock_offset = -1e6
    stage.elect(1)
    stage.elect(1)
    stage.beat(1)
    assert stage.leads(1)
    assert stage.reads(1)


def asked_by_the_impatient() -> None:
    """A node that does not hear the leader, and asks, finds no voter among those that do."""
    stage = Stage(3)
    stage.elect(1)
    term = stage.term(1)
    for _ in range(12):
        stage.beat(1, without={3})
    stage.tick(3)
    stage.settle()
    stage.beat(1)
    assert stage.leads(1)
    assert stage.term(1) == term


def read_before_the_first_commit() -> None:
    """A new leader answers no read before something of its own term is committed: it does not know
    how much of the old terms is."""
    stage = Stage(3)
    stage.elect(1)
    told = stage.commit(1)
    stage.submit(1, 2)
    stage.settle(is_lost=lambda letter: _commit_in(letter) > told)
    assert stage.commit(2) < stage.judge.acked_end
    stage.kill(1)
    stage.slow_disks = {2, 3}
    stage.elect(2)
    assert stage.leads(2)
    stage.beat(2)
    stage.reads(2)
    stage.slow_disks = set()
    stage.submit(2)
    stage.settle()
    stage.beat(2)
    assert stage.reads(2)


def _commit_in(letter: Letter) -> int:
    return letter.message.commit if isinstance(letter.message, Records) else 0
