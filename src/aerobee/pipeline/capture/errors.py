"""Why a capture cannot go on, by what there is to do.

CaptureError
├── Unfit              the server, its settings or our rights: somebody has to change them
├── PositionLost       the log no longer has what comes next: take a new snapshot
├── Unreadable         the log says something that is not understood: never skipped
├── TakenOver          another process captures under the same name
├── DatabaseGone       no connection, or it ended: a later try may work
└── BrokerGone         the broker that has a topic is not there: a later try may work
"""

from aerobee.errors import AerobeeError


class CaptureError(AerobeeError):
    """Something about a capture."""


class Unfit(CaptureError):
    """The server cannot be captured as it is set up."""


class PositionLost(CaptureError):
    """What comes after the position is not in the log any more."""


class Unreadable(CaptureError):
    """An event that would change rows in a way that cannot be told."""


class TakenOver(CaptureError):
    """Somebody else captures under this name, and began later."""


class DatabaseGone(CaptureError):
    """The database does not answer."""


class BrokerGone(CaptureError):
    """The broker that has the capture's topics is not there."""
