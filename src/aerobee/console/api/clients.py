"""Clients: every producer and consumer that is connected, with its language and its version, and
what one of them holds.

Consumers are asked for group by group, because no request lists all of them: of at most GROUPS_MAX
groups, those with members first. The list is kept as long as its cost demands (`Kept`).
"""

import asyncio
import time
from collections.abc import Callable

from aerobee.client.admin.admin import Admin
from aerobee.client.admin.connections import Consumers
from aerobee.console.api.group_rows import connection_row, running_row
from aerobee.console.api.listing import LIST, Row, page_of
from aerobee.console.http.action import GET, Action, Ask, Record
from aerobee.console.http.parameters import QUERY, Parameter, ValueKind
from aerobee.console.http.problem import not_found
from aerobee.console.session.visitor import Role
from aerobee.console.watch.broker_tables import in_time, or_none
from aerobee.console.watch.catalogue import Catalogue, GroupEntry, Kept
from aerobee.console.watch.sampler import Sampler
from aerobee.protocol.bodies.connections import Connection

GROUPS_MAX = 200


class ClientPages:
    def __init__(
        self,
        admin: Admin,
        catalogue: Catalogue,
        sampler: Sampler,
        wall_ms: Callable[[], int],
    ) -> None:
        self._admin = admin
        self._catalogue = catalogue
        self._sampler = sampler
        self._wall_ms = wall_ms
        self._kept = Kept(self._ask, time.monotonic)

    def actions(self) -> tuple[Action, ...]:
        return (
            Action(
                "listClients",
                GET,
                "/api/clients",
                Role.VIEWER,
                "Connected producers and consumers",
                self.listed,
                LIST,
                command="aerobee group members GROUP",
                python="await admin.connections.producers_of_all()",
            ),
            Action(
                "showClient",
                GET,
                "/api/client",
                Role.VIEWER,
                "A client: its groups, and the queues that it holds for each",
                self.show,
                (
                    # Not in the path: an id is any text, and may have slashes.
                    Parameter("id", QUERY, "of the client", is_required=True),
                    Parameter("stacks", QUERY, "with what it does now", ValueKind.TRUTH, False),
                ),
            ),
        )

    async def listed(self, ask: Ask) -> Record:
        self._sampler.look()
        rows, unknown = await self._kept.answer()
        return page_of(ask, rows, at=self._wall_ms(), name="client_id", unknown=unknown)

    async def show(self, ask: Ask) -> Record:
        self._sampler.look()
        wanted = ask.text("id")
        rows, _ = await self._kept.answer()
        found = next((row for row in rows if row["client_id"] == wanted), None)
        if found is None:
            raise not_found(f"there is no client {wanted!r}", hint="the list is a few seconds old")
        groups = found["consumes"]
        told = await asyncio.gather(
            *(self._member(group, wanted, has_stacks=ask.truth("stacks")) for group in groups)
        )
        silent = [group for group, row in zip(groups, told, strict=True) if row is None]
        why = f"it does not say what it holds for {', '.join(silent)}"
        return {
            "at": self._wall_ms(),
            **found,
            "members": [row for row in told if row is not None],
            "unknown": {"members": why} if silent else {},
        }

    async def _member(self, group: str, client_id: str, *, has_stacks: bool) -> Row | None:
        ask = self._admin.connections.running_info(group, client_id, has_stacks=has_stacks)
        info = await in_time(ask)
        return {"group": group, **running_row(client_id, info)} if info is not None else None

    async def _ask(self) -> tuple[list[Row], dict[str, str]]:
        unknown: dict[str, str] = {}
        rows: dict[str, Row] = {}
        told, problem = await or_none(self._admin.connections.producers_of_all())
        if problem is not None:
            unknown["rows.produces"] = problem.message
        for group, clients in (told or {}).items():
            for client in clients:
                _row(rows, client)["produces"].append(group)
        names = await self._groups()
        asked = names[:GROUPS_MAX]
        if len(names) > len(asked):
            unknown["rows.consumes"] = f"of {len(asked)} of {len(names)} groups"
        found = await asyncio.gather(*map(self._consumers, asked))
        for entry, there in zip(asked, found, strict=True):
            for client in there.clients if there is not None else ():
                _row(rows, client)["consumes"].append(entry.name)
        return [rows[name] for name in sorted(rows)], unknown

    async def _consumers(self, entry: GroupEntry) -> Consumers | None:
        on = await self._catalogue.masters_of(entry)
        return (await or_none(self._admin.connections.consumers(entry.name, on=on)))[0]

    async def _groups(self) -> list[GroupEntry]:
        """Return the groups that may have members, those that had some lately first."""
        entries = (await self._catalogue.groups()).values()
        own = [one for one in entries if not one.is_system]
        return sorted(own, key=lambda one: not self._sampler.members.get(one.name, True))


def _row(rows: dict[str, Row], client: Connection) -> Row:
    new: Row = {**connection_row(client), "consumes": [], "produces": []}
    return rows.setdefault(client.client_id, new)
