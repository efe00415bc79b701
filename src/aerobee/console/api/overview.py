"""The overview: name servers, brokers, totals, the busiest, and what needs attention.

Also the list of brokers, and the search over the names of everything.
"""

import asyncio
import heapq
import time
from collections.abc import Callable, Iterator
from urllib.parse import quote

from aerobee.client.admin.admin import Admin
from aerobee.console.api.broker_rows import WARN, BrokerRows, unknown_of
from aerobee.console.api.listing import LIST, Row, page_of
from aerobee.console.api.message.lookups import is_id
from aerobee.console.http.action import GET, Action, Ask, Record
from aerobee.console.http.parameters import QUERY, Parameter, ValueKind
from aerobee.console.session.visitor import Role
from aerobee.console.watch.catalogue import NORMAL, Catalogue, by_name
from aerobee.console.watch.exposure import Exposure
from aerobee.console.watch.sampler import Sampler
from aerobee.model.names import DEAD_LETTER_PREFIX, is_dead_letter_topic

TOP = 10
LAG_NOTED = 10_000
"""A group with a larger lag is noted as needing attention."""
FOUND_MAX = 50


class OverviewPages:
    def __init__(
        self,
        admin: Admin,
        catalogue: Catalogue,
        sampler: Sampler,
        rows: BrokerRows,
        wall_ms: Callable[[], int],
    ) -> None:
        self._admin = admin
        self._catalogue = catalogue
        self._sampler = sampler
        self._rows = rows
        self._wall_ms = wall_ms
        self._exposure = Exposure(admin, time.monotonic)

    def actions(self) -> tuple[Action, ...]:
        return (
            Action(
                "overview",
                GET,
                "/api/overview",
                Role.VIEWER,
                "The cluster: servers, totals, what is busy, what needs attention",
                self.overview,
                command="aerobee cluster info",
                python="await admin.cluster()",
            ),
            Action(
                "insecureServers",
                GET,
                "/api/insecure",
                Role.VIEWER,
                "Servers that are open to other machines though nobody is asked who it is",
                self.insecure,
                python="await admin.brokers.config()",
            ),
            Action(
                "listBrokers",
                GET,
                "/api/brokers",
                Role.VIEWER,
                "All brokers, masters and slaves",
                self.brokers,
                LIST,
                command="aerobee cluster list",
                python="await admin.brokers.runtime()",
            ),
            Action(
                "search",
                GET,
                "/api/search",
                Role.VIEWER,
                "Topics, groups, brokers and clients whose names contain a text",
                self.search,
                (
                    Parameter("q", QUERY, "a part of a name, or a message's id", is_required=True),
                    Parameter(
                        "limit", QUERY, "at most", ValueKind.WHOLE, 20, bounds=(1, FOUND_MAX)
                    ),
                ),
            ),
        )

    async def overview(self, ask: Ask) -> Record:
        self._sampler.look()
        brokers, answering, topics, groups = await asyncio.gather(
            self._rows.all(),
            self._admin.name_servers.answering(),
            self._catalogue.topics(),
            self._catalogue.groups(),
        )
        name_servers = [{"address": at, "problem": why} for at, why in answering.items()]
        masters = [row for row in brokers if row["is_master"]]
        normal = sum(one.kind == NORMAL for one in topics.values())
        lag = sum(one.lag for _, one in self._sampler.own_groups())
        dead = self._dead_letters()
        return {
            "at": self._wall_ms(),
            "name_servers": name_servers,
            "brokers": brokers,
            "totals": {
                "in": _sum(masters, "in"),
                "out": _sum(masters, "out"),
                "in_bytes": _sum(masters, "in_bytes"),
                "topics": normal,
                "groups": sum(not one.is_system for one in groups.values()),
                "lag": lag,
                "dead_letters": sum(dead.values()),
                "transactions": _sum(masters, "transactions"),
                "delayed": _sum(masters, "delayed"),
                "brokers": len(brokers),
                "masters": len(masters),
            },
            "top_topics": [
                {"name": name, "in": one.stored}
                for name, one in heapq.nlargest(
                    TOP, self._sampler.topics.items(), key=lambda item: item[1].stored or 0.0
                )
                if one.stored
            ],
            "top_groups": [
                {"name": name, "lag": one.lag}
                for name, one in heapq.nlargest(
                    TOP, self._sampler.own_groups(), key=lambda item: item[1].lag
                )
                if one.lag
            ],
            "attention": [
                *_server_notes(name_servers, brokers),
                *self._group_notes(dead),
            ],
            "unknown": unknown_of(brokers),
        }

    async def brokers(self, ask: Ask) -> Record:
        self._sampler.look()
        rows = await self._rows.all()
        return page_of(ask, rows, at=self._wall_ms(), unknown=unknown_of(rows))

    async def insecure(self, ask: Ask) -> Record:
        return {"servers": await self._exposure.servers()}

    async def search(self, ask: Ask) -> Record:
        wanted, limit = ask.text("q").strip(), ask.whole("limit")
        topics, groups = await self._catalogue.topics(), await self._catalogue.groups()
        brokers = sorted({one.name for one in (await self._catalogue.cluster()).brokers})
        clients = sorted({one for members in self._sampler.members.values() for one in members})
        found: list[Row] = []
        for name in by_name(topics, wanted):
            entry = topics[name]
            detail = f"{entry.queues} queues" if entry.kind == NORMAL else entry.kind
            found.append(_hit("topic", name, "/topics/", detail))
        for name in by_name(groups, wanted):
            state = self._sampler.groups.get(name)
            detail = f"lag {state.lag}" if state is not None else ""
            found.append(_hit("group", name, "/groups/", detail))
        found += [_hit("broker", one, "/brokers/", "") for one in by_name(brokers, wanted)]
        found += [_hit("client", one, "/clients/", "") for one in by_name(clients, wanted)]
        found.sort(key=lambda row: (not row["name"].lower().startswith(wanted.lower()),))
        if is_id(wanted):
            found.insert(0, _hit("message", wanted, "/messages?by=lookup&word=", "in all topics"))
        return {"rows": found[:limit]}

    def _dead_letters(self) -> dict[str, int]:
        return {
            name.removeprefix(DEAD_LETTER_PREFIX): one.messages
            for name, one in self._sampler.topics.items()
            if is_dead_letter_topic(name) and one.messages
        }

    def _group_notes(self, dead: dict[str, int]) -> Iterator[Row]:
        for name, state in self._sampler.own_groups():
            if state.lag > LAG_NOTED:
                yield _note("lag", name, f"{name} is {state.lag:,} messages behind", "groups")
        for name, count in dead.items():
            text = f"{name} has given up {count:,} message{'s' if count > 1 else ''}"
            yield _note("dead_letters", name, text, "dead-letters")


