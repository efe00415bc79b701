"""TimerAcceptance decides whether a message has to wait for a delivery time, and for which tick.

    TIMER_DELAY_SEC, else TIMER_DELAY_MS, else TIMER_DELIVER_MS ──▶ TIMER_OUT_MS

A message whose time is past does not wait: it is stored in its own topic. DELAY (a level) takes
precedence over all of these; it is handled elsewhere. TIMER_OUT_MS marks a message that has waited.

RocketMQ refuses messages at random when a tick gets crowded, the more of them the fuller it is;
here a tick takes a fixed number.
"""

from collections.abc import Callable

from aerobee.errors import MessageIllegal, StorageError
from aerobee.model.flags import TransactionType
from aerobee.model.message import StoredMessage
from aerobee.model.names import TIMER_TOPIC
from aerobee.model.properties import (
    TIMER_DELAY_MS,
    TIMER_DELAY_SECONDS,
    TIMER_DELETE_UNIQUE_KEY,
    TIMER_DELIVER_MS,
    TIMER_OUT_MS,
)
from aerobee.ports.clock import Now
from aerobee.service.broker.timer.tick_scale import TickScale

TIME_NAMES = (TIMER_DELAY_SECONDS, TIMER_DELAY_MS, TIMER_DELIVER_MS)
"""In this order: the first that a message has counts."""

_SCALES = {TIMER_DELAY_SECONDS: 1000, TIMER_DELAY_MS: 1}
_DIGITS_MAX = 15  # the year 33,658
_UNSTORED = (TransactionType.PREPARED, TransactionType.ROLLBACK)


class TimerDisabled(StorageError):
    """This broker's timer is off (timerWheelEnable)."""


class TimerCrowded(StorageError):
    """The tick has as many messages as are allowed."""


class TimerAcceptance:
    def __init__(
        self,
        scale: TickScale,
        is_enabled: bool,
        delay_ms_max: Callable[[], int],
        slot_count_max: Callable[[], int],
        count_at: Callable[[int], int],
    ) -> None:
        """`count_at` returns the number of messages that wait for a tick."""
        self._scale = scale
        self._is_enabled = is_enabled
        self._delay_ms_max = delay_ms_max
        self._slot_count_max = slot_count_max
        self._count_at = count_at

    def out_ms(self, message: StoredMessage, now: Now) -> int:
        """The TIMER_OUT_MS of a message that has to wait; 0: it has not. MessageIllegal,
        TimerDisabled, TimerCrowded: it is refused."""
        properties = message.properties
        for name in TIME_NAMES:
            if name in properties:
                break
        else:
            return 0
        if (
            TIMER_OUT_MS in properties
            or message.topic == TIMER_TOPIC
            or message.transaction_type in _UNSTORED
        ):
            return 0
        self._check_enabled()
        number = _number(properties, name)
        deliver_ms = number if name == TIMER_DELIVER_MS else now.wall_ms + _SCALES[name] * number
        if deliver_ms <= now.wall_ms and TIMER_DELETE_UNIQUE_KEY in properties:
            raise MessageIllegal("the message that is to be taken back is delivered already")
        return self.tick_of(deliver_ms, now)

    def tick_of(self, deliver_ms: int, now: Now) -> int:
        """The TIMER_OUT_MS of a message for this time; 0: the time is past. MessageIllegal,
        TimerDisabled, TimerCrowded: it is refused."""
        self._check_enabled()
        if deliver_ms <= now.wall_ms:
            return 0
        # Checked before any arithmetic: a peer may send any number.
        self._check_ahead(deliver_ms - now.wall_ms)
        out_ms = self._scale.out_ms(deliver_ms)
        if self._count_at(out_ms) >= self._slot_count_max():
            raise TimerCrowded(
                "timer message is under flow control: too many wait for the same tick",
                hint="choose another time, or let timerCongestNumEachSlot be more",
            )
        return out_ms

    def _check_enabled(self) -> None:
        if not self._is_enabled:
            raise TimerDisabled("accurate timer message is not enabled")

    def _check_ahead(self, ahead_ms: int) -> None:
        ahead_ms_max = self._delay_ms_max()
        if ahead_ms > ahead_ms_max:
            raise MessageIllegal(
                f"timer message illegal, the delay time should not be bigger than the max delay "
                f"{ahead_ms_max}ms; it is {ahead_ms}ms",
                hint="timerMaxDelaySec allows more",
            )


def _number(properties: dict[str, str], name: str) -> int:
    text = properties[name]
    digits = text.removeprefix("-")
    if not digits.isascii() or not digits.isdigit() or len(digits) > _DIGITS_MAX:
        raise MessageIllegal(f"timer message illegal, {name} is no number: {text!r:.100}")
    return int(text)
