"""SafeAnswers calls back when an append may be acknowledged: at once, when the disk and enough
copies have it, or when that takes too long.

    SUCCESS               as safe as the broker's mode promises
    FLUSH_DISK_TIMEOUT    stored, not known to be on the disk
    FLUSH_SLAVE_TIMEOUT   stored, not known to be on enough slaves, which are connected
    SLAVE_NOT_AVAILABLE   the same, and too few slaves are connected
    SYSTEM_ERROR          the disk failed

All but the first leave the outcome open: the message may be stored, and a sender that sends it
again may store it twice.
"""

from collections import deque
from collections.abc import Callable
from typing import Protocol, TypeAlias

from aerobee.ports.clock import Now
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.request import Answer, Request
from aerobee.storage.store import Store

Answerable: TypeAlias = Callable[[ResponseCode], None]
"""Called once, with SUCCESS or with the reason why the outcome is not known."""


_REASONS = {
    ResponseCode.SYSTEM_ERROR: "the disk failed",
    ResponseCode.FLUSH_DISK_TIMEOUT: "the disk takes too long",
    ResponseCode.FLUSH_SLAVE_TIMEOUT: "the slaves take too long",
    ResponseCode.SLAVE_NOT_AVAILABLE: "too few slaves are connected",
}


def answer_if_safe(answer: Answer, code: ResponseCode, doubt: str) -> Answer:
    """The answer itself after SUCCESS; otherwise an error that says why there is doubt."""
    if code is ResponseCode.SUCCESS:
        return answer
    return Answer(ResponseCode.SYSTEM_ERROR, f"{_REASONS[code]}: {doubt}")


class Copies(Protocol):
    """The slaves of this broker, as far as answers wait for them."""

    @property
    def timeout_ms(self) -> int:
        """How long an answer waits for them."""

    def late_code(self) -> ResponseCode:
        """The code of an answer that has waited too long."""


class SafeAnswers:
    def __init__(
        self, store: Store, sync_timeout_ms: Callable[[], int], copies: Copies | None = None
    ) -> None:
        """`copies`: the slaves that are waited for; None: none are."""
        self._store = store
        self._confirmation = store.confirmation
        self._sync_timeout_ms = sync_timeout_ms
        self._copies = copies
        self._waiting: deque[_Waiting] = deque()

    @property
    def are_later(self) -> bool:
        """Whether an answer may have to wait."""
        return self._confirmation.is_later

    def deadline_ms(self, now: Now) -> int:
        """When an answer that begins to wait now has waited too long, on the monotonic clock."""
        timeout_ms = self._sync_timeout_ms() if self._copies is None else self._copies.timeout_ms
        return now.monotonic_ms + timeout_ms

    def late_code(self, end_offset: int) -> ResponseCode:
        """The code of an answer that has waited too long for the log to be confirmed up to here."""
        if self._copies is None or not self._confirmation.is_on_disk(end_offset):
            return ResponseCode.FLUSH_DISK_TIMEOUT
        return self._copies.late_code()

    def wait(self, end_offset: int, now: Now, then: Answerable) -> None:
        """Call `then` when the log is confirmed up to here, or it takes too long."""
        if not self.are_later:
            then(ResponseCode.SUCCESS)
            return
        waiting = _Waiting(end_offset, self.deadline_ms(now), then)
        self._waiting.append(waiting)
        self._confirmation.wait_confirmed(end_offset, waiting)

    def answer(self, request: Request, end_offset: int, answer: Answer, doubt: str) -> None:
        """Answer a request when the log is confirmed up to here; `doubt` is what is not known if it
        takes too long."""
        self.wait(
            end_offset,
            request.now,
            lambda code: request.answer(answer_if_safe(answer, code, doubt)),
        )

    def on_tick(self, now: Now) -> None:
        """Call those back that have waited too long."""
        while self._waiting and (
            self._waiting[0].is_over or self._waiting[0].deadline_ms <= now.monotonic_ms
        ):
            late = self._waiting.popleft()
            if not late.is_over:
                late.end(self.late_code(late.end_offset))


class _Waiting:
    """A ticket of the store: called with whether the log is confirmed up to its end."""

    __slots__ = ("_then", "deadline_ms", "end_offset", "is_over")

    def __init__(self, end_offset: int, deadline_ms: int, then: Answerable) -> None:
        self.end_offset = end_offset
        self.deadline_ms = deadline_ms
        self._then = then
        self.is_over = False

    def __call__(self, is_safe: bool) -> None:
        if not self.is_over:
            self.end(ResponseCode.SUCCESS if is_safe else ResponseCode.SYSTEM_ERROR)

    def end(self, code: ResponseCode) -> None:
        self.is_over = True
        self._then(code)
