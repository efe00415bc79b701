"""Stories of members: learners, changes that overlap, nodes that were removed.

Each is a function that raises if a law is broken (`stories`).
"""

from aerobee.raft.membership import AddLearner, Promote, Remove
from aerobee.raft.messages import (
    PreVoteAnswer,
    Records,
    VoteAnswer,
)
from tests.raft_sim.disk_log import NO_RECORDS
from tests.raft_sim.stage import TIMEOUT_MS, Stage


def learners_do_not_count() -> None:
    """A record on the disks of learners is not committed by them."""
    stage = Stage(2, learners=[3, 4])
    stage.elect(1)
    stage.submit(1)
    stage.settle(without={2})
    assert stage.end(3) == stage.end(4) == stage.end(1)
    assert stage.commit(1) < stage.end(1)
    stage.elect(3)
    assert not stage.leads(3)


def one_change_at_a_time() -> None:
    """The next change of members waits for the last; and the first for the leader's own term."""
    stage = Stage(3, spares=[4, 5])
    stage.advance(2 * TIMEOUT_MS)
    stage.tick(1)
    stage.settle(held=(Records,))
    assert stage.leads(1)
    assert stage.change(1, AddLearner(4, "")) != ""  # nothing of its term is committed
    stage.settle()
    assert stage.change(1, AddLearner(4, "")) == ""
    assert stage.change(1, AddLearner(5, "")) != ""
    stage.settle()
    assert stage.change(1, AddLearner(5, "")) == ""
    stage.settle()


def changes_of_two_leaders() -> None:
    """A leader changes members only from those that are committed in its own term: otherwise two
    majorities of two changes need not meet."""
    stage = Stage(4, spares=[5])
    stage.elect(1)
    stage.settle()
    assert stage.change(1, AddLearner(5, "")) == ""
    stage.settle()
    assert stage.change(1, Promote(5)) == ""
    stage.settle(without={2, 3, 4})  # on 1 and 5
    stage.kill(1)
    stage.elect(2, {1, 5}, held=(Records,))
    assert stage.leads(2)
    # With {1,2,3,4} in its log: removing 1 makes a majority of {2,3}, and {1,4,5} is one, too.
    assert stage.change(2, Remove(1)) != ""


def removed_leader() -> None:
    """A leader that was removed leads until the change is committed, and then no more."""
    stage = Stage(3)
    stage.elect(1)
    stage.settle()
    assert stage.change(1, Remove(1)) == ""
    assert stage.leads(1)
    stage.settle()
    assert not stage.leads(1)
    stage.elect(1)
    assert not stage.leads(1)
    stage.elect(2)
    assert stage.leads(2)


def removal_on_the_removed_alone() -> None:
    """The record that removes a leader is on its own disk alone: then nobody else can be elected,
    and it must lead once more to be gone."""
    stage = Stage(2)
    stage.elect(2)
    assert stage.change(2, Remove(2)) == ""
    stage.letters.clear()
    stage.kill(2)
    stage.start(2)
    stage.elect(2, held=(Records,))  # it leads again, and the start of its term is with it alone
    assert stage.leads(2)
    stage.letters.clear()
    stage.kill(2)
    stage.start(2)
    stage.elect(1)
    assert not stage.leads(1)
    stage.elect(2)
    assert not stage.leads(2)  # it has led, committed its own removal, and left
    stage.elect(1)
    assert stage.leads(1)
    stage.submit(1)
    assert stage.commit(1) == stage.end(1)


def three_one_three() -> None:
    """A group shrinks to one node and grows again, and loses nothing."""
    stage = Stage(3)
    stage.elect(1)
    for node in (3, 2):
        stage.submit(1)
        stage.settle()
        assert stage.change(1, Remove(node)) == ""
        stage.settle()
    stage.submit(1, 3)
    assert stage.commit(1) == stage.end(1)
    for node in (2, 3):
        assert stage.change(1, AddLearner(node, "")) == ""
        stage.beat(1)
        assert stage.change(1, Promote(node)) == ""
        stage.beat(1)
    stage.kill(1)
    stage.elect(2)
    assert stage.leads(2)
    stage.submit(2)
    stage.settle()
    assert stage.commit(2) == stage.end(2)


def learner_votes() -> None:
    """Votes of learners elect nobody."""
    stage = Stage(3, learners=[4, 5])
    stage.elect(1)
    stage.settle()
    stage.kill(1)
    stage.elect(2, without={3})
    assert not stage.leads(2)
    stage.hosts[2].deliver(4, PreVoteAnswer(stage.term(2) + 1, True), NO_RECORDS)
    stage.hosts[2].deliver(4, VoteAnswer(stage.term(2), True), NO_RECORDS)
    assert not stage.leads(2)


def learner_candidate() -> None:
    """A learner never stands for election, however long there is no leader."""
    stage = Stage(3, learners=[4])
    stage.elect(1)
    stage.advance(TIMEOUT_MS)
    stage.tick(1)
    assert not stage.leads(1)
    stage.elect(4)
    assert stage.term(4) == 1
    stage.elect(2)
    assert stage.leads(2)
