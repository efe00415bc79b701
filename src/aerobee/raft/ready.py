"""Ready: work that the host of a node does after each call, in the order of the fields.

    cut, reset   shorten or empty the log, durably
    save         save the state, durably, before anything below is done
    has_records  append the records of the message that was just given to `step`
    control      append a record of the leader's own, and call `appended` with the new end
    sends        send messages; with Records go the bytes of the log from `start` to `end`
    commit       everything below is committed: acknowledge and show it

Nothing else is given to the node before cut, reset, save and append are done. Syncing the log goes
on beside it, and is reported by `Node.synced`.
"""

from typing import NamedTuple

from aerobee.raft.membership import Members
from aerobee.raft.messages import Message
from aerobee.raft.saved_state import SavedState


class Control(NamedTuple):
    """The first record of an epoch, to be appended by a leader. From the log alone it says what the
    table of epochs says of its place."""

    start: int
    term: int
    members: Members


class Send(NamedTuple):
    to: int
    message: Message


class Ready(NamedTuple):
    cut: int | None
    reset: int | None
    save: SavedState | None
    has_records: bool
    control: Control | None
    sends: list[Send]
    commit: int
