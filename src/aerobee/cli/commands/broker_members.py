"""`aerobee broker members`: shows the members of a Raft group, adds, removes and replaces them.

A member is written as in `dLegerPeers`: n3-10.0.0.4:40911, or n3 where the group knows it.
"""

import argparse
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

from aerobee.cli.cluster_verbs import (
    Verbs,
    add_care,
    add_verb,
    add_watch,
    agrees,
    asked,
    say,
    show,
)
from aerobee.cli.command_parser import HelpLayout, mean_silently
from aerobee.cli.examples import laid_out
from aerobee.cli.output import FAILED, OK, Record, Whole, WrongUse
from aerobee.cli.progress import Progress
from aerobee.model.replica_status import UNKNOWN

if TYPE_CHECKING:
    from aerobee.client.admin.admin import Admin
    from aerobee.model.replica_status import GroupMembers

EXAMPLES = """\
  aerobee broker members broker-a                 who belongs to a Raft group, and how far each is
  aerobee broker members add broker-a n3-10.0.0.4:40911     once it has copied the log, it votes
  aerobee broker members remove broker-a n1       one that is gone, or is to go
  aerobee broker members replace broker-a n1 n3-10.0.0.4:40911
"""


class NewMember(NamedTuple):
    """A member that is to join."""

    node: int
    address: str


def add_members(verbs: Verbs) -> None:
    text = "who belongs to a Raft group; add, remove, replace"
    members = verbs.add_parser(
        "members",
        help=text,
        description=text,
        epilog=f"examples:\n{laid_out(EXAMPLES)}",
        formatter_class=HelpLayout,
    )
    mean_silently(members, "list")
    below = members.add_subparsers(title="verbs", metavar="VERB", required=True)
    listing = add_verb(below, "list", "who belongs to it (the word may be left out)", show_members)
    adding = add_verb(below, "add", "have a broker join that was started with raftJoin", add)
    removing = add_verb(below, "remove", "have a member leave", remove)
    replacing = add_verb(below, "replace", "add a member, then remove another", replace)
    for parser in (listing, adding, removing, replacing):
        parser.add_argument("broker", help="the name of its brokers")
    add_watch(listing)
    removing.add_argument("member", metavar="MEMBER", type=_node, help="n1")
    replacing.add_argument("old", metavar="OLD", type=_node, help="n1")
    for parser in (adding, replacing):
        parser.add_argument("new", metavar="NEW", type=read_new, help="n3-10.0.0.4:40911")
    for parser in (removing, replacing):
        add_care(parser)


def _node(text: str) -> int:
    from aerobee.replication.group_config import NOT_GIVEN, NodeId

    try:
        node = NodeId().read(text)
    except ValueError:
        node = NOT_GIVEN
    if node == NOT_GIVEN:
        raise argparse.ArgumentTypeError(f"{text!r} is no member: say its name, such as n1")
    return node


def read_new(text: str) -> NewMember:
    """Return a member as it is written on a command line."""
    from aerobee.replication.group_config import PeersKind

    try:
        (peer,) = PeersKind().read(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no new member: say its name and where members reach it, such as"
            " n3-10.0.0.4:40911"
        ) from None
    return NewMember(peer.node, peer.address)


def show_members(parsed: argparse.Namespace) -> int:
    async def ask(admin: "Admin") -> list[Record]:
        return member_records(await admin.replicas.raft.members(parsed.broker))

    return show(parsed, ask, empty="it has no members")


def member_records(group: "GroupMembers") -> list[Record]:
    """Return a record for each member of a group."""
    found: list[Record] = []
    for one in group.members:
        role = "voter" if one.is_voter else "learner"
        found.append(
            {
                "member": one.name,
                "address": Whole(one.address),
                "broker": Whole(one.broker) if one.broker else None,
                "role": "leader" if one.node == group.leader else role,
                "term": group.term,
                "lag_bytes": None if one.lag_bytes == UNKNOWN else one.lag_bytes,
                "answers": one.is_answering,
                "why": one.why or None,
            }
        )
    return found


def add(parsed: argparse.Namespace) -> int:
    new: NewMember = parsed.new
    with _Copying(new.node) as told:
        group = asked(
            parsed, lambda admin: admin.replicas.raft.add(parsed.broker, *new, told=told.look)
        )
    say(parsed, f"n{new.node} is a member of {parsed.broker} now; {_voters(group)}")
    return OK


def remove(parsed: argparse.Namespace) -> int:
    node: int = parsed.member
    group = asked(parsed, lambda admin: admin.replicas.raft.members(parsed.broker))
    effect = f"remove n{node} from {parsed.broker}, {_left(group, node)}"
    if parsed.dry_run:
        say(parsed, f"would {effect}", name="would")
        return OK
    if not agrees(parsed, effect):
        return FAILED
    with _Copying(node) as told:
        group = asked(
            parsed, lambda admin: admin.replicas.raft.remove(parsed.broker, node, told=told.look)
        )
    say(
        parsed,
        f"n{node} is no member of {parsed.broker} any more, stop it if it runs; {_voters(group)}",
    )
    return OK


def replace(parsed: argparse.Namespace) -> int:
    old: int = parsed.old
    new: NewMember = parsed.new
    if old == new.node:
        raise WrongUse(
            f"n{old} cannot replace itself",
            hint=f"a member without its old store needs a number of its own: n{old + 1}-…",
        )
    group = asked(parsed, lambda admin: admin.replicas.raft.members(parsed.broker))
    effect = f"add n{new.node} at {new.address} to {parsed.broker}, and remove n{old} after that"
    if parsed.dry_run:
        say(parsed, f"would {effect}", name="would")
        return OK
    if not agrees(parsed, effect):
        return FAILED
    with _Copying(new.node) as told:
        group = asked(
            parsed,
            lambda admin: admin.replicas.raft.replace(parsed.broker, old, *new, told=told.look),
        )
    say(
        parsed,
        f"n{new.node} is a member of {parsed.broker} in the place of n{old}, stop that one if it"
        f" runs; {_voters(group)}",
    )
    return OK


def _voters(group: "GroupMembers") -> str:
    names = [one.name for one in group.members if one.is_voter]
    quorum = len(names) // 2 + 1
    return f"{', '.join(names)} vote, {quorum} of {len(names)} must have a message"


def _left(group: "GroupMembers", node: int) -> str:
    left = [one.name for one in group.members if one.is_voter and one.node != node]
    return f"of which {', '.join(left) or 'nobody'} would be left to vote"


class _Copying:
    """Shows how far a new member is, if it takes its time."""

    def __init__(self, node: int) -> None:
        self._node = node
        self._progress = Progress(f"n{node} copies bytes")
        self._least: int | None = None

    def look(self, group: "GroupMembers") -> None:
        mine = group.find(self._node)
        if mine is None or mine.is_voter:
            self._progress.say("waiting for a majority")
        elif not mine.is_answering:
            self._progress.say(f"waiting for {mine.name}: {mine.why}")
        elif mine.lag_bytes != UNKNOWN:
            if self._least is None:
                self._progress.total = self._least = mine.lag_bytes
            copied = max(0, self._least - mine.lag_bytes)
            self._least -= copied
            self._progress.step(copied)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.__exit__(kind, error, trace)
