"""`SendTries` decides after each try of a send whether to try again, and what is known at the end.

    result of a try              again on another broker?          the message is
    stored (0, 10, 11, 12)       no: done                          stored
    no connection                yes                               not stored
    connection lost, no answer   yes, if there is time             unknown: it may be stored
    code 1, 204, 205             yes                               unknown
    code 2, 14, 16, 17, 1500     yes                               not stored
    code 501                     yes, where the queue is now       not stored
    any other code               no: it would be the same          by code (`response_codes`)

The codes that are tried again are those of Java's producer, and 501: another broker has the static
topic's queue now. One try of unknown outcome makes the whole send unknown, whatever the others came
to. A broker that has just failed and is the only one is given a pause; another one is tried at
once. One deadline holds for all tries. A master that cannot be reached and has replicas is tried
until that deadline: one of them may take its place.

T1. A try is never longer than what is left of the deadline, and none begins after it.
"""

from aerobee.errors import AerobeeError, NoAnswer, RemoteAnswer, SendFailed, Stored, Unreachable
from aerobee.protocol.response_codes import ResponseCode, SendOutcome, outcome_of

RETRIED_CODES = frozenset(
    {
        ResponseCode.SYSTEM_ERROR,
        ResponseCode.SYSTEM_BUSY,
        ResponseCode.SERVICE_NOT_AVAILABLE,
        ResponseCode.NO_PERMISSION,
        ResponseCode.TOPIC_NOT_EXIST,
        ResponseCode.NO_BUYER_ID,
        ResponseCode.NOT_IN_CURRENT_UNIT,
        ResponseCode.GO_AWAY,
        ResponseCode.NOT_LEADER_FOR_QUEUE,
    }
)
FIRST_PAUSE_SECONDS = 0.05
PAUSE_SECONDS_MAX = 0.4
_UNKNOWN_HINT = "it may be in the log: a second send may make a second one"
_HINTS = {
    ResponseCode.NO_PERMISSION: "the topic or the broker may not be written to, "
    "or the credentials do not allow it",
    ResponseCode.MESSAGE_ILLEGAL: "the broker says why; its maxMessageSize bounds a body, and "
    "32 KiB bound tag, keys and headers together",
    ResponseCode.SYSTEM_BUSY: "the broker is behind: send less at a time, or later",
    ResponseCode.SERVICE_NOT_AVAILABLE: "is its disk full, or is it shutting down?",
}


class SendTries:
    """The tries so far of one send. Times are seconds on any one clock."""

    __slots__ = (
        "_broker",
        "_deadline",
        "_last",
        "_may_wait",
        "_notes",
        "_stored",
        "_topic",
        "_tries_left",
    )

    def __init__(self, topic: str, *, retries: int, deadline: float) -> None:
        self._topic = topic
        self._tries_left = 1 + retries
        self._may_wait = retries > 0
        self._deadline = deadline
        self._notes: list[str] = []
        self._stored = Stored.NO
        self._broker = ""
        self._last: AerobeeError | None = None

    @property
    def failed_broker(self) -> str:
        """The broker of the last try: the next one is to be another."""
        return self._broker

    def seconds_left(self, now: float) -> float:
        return self._deadline - now

    def note(
        self, broker_name: str, error: AerobeeError, now: float, *, has_replicas: bool = False
    ) -> bool:
        """Record a failed try. Returns whether to try again."""
        self._broker = broker_name
        self._last = error
        # Not its hint: the failure has one of its own.
        self._notes.append(f"{broker_name}: {error.message}" if broker_name else error.message)
        if _is_unknown(error):
            self._stored = Stored.UNKNOWN
        if not (has_replicas and self._may_wait and isinstance(error, Unreachable)):
            self._tries_left -= 1
        return _is_worth_another(error) and self._tries_left > 0 and self.seconds_left(now) > 0

    def pause(self, broker_name: str, now: float) -> float:
        """The seconds to wait before the next try, at this broker."""
        if broker_name != self._broker:
            return 0.0
        pause = FIRST_PAUSE_SECONDS * 2.0 ** min(len(self._notes) - 1, 8)
        return min(pause, PAUSE_SECONDS_MAX, max(self.seconds_left(now), 0.0) / 2)

    def failure(self) -> SendFailed:
        """The error of the whole send, once no further try is made."""
        is_unknown = self._stored is Stored.UNKNOWN
        tries = "1 try" if len(self._notes) == 1 else f"{len(self._notes)} tries"
        state = "may not be stored" if is_unknown else "was not stored"
        failure = SendFailed(
            f"a message for {self._topic} {state}, after {tries}: "
            f"{'; '.join(dict.fromkeys(self._notes))}",
            stored=self._stored,
            attempts=self._notes,
            hint=_UNKNOWN_HINT if is_unknown else self._hint(),
        )
        failure.__cause__ = self._last
        return failure

    def _hint(self) -> str:
        if self._last is None:
            return ""
        if isinstance(self._last, RemoteAnswer) and self._last.code in _HINTS:
            return next(text for code, text in _HINTS.items() if code == self._last.code)
        return self._last.hint


def _is_unknown(error: AerobeeError) -> bool:
    if isinstance(error, RemoteAnswer):
        return outcome_of(error.code) is SendOutcome.UNKNOWN
    return isinstance(error, NoAnswer) and not isinstance(error, Unreachable)


def _is_worth_another(error: AerobeeError) -> bool:
    if isinstance(error, RemoteAnswer):
        return error.code in RETRIED_CODES
    return isinstance(error, NoAnswer)