def _server_notes(name_servers: list[Row], brokers: list[Row]) -> Iterator[Row]:
    for one in name_servers:
        if one["problem"]:
            yield _note("name_server", one["address"], f"{one['address']}: {one['problem']}", "")
    for row in brokers:
        name = row["name"]
        if row["problem"]:
            yield _note("broker", name, f"{row['address']}: {row['problem']}", "brokers")
        if row["disk"] is not None and row["disk"]["used"] >= WARN:
            used = row["disk"]["used"]
            yield _note("disk", name, f"the disk of {name} is {used:.0%} full", "brokers")
        if row["replica"] is not None and row["replica"]["in_sync"] is False:
            why = row["replica"]["why"]
            yield _note("replica", name, f"slave {row['address']}: {why}", "brokers")


def _note(kind: str, of: str, text: str, page: str) -> Row:
    path = f"/{page}/{quote(of, safe='')}" if page else "/"
    return {"kind": kind, "of": of, "text": text, "path": path}


def _hit(kind: str, name: str, place: str, detail: str) -> Row:
    return {"kind": kind, "name": name, "path": place + quote(name, safe=""), "detail": detail}


def _sum(rows: list[Row], column: str) -> float | None:
    told = [row[column] for row in rows if row[column] is not None]
    return sum(told) if told else None
