"""ActingWatch decides when a slave begins to act as master.

    name servers know no master of its name, and it has the smallest id
    no link to a master is open
    both for ACT_AFTER_MS, and no master has said meanwhile that it returns

The link counts because a master that name servers have lost still does its duties: two that deliver
the same messages would be one too many. A machine that vanished leaves a link behind, which ends
after `haHousekeepingInterval`.
"""

from collections.abc import Callable

from aerobee.model.broker_role import MASTER_ID, Stage
from aerobee.ports.clock import Now
from aerobee.ports.service import Effects, Rebuild
from aerobee.service.broker.replication.acting.member_group import Members

ACT_AFTER_MS = 3_000
"""Long enough for a master that was started again to be back, and for one that returns to say so
again."""


class ActingWatch:
    def __init__(self, broker_id: int, is_linked: Callable[[], bool], outbox: Effects) -> None:
        """`is_linked`: whether a link to a master is open."""
        self._broker_id = broker_id
        self._is_linked = is_linked
        self._outbox = outbox
        # Monotonic time since which nothing was heard of a master; None: there is one.
        self._alone_ms: int | None = None
        self._is_over = False

    def hear_members(self, members: Members | None, now: Now) -> None:
        """A name server has said which brokers of this name live."""
        is_first = members is not None and min(members, default=MASTER_ID) == self._broker_id
        if not is_first or self._is_linked():
            self._alone_ms = None
            return
        if self._alone_ms is None:
            self._alone_ms = now.monotonic_ms
        if now.monotonic_ms - self._alone_ms >= ACT_AFTER_MS and not self._is_over:
            self._is_over = True
            self._outbox.append(
                Rebuild("there is no master: it acts as master from now on", stage=Stage.ACTING)
            )

    def hear_of_master(self) -> None:
        """A master has said that it returns."""
        self._alone_ms = None
