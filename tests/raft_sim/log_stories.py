"""Stories of logs: records that are not committed, tails that are cut, messages that come twice.

Each is a function that raises if a law is broken (`stories`).
"""

from aerobee.raft.membership import AddLearner
from aerobee.raft.messages import (
    Diverging,
    Records,
    Reset,
)
from tests.raft_sim.stage import TIMEOUT_MS, Letter, Stage


def figure_eight() -> None:
    """A record of an old term that is on a majority may still be overwritten, so it is not
    committed by its count (Figure 8 of the Raft paper)."""
    stage = Stage(5)
    stage.elect(1)
    stage.submit(1)
    stage.settle(without={3, 4, 5})  # (a) a record of term 1, on 1 and 2
    stage.kill(1)
    stage.elect(5, {1, 2}, held=(Records,))  # (b) 5 leads; its first record stays with it
    assert stage.leads(5)
    stage.letters.clear()
    stage.kill(5)
    stage.start(1)
    stage.elect(1, {4, 5}, held=(Records,))  # (c) 1 leads again, with 2 and 3
    assert stage.leads(1)
    _deliver_old_records(stage, 1, without={4, 5})
    assert stage.hosts[3].log.values == stage.hosts[1].log.values[:-1]
    stage.kill(1)
    stage.start(5)
    stage.elect(5, {1})  # (d) 5 leads, and overwrites it
    assert stage.leads(5)


def _deliver_old_records(stage: Stage, leader: int, without: set[int]) -> None:
    """Deliver everything but records of the leader's own term, and so heartbeats that have it."""
    own_start = stage.hosts[leader].core.log.epochs.last_start

    def is_new(letter: Letter) -> bool:
        message = letter.message
        return isinstance(message, Records) and message.start < message.end > own_start

    stage.settle(without, is_lost=is_new)


def lagging_candidate() -> None:
    """A node whose log lacks committed records is not elected, however early it stands up."""
    stage = Stage(3)
    stage.elect(1)
    stage.submit(1, 3)
    stage.settle(without={3})
    assert stage.commit(1) == stage.end(1)
    stage.kill(1)
    stage.elect(3)
    assert not stage.leads(3)
    stage.elect(2)
    assert stage.leads(2)
    stage.beat(2)
    assert stage.end(3) == stage.end(2)


def lagging_candidate_of_a_late_term() -> None:
    """A long log of an early term loses against a shorter one of a later term."""
    stage = Stage(3)
    stage.elect(1)
    stage.submit(1, 9)
    stage.letters.clear()  # on node 1 alone
    stage.kill(1)
    stage.elect(2)
    stage.submit(2)
    stage.settle()
    stage.start(1)
    stage.kill(2)
    stage.elect(1)
    assert not stage.leads(1)
    stage.elect(3)
    assert stage.leads(3)
    stage.beat(3)
    assert stage.hosts[1].log.values == stage.hosts[3].log.values


def doubled_old_records() -> None:
    """Records that come a second time, late, change nothing."""
    stage = Stage(3)
    stage.elect(1)
    stage.submit(1)
    old = stage.take(Records)
    for letter in old:
        stage.pass_on(letter)
    stage.settle()
    stage.submit(1, 2)
    stage.settle()
    before = list(stage.hosts[2].log.values)
    for letter in old:
        stage.pass_on(letter)
    stage.settle()
    assert stage.hosts[2].log.values == before


def doubled_divergence() -> None:
    """An answer to a fetch of an earlier log does not cut the log of now."""
    stage = Stage(3)
    stage.elect(1)
    stage.submit(1, 2)
    stage.letters.clear()
    stage.elect(2, without={1})  # 1 has a tail that nobody else has
    stage.submit(2)
    stage.settle(without={1})
    stage.advance(200)
    stage.tick(2)
    old = stage.settle_and_find(Diverging)
    assert stage.end(1) == stage.end(2)
    stage.submit(2)
    stage.settle()
    stage.pass_on(old)
    stage.settle()
    assert stage.end(1) == stage.end(2)


