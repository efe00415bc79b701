"""Errors that end a capture, one class for each remedy.

CaptureError
├── Unfit              the server, its settings or our rights have to be changed
├── PositionLost       the log no longer has the next events: take a new snapshot
├── Unreadable         an event of the log cannot be decoded: never skipped
├── TakenOver          another process captures under the same name
├── DatabaseGone       no connection, or it ended: a later try may work
└── BrokerGone         the broker that has a topic is not there: a later try may work
"""

from aerobee.errors import AerobeeError


class CaptureError(AerobeeError):
    """Base of the errors of a capture."""


class Unfit(CaptureError):
    """The server cannot be captured as it is set up."""


class PositionLost(CaptureError):
    """The log no longer has the events after the position."""


class Unreadable(CaptureError):
    """An event changes rows in a way that cannot be decoded."""


class TakenOver(CaptureError):
    """Another process captures under this name, and started later."""


class DatabaseGone(CaptureError):
    """The database does not answer."""


class BrokerGone(CaptureError):
    """The broker that has the capture's topics is not there."""
