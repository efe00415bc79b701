"""ActingSide is the side of replication of an acting master: it follows nobody, and ends when a
master is there.

    a master is registered                 ┐
    a master says that it returns (906)    ├─▶ no more puts ─▶ those under way are over ─▶ a slave
    a slave with a smaller id is there     ┘

Its progress is saved at its end, before the master asks for it.
"""

import logging

from aerobee.errors import NothingTaken
from aerobee.model.replica_status import ACTING, UNKNOWN, SlaveStatus
from aerobee.ports.clock import Now
from aerobee.ports.service import CloseLink, Effects, LinkId, Peer, Rebuild
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.replication.acting.escaped_puts import PUT_TIMEOUT_MS, EscapedPuts
from aerobee.service.broker.replication.acting.member_group import Members
from aerobee.service.broker.replication.slave_requests import not_master
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)

LEAVE_MS_MAX = PUT_TIMEOUT_MS + 500
"""How long puts under way are waited for."""
REST_MS_MAX = 1_000
_REST_MS_LEAVING = 20


class MasterIsBack(NothingTaken):
    """This broker has acted as master, and stops: nothing was put."""


class ActingSide:
    """A `LinkService` without links."""

    def __init__(
        self, store: Store, broker_id: int, puts: EscapedPuts | None, outbox: Effects
    ) -> None:
        """`puts`: the log of other masters; None: what has to be put waits."""
        self._store = store
        self._broker_id = broker_id
        self._puts = puts
        self._outbox = outbox
        self._left_ms: int | None = None
        self._reason = ""
        self._is_over = False
        store.refuse_appends(not_master(""))
        store.confirmation.expect_copies(store.confirmed_at_start)

    def master(self) -> str:
        """There is none."""
        return ""

    def has_slave(self) -> bool:
        """No: nobody follows it."""
        return False

    def status(self, now: Now) -> SlaveStatus:
        """What tools and monitoring are told."""
        end = self._store.end_offset
        waiting = "" if self._puts is None else f"; {self._puts.waiting} puts are under way"
        where = "wait" if self._puts is None else "go to other masters"
        return SlaveStatus(
            "",
            ACTING,
            end,
            self._store.flushed_offset,
            end,
            0,
            UNKNOWN,
            f"there is no master: delayed messages, transactions and pops {where}{waiting}",
        )

    # The end.

    def hear_members(self, members: Members | None, now: Now) -> None:
        """A name server has said which brokers of this name live."""
        if members and min(members) < self._broker_id:
            self._leave(f"broker {min(members)} of its name is registered", now)

    def hear_of_master(self, address: str, ha_address: str, now: Now) -> None:
        """A name server has said where the master is; empty: there is none."""
        if address:
            self._leave(f"its master is at {address}", now)

    def follow(self, address: str, ha_address: str, now: Now) -> None:
        """A broker has said that it is the master."""
        self._leave(f"its master returns at {address or ha_address}", now)

    def _leave(self, reason: str, now: Now) -> None:
        if self._left_ms is not None:
            return
        self._left_ms, self._reason = now.monotonic_ms, reason
        _log.info("it acts as master no more: %s", reason)
        if self._puts is not None:
            self._puts.refuse(MasterIsBack(reason))
        self.on_tick(now)

    def on_tick(self, now: Now) -> None:
        if self._left_ms is None or self._is_over:
            return
        is_waiting = self._puts is not None and self._puts.waiting > 0
        if not is_waiting or now.monotonic_ms - self._left_ms >= LEAVE_MS_MAX:
            self._is_over = True
            self._outbox.append(Rebuild(f"it acts as master no more: {self._reason}"))

    def rest_ms(self, now: Now) -> int:
        return REST_MS_MAX if self._left_ms is None else _REST_MS_LEAVING

    # Nothing comes on links, and nobody is asked.

    def on_link_open(
        self, link: LinkId, peer: Peer, is_dialed: bool, now: Now, own: str = ""
    ) -> None:
        self._outbox.append(CloseLink(link, "this broker is an acting master: it sends no log"))

    def on_link_failed(self, address: str, reason: str, now: Now) -> None:
        """Nothing: it dials nobody."""

    def on_link_bytes(self, link: LinkId, data: bytes | memoryview, now: Now) -> None:
        """Nothing: a link is closed when it opens."""

    def on_link_ready(self, link: LinkId, now: Now) -> None:
        """Nothing: it writes to no link."""

    def on_link_closed(self, link: LinkId, now: Now) -> None:
        """Nothing: it has no links."""

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> None:
        """Nothing: it asks no master."""

    def on_round(self, now: Now) -> None:
        """Nothing: its log does not grow."""

    def stop(self, now: Now) -> None:
        """Nothing: it has no links."""
