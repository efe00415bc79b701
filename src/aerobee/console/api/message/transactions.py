"""Transactions: open ones, those that brokers have given up, and ending one by hand.

Only Aerobee's brokers can list open transactions; of RocketMQ's the answer says so. Ending one by
hand overrides its producer.
"""

from collections.abc import Awaitable, Callable

from aerobee.client.admin.admin import Admin
from aerobee.client.admin.transactions import HeldTransaction
from aerobee.console.api.listing import Row
from aerobee.console.http.action import GET, POST, Action, Ask, Record
from aerobee.console.http.parameters import QUERY, Parameter, ValueKind, in_path
from aerobee.console.http.problem import is_unsupported, not_found
from aerobee.console.message.message_rows import host_of, message_row
from aerobee.console.session.visitor import Role
from aerobee.console.watch.catalogue import Catalogue
from aerobee.errors import AerobeeError

SHOWN = 200
SHOWN_MAX = 1_000
_ID = in_path("id", "the sender's id of the half message")


class TransactionPages:
    def __init__(self, admin: Admin, catalogue: Catalogue, wall_ms: Callable[[], int]) -> None:
        self._admin = admin
        self._catalogue = catalogue
        self._wall_ms = wall_ms

    def actions(self) -> tuple[Action, ...]:
        bounds = (1, SHOWN_MAX)
        return (
            Action(
                "listTransactions",
                GET,
                "/api/transactions",
                Role.VIEWER,
                "Open transactions, and those that brokers have given up",
                self.list,
                (
                    Parameter("group", QUERY, "only of these producers"),
                    Parameter("limit", QUERY, "at most", ValueKind.WHOLE, SHOWN, bounds=bounds),
                ),
                command="aerobee transaction list",
                python="async for one in admin.transactions.open(): print(one)",
            ),
            Action(
                "commitTransaction",
                POST,
                "/api/transactions/{id}/commit",
                Role.ADMIN,
                "Commit an open transaction by hand",
                self.commit,
                (_ID,),
                confirm="id",
                command="aerobee transaction commit {id}",
            ),
            Action(
                "rollBackTransaction",
                POST,
                "/api/transactions/{id}/rollback",
                Role.ADMIN,
                "Roll an open transaction back by hand",
                self.roll_back,
                (_ID,),
                confirm="id",
                command="aerobee transaction rollback {id}",
            ),
        )

    async def list(self, ask: Ask) -> Record:
        limit = ask.whole("limit")
        unknown: dict[str, str] = {}
        open_rows: list[Row] = []
        is_told = True
        try:
            async for held in self._admin.transactions.open(group=ask.text("group")):
                open_rows.append(self._row(held))
                if len(open_rows) >= limit:
                    unknown["open"] = f"only the first {limit} are shown"
                    break
        except AerobeeError as error:
            if not is_unsupported(error):
                raise
            is_told = False
            unknown["open"] = "only Aerobee's brokers can list open transactions"
        names = await self._catalogue.broker_names()
        given_up: list[Row] = []
        async for message in self._admin.transactions.given_up():
            given_up.append(message_row(message, names.get(host_of(message), host_of(message))))
            if len(given_up) >= limit:
                unknown["given_up"] = f"only the first {limit} are shown"
                break
        return {
            "at": self._wall_ms(),
            "open": open_rows if is_told else None,
            "given_up": given_up,
            "unknown": unknown,
        }

    async def commit(self, ask: Ask) -> Record:
        return await self._end(ask, self._admin.transactions.commit, "committed")

    async def roll_back(self, ask: Ask) -> Record:
        return await self._end(ask, self._admin.transactions.rollback, "rolled back")

    async def _end(
        self, ask: Ask, end: Callable[[HeldTransaction], Awaitable[None]], how: str
    ) -> Record:
        wanted = ask.text("id")
        async for held in self._admin.transactions.open():
            if wanted in (held.facts.message_id, held.facts.offset_message_id):
                await end(held)
                return {"done": f"{wanted} was {how}"}
        raise not_found(f"no open transaction has the id {wanted}")

    def _row(self, held: HeldTransaction) -> Row:
        facts = held.facts
        return {
            "id": facts.message_id,
            "offset_id": facts.offset_message_id,
            "broker": held.broker,
            "group": facts.group,
            "topic": facts.topic,
            "born": facts.born_timestamp,
            "stored": facts.store_timestamp,
            "age_ms": max(0, self._wall_ms() - facts.store_timestamp),
            "checks": facts.check_times,
            "next_check_ms": facts.next_check_ms if facts.next_check_ms >= 0 else None,
            "is_group_online": facts.is_group_online,
        }
