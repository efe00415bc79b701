"""Whether a message is to wait for a time, and until when.

    TIMER_DELAY_SEC, else TIMER_DELAY_MS, else TIMER_DELIVER_MS ──▶ TIMER_OUT_MS
    topic, queue                                                ──▶ REAL_TOPIC, REAL_QID

A time that has come is none to wait for: the message is stored where it says. DELAY, a level, goes
before all of these; it is looked at elsewhere. TIMER_OUT_MS says that a message has waited.

RocketMQ refuses by chance when a tick gets crowded, the less the more it is; here a tick takes so
many and no more.
"""

from collections.abc import Callable
from dataclasses import replace

from aerobee.errors import MessageIllegal, StorageError
from aerobee.model.flags import TransactionType
from aerobee.model.message import StoredMessage
from aerobee.model.message_queue import QueueId
from aerobee.model.names import TIMER_TOPIC
from aerobee.model.properties import (
    REAL_QUEUE_ID,
    REAL_TOPIC,
    TIMER_DELAY_MS,
    TIMER_DELAY_SECONDS,
    TIMER_DELETE_UNIQUE_KEY,
    TIMER_DELIVER_MS,
    TIMER_OUT_MS,
)
from aerobee.ports.clock import Now
from aerobee.service.broker.timer.timer_scale import TimerScale

TIME_NAMES = (TIMER_DELAY_SECONDS, TIMER_DELAY_MS, TIMER_DELIVER_MS)

_DIGITS_MAX = 15  # the year 33,658
_UNSTORED = (TransactionType.PREPARED, TransactionType.ROLLBACK)


class TimerDisabled(StorageError):
    """This broker keeps no messages for a time."""


class TimerCrowded(StorageError):
    """As many messages as are allowed wait for this tick."""


class TimerAcceptance:
    def __init__(
        self,
        scale: TimerScale,
        is_enabled: bool,
        delay_ms_max: Callable[[], int],
        slot_count_max: Callable[[], int],
        count_at: Callable[[int], int],
    ) -> None:
        """`count_at`: how many messages wait for a tick."""
        self._scale = scale
        self._is_enabled = is_enabled
        self._delay_ms_max = delay_ms_max
        self._slot_count_max = slot_count_max
        self._count_at = count_at

    def diverted(self, message: StoredMessage, now: Now) -> StoredMessage:
        """The message as it is to be stored now. MessageIllegal, TimerDisabled, TimerCrowded."""
        properties = message.properties
        if (
            TIMER_OUT_MS in properties
            or not any(name in properties for name in TIME_NAMES)
            or message.topic == TIMER_TOPIC
            or message.transaction_type in _UNSTORED
        ):
            return message
        if not self._is_enabled:
            raise TimerDisabled("accurate timer message is not enabled")
        deliver_ms = _deliver_ms(message, now)
        if deliver_ms <= now.wall_ms:
            if TIMER_DELETE_UNIQUE_KEY in properties:
                raise MessageIllegal("the message that is to be taken back is delivered already")
            return message
        self._check(deliver_ms, now)
        return replace(
            message,
            topic=TIMER_TOPIC,
            queue_id=QueueId(0),
            properties={
                **properties,
                TIMER_OUT_MS: str(self._scale.out_ms(deliver_ms)),
                REAL_TOPIC: message.topic,
                REAL_QUEUE_ID: str(message.queue_id),
            },
        )

    def _check(self, deliver_ms: int, now: Now) -> None:
        ahead_ms, ahead_ms_max = deliver_ms - now.wall_ms, self._delay_ms_max()
        if ahead_ms > ahead_ms_max:
            raise MessageIllegal(
                f"timer message illegal, the delay time should not be bigger than the max delay "
                f"{ahead_ms_max}ms; it is {ahead_ms}ms",
                hint="timerMaxDelaySec allows more",
            )
        if self._count_at(self._scale.out_ms(deliver_ms)) >= self._slot_count_max():
            raise TimerCrowded(
                "timer message is under flow control: too many wait for the same tick",
                hint="choose another time, or let timerCongestNumEachSlot be more",
            )


def _deliver_ms(message: StoredMessage, now: Now) -> int:
    properties = message.properties
    if TIMER_DELAY_SECONDS in properties:
        return now.wall_ms + 1000 * _number(properties, TIMER_DELAY_SECONDS)
    if TIMER_DELAY_MS in properties:
        return now.wall_ms + _number(properties, TIMER_DELAY_MS)
    return _number(properties, TIMER_DELIVER_MS)


def _number(properties: dict[str, str], name: str) -> int:
    text = properties[name]
    digits = text.removeprefix("-")
    if not digits.isascii() or not digits.isdigit() or len(digits) > _DIGITS_MAX:
        raise MessageIllegal(f"timer message illegal, {name} is no number: {text!r:.100}")
    return int(text)