def power_cut_of_followers() -> None:
    """Records that followers have in memory only are not committed: a power cut of both, and a
    leader that is cut off, lose nothing that was acknowledged."""
    stage = Stage(3)
    stage.elect(1)
    stage.slow_disks = {2, 3}
    stage.submit(1, 2)
    stage.settle()
    stage.beat(1)
    assert stage.commit(1) < stage.end(1)
    stage.slow_disks = set()
    stage.power_cut(2)
    stage.power_cut(3)
    stage.start(2)
    stage.start(3)
    stage.elect(2, without={1})
    stage.submit(2)
    stage.settle(without={1})
    assert stage.commit(2) == stage.end(2)


def unsynced_leader() -> None:
    """The leader's own copy counts when it is on its disk, not before."""
    stage = Stage(3)
    stage.elect(1)
    stage.slow_disks = {1}
    stage.submit(1)
    stage.settle(without={2, 3})
    assert stage.commit(1) < stage.end(1)
    stage.slow_disks = {1, 3}
    stage.beat(1, without={3})
    assert stage.commit(1) < stage.end(1)


def begin_behind_retention() -> None:
    """A follower whose next record retention has removed begins anew, where the leader's log does,
    and the answer that said so does nothing when it comes again."""
    stage = Stage(3)
    stage.elect(1)
    stage.submit(1, 4)
    stage.settle(without={3})
    host = stage.hosts[1]
    stage.forget(1, host.log.ends[2])
    stage.advance(200)
    stage.tick(1)
    old = stage.settle_and_find(Reset)
    assert stage.end(3) == stage.end(1)
    assert stage.hosts[3].log.start == host.log.start
    stage.submit(1)
    stage.settle()
    stage.pass_on(old)
    stage.settle()
    assert stage.end(3) == stage.end(1)


def restart_behind_a_reset() -> None:
    """A node that began anew has the epochs of its new log on its disk before it goes on."""
    stage = Stage(3)
    stage.elect(1)
    stage.submit(1)
    stage.settle(without={3})
    stage.advance(TIMEOUT_MS)
    stage.tick(1)
    stage.elect(2, {3})
    stage.submit(2, 4)
    stage.settle(without={3})
    stage.forget(2, stage.hosts[2].log.ends[-2])
    stage.advance(200)
    stage.tick(2)
    stage.settle_and_find(Reset)
    stage.kill(3)
    stage.start(3)
    stage.beat(2)
    assert stage.end(3) == stage.end(2)


def logs_of_equal_length() -> None:
    """A log that ends at the same offset as the leader's is not taken for the same."""
    stage = Stage(3)
    stage.elect(1)
    stage.record_bytes = 20
    stage.submit(1, 2)
    stage.letters.clear()
    stage.record_bytes = 30
    stage.elect(2, {1})
    stage.submit(2)
    stage.settle(without={1})
    assert stage.end(2) == stage.end(1)
    stage.beat(2)
    assert stage.hosts[1].log.values == stage.hosts[2].log.values


def epochs_of_lost_records() -> None:
    """An epoch that was saved for a record which a power cut took is gone before other records take
    its place."""
    stage = Stage(5)
    stage.elect(1)
    stage.submit(1, 2)
    stage.settle(without={3, 4, 5})  # of term 1, on 1 and 2
    stage.kill(1)
    stage.slow_disks = {3}
    stage.elect(3, {1, 2}, held=(Records,))
    assert stage.leads(3)
    stage.letters.clear()
    stage.power_cut(3)  # its disk has the epoch of its term, and not the record
    stage.slow_disks = set()
    stage.start(3)
    stage.start(1)
    stage.elect(1, {4, 5}, held=(Records,))
    assert stage.leads(1)
    _deliver_old_records(stage, 1, without={4, 5})
    assert stage.hosts[3].log.values == stage.hosts[1].log.values[:-1]
    stage.kill(3)
    stage.start(3)
    stage.beat(1)
    assert stage.end(3) == stage.end(1)


