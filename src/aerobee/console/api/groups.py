"""Groups: the list, one group with its queues and members, and changes of groups.

The list has the sampler's figures; the page of one group asks brokers and members themselves.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from aerobee.client.admin.admin import Admin
from aerobee.client.admin.connections import Consumers
from aerobee.client.admin.groups import GroupProgress
from aerobee.console.api.group_rows import (
    config_row,
    counts_times,
    member_rows,
    mismatch_rows,
    queue_rows,
    running_row,
    subscription_row,
)
from aerobee.console.api.listing import LIST, Row, page_of_entries
from aerobee.console.http.action import DELETE, GET, PATCH, POST, Action, Ask, Record
from aerobee.console.http.parameters import BODY, QUERY, Parameter, ValueKind, in_path
from aerobee.console.http.problem import Problem, not_found
from aerobee.console.session.visitor import Role
from aerobee.console.watch.broker_tables import in_time, or_none
from aerobee.console.watch.catalogue import Catalogue, GroupEntry
from aerobee.console.watch.sampler import Sampler
from aerobee.model.group import RETRIES_MAX, GroupConfig
from aerobee.model.names import check_group, dead_letter_topic
from aerobee.protocol.bodies.running_info import CONSUME_MODE, RunningInfo

MEMBERS_ASKED_MAX = 50
"""Members of a group that are asked what they do."""
_GROUP = in_path("group", "the name of a consumer group")
_ON = Parameter("on", BODY, "only this broker or cluster")
_FLAGS = (
    "[--retries {retry_max}] [--enable?{enabled}] [--no-enable?!{enabled}]"
    " [--broadcast?{broadcast}] [--no-broadcast?!{broadcast}] [--on {on}]"
)


class GroupPages:
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

    def actions(self) -> tuple[Action, ...]:
        return (*self._reading(), *self._changing())

    def _reading(self) -> tuple[Action, ...]:
        return (
            Action(
                "listGroups",
                GET,
                "/api/groups",
                Role.VIEWER,
                "Consumer groups, with lag and members",
                self.list,
                (
                    *LIST,
                    Parameter(
                        "kind",
                        QUERY,
                        "of groups",
                        default="normal",
                        choices=("normal", "system", "all"),
                    ),
                ),
                command="aerobee group list",
                python="await admin.groups.progress_of_all()",
            ),
            Action(
                "showGroup",
                GET,
                "/api/groups/{group}",
                Role.VIEWER,
                "A group: lag by queue, members, subscriptions, settings",
                self.show,
                (_GROUP,),
                command="aerobee group describe {group}",
                python="await admin.groups.progress({group!r})",
            ),
            Action(
                "showMember",
                GET,
                "/api/groups/{group}/members/{client_id}",
                Role.VIEWER,
                "A member of a group, as it reports itself",
                self.member,
                (
                    _GROUP,
                    in_path("client_id", "of the member"),
                    Parameter("stacks", QUERY, "with what it does now", ValueKind.TRUTH, False),
                ),
                command="aerobee group members {group}",
                python="await admin.connections.running_info({group!r}, {client_id!r})",
            ),
        )

    def _changing(self) -> tuple[Action, ...]:
        settings = (
            Parameter("enabled", BODY, "whether it may consume", ValueKind.TRUTH),
            Parameter("broadcast", BODY, "whether it may broadcast", ValueKind.TRUTH),
            Parameter(
                "retry_max", BODY, "deliveries after the first", ValueKind.WHOLE, bounds=(-1, 1000)
            ),
            _ON,
        )
        return (
            Action(
                "createGroup",
                POST,
                "/api/groups",
                Role.OPERATOR,
                "Create a consumer group",
                self.create,
                (Parameter("name", BODY, "of the new group", is_required=True), *settings),
                of="name",
                command=f"aerobee group create {{name}} {_FLAGS}",
            ),
            Action(
                "changeGroup",
                PATCH,
                "/api/groups/{group}",
                Role.OPERATOR,
                "Change the settings of a group",
                self.change,
                (_GROUP, *settings),
                of="group",
                command=f"aerobee group update {{group}} {_FLAGS}",
            ),
            Action(
                "deleteGroup",
                DELETE,
                "/api/groups/{group}",
                Role.ADMIN,
                "Delete a group with its offsets, retries and dead letters",
                self.delete,
                (
                    _GROUP,
                    Parameter(
                        "keep_offsets", BODY, "leave offsets and topics", ValueKind.TRUTH, False
                    ),
                ),
                confirm="group",
                has_dry_run=True,
                command="aerobee group delete {group} [--keep-offsets?{keep_offsets}]",
                python="await admin.groups.delete({group!r}[, keep_offsets=True?{keep_offsets}])",
            ),
        )

    # Looking.

    async def list(self, ask: Ask) -> Record:
        self._sampler.look()
        kind = ask.text("kind")
        entries = (await self._catalogue.groups()).values()
        chosen = [one for one in entries if kind == "all" or one.is_system == (kind == "system")]
        return page_of_entries(ask, chosen, self._row, at=self._wall_ms())

    async def show(self, ask: Ask) -> Record:
        entry = await self._entry(ask.text("group"))
        self._sampler.look("group", entry.name)
        on = await self._catalogue.masters_of(entry)
        progress, there = await asyncio.gather(
            self._progress(entry.name), self._admin.connections.consumers(entry.name, on=on)
        )
        running = await self._running(entry.name, there, on)
        unknown = {}
        silent = [one.client_id for one in there.clients if running.get(one.client_id) is None]
        if silent:
            told = ", ".join(silent[:3])
            unknown["queues.owner"] = f"{len(silent)} members do not say what they hold: {told}"
        if any(info is not None and not counts_times(info) for info in running.values()):
            unknown["members.consume_ms"] = "Aerobee's clients do not count their consume times"
        dead = self._sampler.topics.get(dead_letter_topic(entry.name))
        row = self._row(entry)
        return {
            "at": self._wall_ms(),
            **row,
            "lag": progress.lag if progress is not None else 0,
            "model": there.manner.message_model.value if there.manner is not None else None,
            "from_where": there.manner.consume_from.value if there.manner is not None else None,
            "mode": _mode(running),
            "configs": [config_row(name, one) for name, one in sorted(entry.configs.items())],
            "queues": queue_rows(progress, running, self._wall_ms()) if progress else [],
            "members": member_rows(there.clients, running),
            "subscriptions": [subscription_row(one) for one in there.subscriptions],
            "mismatches": mismatch_rows(there.mismatches),
            "dead": dead.messages if dead is not None else 0,
            "unknown": unknown,
        }

    async def member(self, ask: Ask) -> Record:
        client_id = ask.text("client_id")
        info = await self._admin.connections.running_info(
            ask.text("group"), client_id, has_stacks=ask.truth("stacks")
        )
        return running_row(client_id, info)

    # Changing.

    async def create(self, ask: Ask) -> Record:
        name = ask.text("name")
        check_group(name)
        if name in await self._catalogue.groups():
            raise Problem(409, "conflict", f"there is a group {name!r} already")
        config = _changed(GroupConfig(name, retries_max=RETRIES_MAX), ask)
        place = await self._catalogue.place(ask.maybe_text("on"))
        brokers = await self._admin.groups.put(config, on=place)
        self._catalogue.forget()
        return {"done": f"group {name} was created", "brokers": brokers}

    async def change(self, ask: Ask) -> Record:
        entry = await self._entry(ask.text("group"))
        wanted = ask.maybe_text("on")
        changed = []
        for broker, config in sorted(entry.configs.items()):
            if wanted in (None, broker):
                await self._admin.groups.put(_changed(config, ask), on=broker)
                changed.append(broker)
        if not changed:
            raise not_found(f"{wanted} has no group {entry.name!r}")
        self._catalogue.forget()
        return {"done": f"group {entry.name} was changed", "brokers": changed}

    async def delete(self, ask: Ask) -> Record:
        entry = await self._entry(ask.text("group"))
        if ask.is_dry:
            there = await self._admin.connections.client_ids(entry.name)
            dead = await self._admin.dead_letters.count(entry.name)
            progress = await self._progress(entry.name)
            lag = progress.lag if progress is not None else 0
            online = f"; {len(there)} members are online" if there else ""
            return {
                "would": f"delete group {entry.name}, {lag:,} messages behind, with {dead:,} dead"
                f" letters{online}",
                "preview": {"lag": lag, "dead_letters": dead, "members": there},
            }
        keep = ask.truth("keep_offsets")
        brokers = await self._admin.groups.delete(entry.name, keep_offsets=keep)
        self._catalogue.forget()
        return {"done": f"group {entry.name} was deleted", "brokers": brokers}

    # Parts.

    async def _entry(self, name: str) -> GroupEntry:
        entry = (await self._catalogue.groups()).get(name)
        if entry is None:
            self._catalogue.forget()
            entry = (await self._catalogue.groups()).get(name)
        if entry is None:
            raise not_found(f"there is no group {name!r}")
        return entry

    async def _progress(self, group: str) -> GroupProgress | None:
        """The progress of a group; None: it has not consumed anything yet."""
        found, _ = await or_none(self._admin.groups.progress(group))
        return found

    async def _running(
        self, group: str, there: Consumers, on: Sequence[str]
    ) -> dict[str, RunningInfo | None]:
        """Return what members say of themselves, of those that do so in a moment."""

        async def ask(client: str) -> RunningInfo | None:
            return await in_time(self._admin.connections.running_info(group, client, on=on))

        clients = [one.client_id for one in there.clients][:MEMBERS_ASKED_MAX]
        told = await asyncio.gather(*map(ask, clients))
        return dict(zip(clients, told, strict=True))

    def _row(self, entry: GroupEntry) -> Row:
        state = self._sampler.groups.get(entry.name)
        members = self._sampler.members.get(entry.name)
        dead = self._sampler.topics.get(dead_letter_topic(entry.name))
        return {
            "name": entry.name,
            "lag": state.lag if state is not None else None,
            "out": state.consumed if state is not None else None,
            "members": len(members) if members is not None else None,
            "topics": state.topics if state is not None else None,
            "retry": state.retry if state is not None else None,
            "dead": dead.messages if dead is not None else 0,
            "enabled": entry.is_enabled,
        }


def _changed(config: GroupConfig, ask: Ask) -> GroupConfig:
    enabled, broadcast = ask.maybe_truth("enabled"), ask.maybe_truth("broadcast")
    retries = ask.maybe_whole("retry_max")
    return replace(
        config,
        is_enabled=config.is_enabled if enabled is None else enabled,
        may_broadcast=config.may_broadcast if broadcast is None else broadcast,
        retries_max=config.retries_max if retries is None else retries,
        attributes={},
    )


def _mode(running: Mapping[str, RunningInfo | None]) -> str | None:
    """Return `pull` or `pop`, if a member tells: Aerobee's do."""
    told = (info.properties.get(CONSUME_MODE) for info in running.values() if info is not None)
    return next(filter(None, told), None)
