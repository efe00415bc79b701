"""Departure: the planned stop of a group member, which serves its clients on before it is gone.

    hand over ─▶ unregister ─▶ forward to the leader ─▶ quiet, or late, or nobody leads ─▶ close

Clients ask for routes every 30 seconds, and until then they talk to the address that they know. A
member that is stopped lets them: it forwards what they send until nobody has sent anything for a
while (`quiet_ms`), at most `time_ms`. Without a leader there is nobody to forward to.
"""


class Departure:
    """Of one process; it outlives the lives of its broker."""

    __slots__ = ("_begun_ms", "_heard_ms", "_led_ms", "_patience_ms", "_quiet_ms", "_time_ms")

    def __init__(self, quiet_ms: int, time_ms: int, patience_ms: int) -> None:
        """`patience_ms`: how long a group may be without a leader before it is given up."""
        self._quiet_ms = quiet_ms
        self._time_ms = time_ms
        self._patience_ms = patience_ms
        self._begun_ms: int | None = None
        self._heard_ms: int | None = None
        self._led_ms = 0

    @property
    def is_begun(self) -> bool:
        return self._begun_ms is not None

    def begin(self, now_ms: int, *, leads: bool) -> None:
        """The process is to stop. Clients of a leader lose their connections when it has handed
        over, and may come again: it is not quiet yet."""
        if self._begun_ms is None:
            self._begun_ms = self._led_ms = now_ms
        if leads:
            self._heard_ms = now_ms

    def heard(self, now_ms: int) -> None:
        """A client has asked for something."""
        self._heard_ms = now_ms

    def is_over(self, now_ms: int, *, has_leader: bool) -> bool:
        """Whether nothing is left to do but to close."""
        if self._begun_ms is None:
            return False
        if has_leader:
            self._led_ms = now_ms
        heard_ms = self._heard_ms
        is_quiet = heard_ms is None or now_ms - heard_ms >= self._quiet_ms
        is_late = now_ms - self._begun_ms >= self._time_ms
        return is_quiet or is_late or now_ms - self._led_ms >= self._patience_ms
