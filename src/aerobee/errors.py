"""Every error this package raises on purpose, by whose fault it is.

    AerobeeError
    ├── ProtocolError            the bytes or their order are wrong
    │   ├── LocalProtocolError       our caller's mistake: fix the call
    │   │   └── PropertiesTooLong        more properties than a record has room for
    │   └── RemoteProtocolError      the peer's mistake: close the connection
    ├── StorageError
    │   ├── CorruptRecord            damage at a named place; nothing was changed
    │   ├── CorruptFile              a whole file that cannot be believed
    │   ├── RawRecordRefused         bytes of another log that do not belong into this one
    │   ├── MessageIllegal           this message cannot be stored as it is
    │   │   └── MessageTooLarge          because some part of it is too large
    │   ├── StoreLocked              another process has this directory
    │   └── NothingTaken             the store takes no message now, whichever it is
    │       ├── StoreBusy                the disk is behind; a later try may work
    │       ├── DiskFull                 sends are refused, pulls go on
    │       └── DiskFailed               a sync failed: this process writes no more
    ├── RemoteAnswer             the other side said no
    │   ├── Retriable                another broker or a later try may work
    │   └── Refused                  it will not
    ├── NoAnswer                 the other side said nothing
    │   ├── Unreachable              no connection to an address: nothing was sent
    │   ├── ConnectionLost           it ended before the answer came
    │   └── RequestTimeout           no answer in time
    ├── TopicNotFound            no broker has the topic, and none may create it
    ├── PartlyDone               several were asked, and some of them failed
    ├── SendFailed               a message that was not acknowledged, and what is known of it
    ├── ProducerFull             too much waits to be sent: drain, or wait for room
    ├── RaftBroken               a promise that Raft rests on was not kept: stop, and look
    └── Misuse                   wrong arguments, closed store: a bug in the application
        └── NotFound                 nothing has the name that was given

A status that is a normal outcome (queue empty, offset too small) is a return value, not an error.
"""

from collections.abc import Mapping, Sequence
from enum import Enum


class AerobeeError(Exception):
    """An error with, where there is one, a hint that says what to do next."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(f"{message} ({hint})" if hint else message)
        self.message = message
        self.hint = hint


class ProtocolError(AerobeeError):
    """The bytes or their order are wrong."""


class LocalProtocolError(ProtocolError):
    """Our caller asked for bytes that the protocol does not allow."""


class PropertiesTooLong(LocalProtocolError):
    """The properties of a message, with what a broker adds, are more than a record has room for."""


class RemoteProtocolError(ProtocolError):
    """The peer sent bytes that the protocol does not allow: close its connection."""


class StorageError(AerobeeError):
    """Something about the store or its disk."""


class CorruptRecord(StorageError):
    """A record that cannot be believed, at a named place. Nothing was changed."""

    def __init__(
        self, reason: str, *, path: str, position: int, log_offset: int, hint: str = ""
    ) -> None:
        super().__init__(
            f"{reason} in {path} at byte {position} (log offset {log_offset})", hint=hint
        )
        self.reason = reason
        self.path = path
        self.position = position
        self.log_offset = log_offset


class CorruptFile(StorageError):
    """A file of the store whose content as a whole cannot be believed."""

    def __init__(self, reason: str, *, path: str, hint: str = "") -> None:
        super().__init__(f"{reason}: {path}", hint=hint)
        self.reason = reason
        self.path = path


class RawRecordRefused(StorageError):
    """Bytes of another broker's log are no sound record of the place that they are meant for, and
    were not written. Whole records before them were."""

    def __init__(self, finding: str, *, offset: int, hint: str = "") -> None:
        super().__init__(f"found {finding} at log offset {offset}", hint=hint)
        self.finding = finding
        self.offset = offset


class MessageIllegal(StorageError):
    """This message cannot be stored as it is. Nothing was appended."""


class MessageTooLarge(MessageIllegal):
    """The properties, or the whole record, are larger than may be stored. Nothing was appended."""


class StoreLocked(StorageError):
    """Another process has this store directory open."""


class NothingTaken(StorageError):
    """The store takes no message now, whichever it is: nothing was appended."""


class StoreBusy(NothingTaken):
    """The disk is behind: nothing was appended, a later try may work."""


class DiskFull(NothingTaken):
    """Too little room on the disk: nothing was appended."""


class DiskFailed(NothingTaken):
    """A sync failed. The store takes no more writes for the life of this process."""


class RemoteAnswer(AerobeeError):
    """The other side answered with a code that is no success."""

    def __init__(self, message: str, *, code: int, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code


class Retriable(RemoteAnswer):
    """Another broker, or a later try, may work."""


class Refused(RemoteAnswer):
    """The same request will be refused again."""


class NoAnswer(AerobeeError):
    """The other side said nothing: what it did is not known unless nothing was sent."""

    def __init__(self, message: str, *, address: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.address = address


class Unreachable(NoAnswer):
    """No connection to an address. Nothing was sent."""


class ConnectionLost(NoAnswer):
    """The connection ended before the answer came."""


class RequestTimeout(NoAnswer):
    """The answer did not come in time."""


class TopicNotFound(AerobeeError):
    """No broker has the topic."""

    def __init__(self, message: str, *, topic: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.topic = topic


class PartlyDone(AerobeeError):
    """Several servers were asked, and some failed: by name, what the others did, and the errors."""

    def __init__(
        self, *, done: Mapping[str, object], failed: Mapping[str, "AerobeeError"], hint: str = ""
    ) -> None:
        reasons = "; ".join(f"{name}: {error.message}" for name, error in failed.items())
        count = len(done) + len(failed)
        super().__init__(f"{len(failed)} of {count} failed: {reasons}", hint=hint)
        self.done = done
        self.failed = failed


class Stored(Enum):
    """What a producer may believe of a message whose send failed."""

    NO = "not stored"
    UNKNOWN = "unknown"
    """It may be in a log: a retry may make a second one."""


class SendFailed(AerobeeError):
    """A message was not acknowledged. `attempts` says what each try came to, in order."""

    def __init__(
        self, message: str, *, stored: Stored, attempts: Sequence[str] = (), hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.stored = stored
        self.attempts = tuple(attempts)


class ProducerFull(AerobeeError):
    """A producer has been handed more than it may hold. The message was not taken."""


class RaftBroken(AerobeeError):
    """A promise that Raft rests on was not kept, by a disk, a node or this code: the node stops,
    because going on could lose what was acknowledged."""


class Misuse(AerobeeError):
    """Wrong arguments, or a call on something closed: a bug in the application."""


class NotFound(Misuse):
    """Nothing has the name that was given: no broker, no group, no message."""
