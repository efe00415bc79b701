"""Messages between the nodes of a Raft group.

    candidate ──PreVote──▶ voter        "would you vote for me?" changes nothing
              ◀─PreVoteAnswer──
              ──Vote─────▶              an election
              ◀─VoteAnswer────
    follower  ──Fetch────▶ leader       "my log ends here, with this term; so much is on my disk"
              ◀─Records──────           the log from there on; without records a heartbeat
              ◀─Diverging────           your last term ends earlier with me
              ◀─Reset────────           my log begins behind the end of yours
    target    ◀─TimeoutNow─── leader    stand for election at once

Messages may be lost, doubled, late and out of order. Each says enough of the state it was made for
that a node which is no longer in that state ignores it. The bytes of records are not in a message:
the core asks its host to attach them, and to append those of a message that it accepts.
"""

from typing import NamedTuple, TypeAlias

from aerobee.raft.membership import Members


class PreVote(NamedTuple):
    term: int
    """The term of the election that would follow: one above the sender's."""
    end: int
    last_term: int


class PreVoteAnswer(NamedTuple):
    term: int
    """The asked term if granted, else the voter's own."""
    is_granted: bool


class Vote(NamedTuple):
    term: int
    end: int
    last_term: int
    is_transfer: bool
    """The leader has asked for this election, and counts on no lease any more."""


class VoteAnswer(NamedTuple):
    term: int
    is_granted: bool


class Fetch(NamedTuple):
    term: int
    end: int
    """The end of the follower's log."""
    last_term: int
    """The term of the last byte before it."""
    synced: int
    """So much of it is on the follower's disk."""
    echo: int
    """The newest stamp among the messages of this leader."""
    is_rewind: bool
    """What was sent did not arrive, or did not fit: go on from `end`."""


class Records(NamedTuple):
    term: int
    start: int
    """Where the records begin in the log. Without records: where the next would."""
    end: int
    previous_term: int
    """The term of the byte before them."""
    epoch_term: int
    """Their own term: no message has records of two epochs."""
    members: Members | None
    """Given if an epoch begins with the first of them."""
    commit: int
    stamp: int
    """The time on the leader's clock, for the lease."""


class Diverging(NamedTuple):
    term: int
    end: int
    """End and last term of the fetch that this answers."""
    last_term: int
    epoch_term: int
    """The last term up to `last_term` that the leader's log has, and where it ends there."""
    epoch_end: int


class Reset(NamedTuple):
    term: int
    end: int
    """End and last term of the fetch that this answers."""
    last_term: int
    start: int
    """The begin of the leader's log; all before it is committed, and gone."""
    start_term: int
    members: Members


class TimeoutNow(NamedTuple):
    term: int


Message: TypeAlias = (
    PreVote | PreVoteAnswer | Vote | VoteAnswer | Fetch | Records | Diverging | Reset | TimeoutNow
)
