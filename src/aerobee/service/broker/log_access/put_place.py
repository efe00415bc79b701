"""PutPlace: the log into which the broker puts messages of its own: delayed and timed ones that are
due, ended transactions, popped messages that come back.

A master puts them into its own log (`LocalLog`). A slave that acts as master has another broker
store them (`replication.acting.escaped_puts`). Features see no difference: a put is refused, or it
has an end offset, and their progress is saved when that offset is lasting.
"""

from collections.abc import Callable
from typing import Protocol, TypeAlias

from aerobee.storage.appender import Appender
from aerobee.storage.store import Store

Safe: TypeAlias = Callable[[bool], None]
"""Called with True when the bytes are as safe as the mode promises, False on disk failure."""


class PutPlace(Protocol):
    @property
    def appender(self) -> Appender:
        """Takes drafts. NothingTaken: not now, whichever it is."""

    @property
    def is_own(self) -> bool:
        """Whether it is this broker's own log, so that a start finds what was put."""

    @property
    def end_offset(self) -> int:
        """The end of the last put."""

    @property
    def lasting_offset(self) -> int:
        """Nothing takes puts back that end at or before this."""

    def when_safe(self, end_offset: int, then: Safe) -> None:
        """Call `then` once everything that was put up to here may be acknowledged, however long
        that takes."""


class LocalLog:
    def __init__(self, store: Store) -> None:
        self._store = store
        self.appender: Appender = store.appender
        self.is_own = True

    @property
    def end_offset(self) -> int:
        return self._store.end_offset

    @property
    def lasting_offset(self) -> int:
        return self._store.confirmation.lasting_offset

    def when_safe(self, end_offset: int, then: Safe) -> None:
        confirmation = self._store.confirmation
        if confirmation.is_later:
            confirmation.wait_confirmed(end_offset, then)
        else:
            then(True)
