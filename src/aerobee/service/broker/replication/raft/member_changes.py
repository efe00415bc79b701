"""Changes of the members of a group, as a person asks a leader for them: what is meant, and the
reasons against it.

    add       a node at an address copies the log, as a learner
    promote   a learner that has nearly everything becomes a voter
    remove    a learner or a voter leaves

C1. After a change of voters a majority of them must answer: else nothing would be committed any
    more, the change itself included.
C2. A leader does not remove itself: another leads first, so that sends wait for milliseconds.

The core has the rules that keep the log safe (`raft.leader`); these keep the group at work.
"""

from ipaddress import ip_address
from typing import NamedTuple

from aerobee.protocol.headers.replication import (
    ADD_MEMBER,
    MEMBER_OPERATIONS,
    PROMOTE_MEMBER,
    ChangeMembersHeader,
)
from aerobee.raft.membership import AddLearner, Change, Promote, Remove, changed
from aerobee.raft.node import Node

NODE_MAX = 999_999
"""The largest number of a member that its name has room for."""


class ChangeRefusal(NamedTuple):
    why: str
    is_passing: bool = False
    """Whether the same change may be made a moment later."""


def read_change(header: ChangeMembersHeader) -> Change:
    """The change that a request means. ValueError: it means none."""
    if header.operation not in MEMBER_OPERATIONS:
        raise ValueError(
            f"{header.operation!r} is no change of members: say one of"
            f" {', '.join(MEMBER_OPERATIONS)}"
        )
    if not 0 <= header.node <= NODE_MAX:
        raise ValueError(f"{header.node} is no number of a member: from 0 to {NODE_MAX}")
    if header.operation == ADD_MEMBER:
        return AddLearner(header.node, header.address or "")
    if header.operation == PROMOTE_MEMBER:
        return Promote(header.node)
    return Remove(header.node)


def find_refusal(node: Node, change: Change, now_ms: int) -> ChangeRefusal | None:
    """The reason why this leader does not make a change; None: its core is to be asked."""
    members = node.members
    after = changed(members, change)
    if isinstance(after, str):
        return ChangeRefusal(after)
    if isinstance(change, AddLearner):
        why = _bad_address(node, change)
        return ChangeRefusal(why) if why else None
    if change == Remove(node.node):
        return ChangeRefusal(
            f"n{change.node} leads the group: have another member lead first, as `aerobee broker"
            " transfer` does",
            is_passing=True,
        )
    if after.voters == members.voters:
        return None
    answering = sum(is_answering(node, one, now_ms) for one in after.voters)
    if isinstance(change, Promote) and not is_answering(node, change.node, now_ms):
        return ChangeRefusal(f"n{change.node} does not answer", is_passing=True)
    if answering < after.quorum:
        return ChangeRefusal(
            f"of the {len(after.voters)} voters after it {answering} would answer, and"
            f" {after.quorum} are needed to commit anything: start the others first, or remove"
            " those that are gone for good"
        )
    return None


def is_answering(node: Node, other: int, now_ms: int) -> bool:
    """Whether this leader has heard a member within an election timeout."""
    if other == node.node:
        return True
    progress = node.leading.progress.get(other) if node.leading is not None else None
    return progress is not None and now_ms - progress.echo_ms <= node.election_timeout_ms


def _bad_address(node: Node, change: AddLearner) -> str:
    """The reason why members could not reach a new one; empty: there is none to be seen."""
    address = change.address
    host, _, port = address.rpartition(":")
    if not host or not (port.isascii() and port.isdigit()) or not 0 < int(port) < 65536:
        return f"{address!r} is no address of a member: say host:port, as in dLegerPeers"
    for other in node.members.listed:
        if other.address == address:
            return f"n{other.node} is at {address}: a new member needs an address of its own"
    if _is_any(host):
        return f"{host} is every address of a machine: say the one that other members reach"
    elsewhere = [
        one.address
        for one in node.members.listed
        if one.address and not _is_own(one.address.rpartition(":")[0])
    ]
    if _is_own(host) and elsewhere:
        return f"{host} is each machine's own address, and {elsewhere[0]} is on another one"
    return ""


def _is_any(host: str) -> bool:
    try:
        return host == "*" or ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        return False


def _is_own(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
