"""Conversions of a store between a single broker and a Raft group: what is to be done, the reasons
against it, and doing it.

    single ─▶ group      the store begins a group of one; others join with `members add`
    group  ─▶ single     the only voter of a group is a single broker from now on
    group  ─▶ group      a survivor: the other members are gone for good, it goes on alone

V1. A store whose last broker did not stop in order is not converted: its log may end elsewhere.
V2. Nobody leaves a group in which another member votes, and no survivor goes on beside one that
    answers: both logs would grow, and one of them would be lost.
V3. Terms never go back: a member that returns from an earlier time cannot win against the new
    group.
"""

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from aerobee.app.conversion.store_facts import StoreFacts
from aerobee.errors import AerobeeError
from aerobee.raft.epochs import EpochTable
from aerobee.raft.membership import Member, Members
from aerobee.raft.saved_state import SavedState, first_state
from aerobee.raft.state_file import save_state
from aerobee.replication.raft_state import FILE, LEFT_FILE
from aerobee.system.disk import MappedDisk


class CannotConvert(AerobeeError):
    """A conversion that could lose messages, or that has nothing to do."""


class Conversion(NamedTuple):
    effect: str
    """What it does, as the end of a sentence that begins with "would"."""
    state: SavedState | None
    """The state of the member; None: of a single broker."""
    settings: Mapping[str, str]
    """What its configuration must say from then on."""
    dropped: Sequence[str]
    """Settings that must not be in it any more."""


_GROUP_KEYS = (
    "enableDLegerCommitLog",
    "dLegerGroup",
    "dLegerPeers",
    "dLegerSelfId",
    "preferredLeaderId",
    "raftJoin",
)
_SINGLE_KEYS = ("brokerRole", "brokerId", "haListenPort", "haMasterAddress", "inSyncReplicas")


def plan_group(facts: StoreFacts, node: int, address: str) -> Conversion:
    """A single broker's store begins a group of one. CannotConvert."""
    _check_stopped(facts)
    if facts.state is not None:
        raise CannotConvert(
            f"{facts.root} is the store of a member already: {_named(_members(facts.state))}",
            hint="if the other members are gone for good, --survivor has it go on alone",
        )
    members = Members((Member(node, address, True),))
    state = first_state(members, facts.log_start)
    if facts.left is not None:
        state = state._replace(term=facts.left.term)
    return Conversion(
        f"make {facts.root} the store of n{node}, the only member of a new group, with all its"
        " messages",
        state,
        _member_settings(node, address),
        _SINGLE_KEYS,
    )


def plan_survivor(
    facts: StoreFacts, node: int, address: str, answering: Sequence[str]
) -> Conversion:
    """A member goes on alone, because the others are gone. `answering`: those that are not.
    CannotConvert."""
    _check_stopped(facts)
    if facts.state is None:
        raise CannotConvert(
            f"{facts.root} is not the store of a member", hint="leave --survivor out"
        )
    members = _members(facts.state)
    if node not in members.voters:
        raise CannotConvert(
            f"n{node} does not vote in the group of this store: {_named(members)}",
            hint="--member is the number that this store has in its group",
        )
    if members.voters == {node}:
        raise CannotConvert(
            f"n{node} is the only voter of its group already", hint="start it as it is"
        )
    _check_silent(answering)
    if facts.log_end is None:
        raise CannotConvert(f"{facts.root} has no durable mark", hint="it is no store of Aerobee's")
    table = EpochTable(facts.state.epochs)
    table.cut(facts.log_end)
    alone = Members((Member(node, address, True),))
    epochs = (*table.saved()[:-1], table.saved()[-1]._replace(members=alone))
    gone = ", ".join(f"n{one}" for one in members.nodes if one != node)
    return Conversion(
        f"have n{node} go on without {gone}, which must never be started again with their stores;"
        f" messages that only they have are lost{_tail(facts)}",
        SavedState(facts.state.term + 1, None, epochs),
        _member_settings(node, address),
        _SINGLE_KEYS,
    )


def plan_single(facts: StoreFacts, answering: Sequence[str]) -> Conversion:
    """The only voter of a group becomes a single broker. CannotConvert."""
    _check_stopped(facts)
    if facts.state is None:
        raise CannotConvert(
            f"{facts.root} is not the store of a member of a group", hint="start it as it is"
        )
    members = _members(facts.state)
    if len(members.voters) != 1:
        raise CannotConvert(
            f"in the group of this store others vote, too: {_named(members)}",
            hint="remove them first while it runs (`aerobee broker members remove`); if they are"
            " gone for good, --to group --survivor has it go on alone, and start and stop it once",
        )
    _check_silent(answering)
    return Conversion(
        f"make {facts.root} the store of a single broker, with all its messages{_tail(facts)}",
        None,
        {"brokerRole": "ASYNC_MASTER", "brokerId": "0", "flushDiskType": "SYNC_FLUSH"},
        _GROUP_KEYS,
    )


def convert(facts: StoreFacts, plan: Conversion) -> None:
    """Do what was planned; the store is held meanwhile. A crash leaves one or the other."""
    disk = MappedDisk()
    path, left = (os.path.join(facts.root, name) for name in (FILE, LEFT_FILE))
    if plan.state is not None:
        save_state(disk, path, plan.state)
        return
    assert facts.state is not None
    save_state(disk, left, facts.state)
    disk.remove(path)


def others_in(facts: StoreFacts, node: int | None) -> list[str]:
    """The Raft addresses of the other members, as far as the store knows them."""
    known = facts.state or facts.left
    if known is None:
        return []
    members = _members(known)
    voter = min(members.voters, default=None) if len(members.voters) == 1 else None
    own = node if node is not None else voter
    return [one.address for one in members.listed if one.node != own]


def _members(state: SavedState) -> Members:
    return state.epochs[-1].members


def _named(members: Members) -> str:
    if not members.listed:
        return "it waits to be added to one"
    return ", ".join(
        f"n{one.node} at {one.address}" + ("" if one.is_voter else " (learner)")
        for one in members.listed
    )


def _check_stopped(facts: StoreFacts) -> None:
    if not facts.is_clean:
        raise CannotConvert(
            f"the last broker on {facts.root} did not stop in order",
            hint="start it once more as it was, and stop it with SIGTERM or Ctrl-C",
        )


def _check_silent(answering: Sequence[str]) -> None:
    if answering:
        raise CannotConvert(
            f"another member answers at {', '.join(answering)}",
            hint="two that go on by themselves would part: stop it, or use the group as it is",
        )


def _tail(facts: StoreFacts) -> str:
    """What the log has behind what a majority is known to have."""
    behind = 0 if facts.log_end is None else max(0, facts.log_end - facts.confirmed)
    if not behind:
        return ""
    return (
        f"; of the last {behind} bytes of its log it is not known whether a majority had them:"
        " they stay, and consumers see them"
    )


def _member_settings(node: int, address: str) -> dict[str, str]:
    return {
        "enableDLegerCommitLog": "true",
        "dLegerPeers": f"n{node}-{address}",
        "dLegerSelfId": f"n{node}",
    }