def commit_is_told_at_once() -> None:
    """Followers hear of a commit without waiting for the next heartbeat."""
    stage = Stage(3)
    stage.elect(1)
    stage.submit(1)
    stage.settle()
    assert stage.commit(2) == stage.commit(3) == stage.end(1)


def lost_records_are_sent_again() -> None:
    """A follower that misses a message asks for what it lacks."""
    stage = Stage(3)
    stage.elect(1)
    stage.submit(1)
    stage.take(Records, to={2})
    stage.settle()
    stage.submit(1)
    stage.settle()
    stage.beat(1)
    stage.beat(1)
    assert stage.end(2) == stage.end(1)
    assert stage.commit(2) == stage.end(1)


def diverged_tails_are_cut() -> None:
    """Tails of two deposed leaders are cut where the logs part, and not before."""
    stage = Stage(3)
    stage.elect(1)
    stage.submit(1, 2)
    stage.settle()
    common = stage.end(1)
    stage.submit(1, 3)
    stage.letters.clear()
    stage.elect(2, without={1})
    stage.submit(2)
    stage.settle(without={1})
    stage.submit(2, 2)
    stage.letters.clear()
    stage.kill(2)
    stage.elect(3)
    stage.start(2)
    stage.beat(3)
    stage.beat(3)
    assert stage.hosts[1].log.values == stage.hosts[2].log.values == stage.hosts[3].log.values
    assert stage.end(3) > common


def follower_without_room() -> None:
    """It appends nothing, answers its leader all the same, and catches up when there is room."""
    stage = Stage(3)
    stage.elect(1)
    stage.settle()
    before = stage.end(3)
    stage.kill(2)
    stage.hold(3, is_full=True)
    for _ in range(20):
        stage.submit(1)
        stage.beat(1)
        assert stage.leads(1)  # by the answers of the one without room
    assert (stage.end(3), stage.term(3)) == (before, stage.term(1))
    assert stage.commit(1) < stage.end(1)
    stage.hold(3, is_full=False)
    stage.beat(1)
    assert stage.end(3) == stage.end(1) == stage.commit(1)


def term_without_room() -> None:
    """A node that is elected and cannot append its first record gives up the term; the next leader
    has its place in the log."""
    stage = Stage(3)
    stage.elect(1)
    stage.settle()
    end = stage.end(2)
    stage.kill(1)
    stage.full_disks = {2}
    stage.advance(2 * TIMEOUT_MS)
    stage.tick(2)
    stage.settle()
    assert not stage.leads(2)
    assert (stage.term(2), stage.end(2)) == (2, end)
    assert stage.hosts[2].saved.epochs[-1].term == 1
    stage.elect(3)
    stage.beat(3)
    assert stage.leads(3)
    assert stage.end(2) == stage.end(3) == stage.commit(2) > end


def change_without_room() -> None:
    """A leader that cannot append a change of members leads no more, and nothing has changed."""
    stage = Stage(3, spares=(4,))
    stage.elect(1)
    stage.beat(1)
    stage.full_disks = {1}
    assert stage.change(1, AddLearner(4, "")) == ""
    assert not stage.leads(1)
    assert sorted(stage.hosts[1].core.members.nodes) == [1, 2, 3]
    stage.full_disks.clear()
    stage.elect(2)
    stage.beat(2)
    stage.beat(2)
    assert stage.end(1) == stage.end(2) == stage.commit(1)


def barred_candidate() -> None:
    """A node without room to begin a term stands for no election, nor at the wish of its leader,
    until there is room."""
    stage = Stage(3)
    stage.elect(1)
    stage.beat(1)
    stage.bar(2, is_barred=True)
    assert stage.transfer(1, 2) == ""
    stage.settle()
    stage.advance(2 * TIMEOUT_MS)
    stage.tick(1)
    assert (stage.term(2), stage.leads(2)) == (1, False)
    stage.kill(1)
    stage.elect(2)
    assert (stage.term(2), stage.leads(2)) == (1, False)
    stage.bar(2, is_barred=False)
    stage.elect(2)
    assert stage.leads(2)
