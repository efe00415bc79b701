"""`SpillRules` decides which failed sends are kept in the spill file, for how long, and when to
retry.

    no broker answered, nothing sent     kept
    a broker is busy, or going away      kept
    an answer was lost                   kept, unless told otherwise: it may be stored already, and
                                         is then stored twice
    a broker refused the message         never: it would refuse it again
    no broker has the topic              never: that is a mistake, not an outage
"""

from dataclasses import dataclass

from aerobee.errors import Misuse, NoAnswer, RemoteAnswer, SendFailed, Stored
from aerobee.model.properties import TIMER_DELAY_MS, TIMER_DELIVER_MS
from aerobee.protocol.response_codes import ResponseCode

MAX_BYTES = 256 << 20
_OUTAGES = frozenset(
    {
        ResponseCode.SYSTEM_ERROR,
        ResponseCode.SYSTEM_BUSY,
        ResponseCode.SERVICE_NOT_AVAILABLE,
        ResponseCode.FLOW_CONTROL,
        ResponseCode.GO_AWAY,
    }
)
PAUSE_SECONDS = 0.2
PAUSE_SECONDS_MAX = 10.0


@dataclass(frozen=True, slots=True)
class SpillRules:
    max_bytes: int = MAX_BYTES
    """Of bodies and properties. What is more is refused, with the failure of its send."""
    expire_ms: int | None = None
    """What waited longer is dropped, and counted; None: nothing is."""
    keeps_unknown: bool = True
    """Whether a message that may be stored already is kept and sent again."""

    def __post_init__(self) -> None:
        if self.max_bytes <= 0 or (self.expire_ms is not None and self.expire_ms <= 0):
            raise Misuse("a limit of a spill must be more than nothing")

    def takes(self, failure: SendFailed) -> bool:
        """Whether a failed send is to be kept."""
        cause = failure.__cause__
        is_outage = isinstance(cause, NoAnswer) or (
            isinstance(cause, RemoteAnswer) and cause.code in _OUTAGES
        )
        return is_outage and (failure.stored is Stored.NO or self.keeps_unknown)

    def is_expired(self, kept_ms: int, now_ms: int) -> bool:
        return self.expire_ms is not None and now_ms - kept_ms > self.expire_ms


def kept_properties(properties: dict[str, str], wall_ms: int) -> dict[str, str]:
    """Properties for a later send: a delay counts from now, not from when a broker gets the
    message.
    """
    if TIMER_DELAY_MS not in properties:
        return properties
    kept = {name: text for name, text in properties.items() if name != TIMER_DELAY_MS}
    kept[TIMER_DELIVER_MS] = str(wall_ms + int(properties[TIMER_DELAY_MS]))
    return kept


def pause_seconds(failures: int) -> float:
    """The seconds to wait after so many failures in a row."""
    return float(min(PAUSE_SECONDS * 2 ** min(failures - 1, 16), PAUSE_SECONDS_MAX))
