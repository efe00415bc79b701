"""Brokers: one broker name with its replicas, epochs, figures and settings, and changes of them.

The settings of Aerobee's brokers are compared with their defaults, and those that can be changed
while a broker runs are marked; of RocketMQ's brokers neither is known here.
"""

import asyncio
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from aerobee.client.admin.admin import Admin
from aerobee.console.api.broker_rows import BrokerRows, product_of, unknown_of
from aerobee.console.api.listing import Row
from aerobee.console.api.message.explanations import finding_row
from aerobee.console.http.action import GET, PATCH, POST, Action, Ask, Record
from aerobee.console.http.parameters import BODY, Parameter, ValueKind, in_path
from aerobee.console.http.problem import bad_request, not_found
from aerobee.console.session.visitor import Role
from aerobee.console.watch.broker_tables import or_none
from aerobee.console.watch.catalogue import Catalogue
from aerobee.console.watch.figures import AEROBEE
from aerobee.model.route import MASTER_ID, BrokerData

if TYPE_CHECKING:
    from aerobee.app.settings.known_settings import KnownSetting

NO_DEFAULTS = "the defaults of this broker are not known here: it is not Aerobee's"
_NAME = in_path("name", "the name of a broker")
_WANTED = Parameter("settings", BODY, "new values by key", ValueKind.TABLE, is_required=True)


class BrokerPages:
    def __init__(
        self, admin: Admin, catalogue: Catalogue, rows: BrokerRows, wall_ms: Callable[[], int]
    ) -> None:
        self._admin = admin
        self._catalogue = catalogue
        self._rows = rows
        self._wall_ms = wall_ms

    def actions(self) -> tuple[Action, ...]:
        return (
            Action(
                "showBroker",
                GET,
                "/api/brokers/{name}",
                Role.VIEWER,
                "A broker: replicas, epochs, figures, settings, what is wrong",
                self.show,
                (_NAME,),
                command="aerobee broker replicas {name}",
                python="await admin.brokers.config(on={name!r})",
            ),
            Action(
                "changeBroker",
                PATCH,
                "/api/brokers/{name}/config",
                Role.ADMIN,
                "Change settings of a running broker",
                self.change,
                (_NAME, _WANTED),
                confirm="name",
                has_dry_run=True,
                command="aerobee broker config set {settings+} --on {name}",
                python="await admin.brokers.set_config({settings!r}, on={name!r})",
            ),
            Action(
                "transferLeadership",
                POST,
                "/api/brokers/{name}/leader",
                Role.ADMIN,
                "Have another member of a Raft group lead",
                self.transfer,
                (
                    _NAME,
                    Parameter(
                        "to",
                        BODY,
                        "its broker id; else the one that can soonest",
                        ValueKind.WHOLE,
                        bounds=(0, 2**31),
                    ),
                ),
                confirm="name",
                command="aerobee broker transfer {name} [--to {to}]",
            ),
            Action(
                "allowWrites",
                POST,
                "/api/brokers/{name}/writes",
                Role.ADMIN,
                "Take the write permission of a broker away, or give it back",
                self.writes,
                (
                    _NAME,
                    Parameter(
                        "allowed",
                        BODY,
                        "whether producers may write",
                        ValueKind.TRUTH,
                        is_required=True,
                    ),
                ),
                confirm="name",
                command="aerobee broker [undrain?{allowed}][drain?!{allowed}] {name}",
                python="await admin.brokers.[allow?{allowed}][forbid?!{allowed}]_writes({name!r})",
            ),
        )

    async def show(self, ask: Ask) -> Record:
        broker = await self._broker(ask.text("name"))
        group, members = await self._rows.of(broker)
        unknown = unknown_of(members)
        master = broker.addresses.get(MASTER_ID)
        figures: Mapping[str, str] = {}
        config: Mapping[str, str] = {}
        epochs = None
        if master is None:
            unknown["config"] = "there is no master now"
        else:
            (runtime, problem), (settings, _), (known, _) = await asyncio.gather(
                or_none(self._admin.brokers.runtime(on=master)),
                or_none(self._admin.brokers.config(on=master)),
                or_none(self._admin.replicas.epochs(master)),
            )
            if problem is not None:
                unknown["figures"] = problem.message
            figures = runtime[master].figures if runtime else {}
            config = settings[master] if settings else {}
            if known is None:
                unknown["epochs"] = "only brokers of a Raft group or with a controller have them"
            else:
                epochs = [
                    {"epoch": one.epoch, "start": one.start_offset, "end": one.end_offset}
                    for one in known.epochs
                ]
        is_ours = product_of(figures) == AEROBEE
        if not is_ours:
            unknown["config.default"] = NO_DEFAULTS
        from aerobee.app.explaining.replica_causes import explain_replicas

        findings = explain_replicas(group) if group is not None else []
        return {
            "at": self._wall_ms(),
            "name": broker.name,
            "cluster": broker.cluster,
            "members": members,
            "epochs": epochs,
            "figures": [{"key": key, "value": text} for key, text in sorted(figures.items())],
            "config": config_rows(config, is_ours=is_ours),
            "findings": [finding_row(one) for one in findings],
            "unknown": unknown,
        }

    async def change(self, ask: Ask) -> Record:
        broker = await self._broker(ask.text("name"))
        wanted = ask.table("settings")
        if not wanted:
            raise bad_request("there is nothing to change", hint='say {"settings": {key: value}}')
        present = (await self._admin.brokers.config(on=broker.name))[broker.name]
        changes = [
            {"key": key, "from": present.get(key), "to": text} for key, text in wanted.items()
        ]
        preview = {"changes": changes}
        if ask.is_dry:
            words = ", ".join(f"{one['key']} {one['from']} → {one['to']}" for one in changes)
            return {"would": f"change {broker.name}: {words}", "preview": preview}
        await self._admin.brokers.set_config(wanted, on=broker.name)
        return {"done": f"{len(changes)} settings of {broker.name} were changed", **preview}

    async def transfer(self, ask: Ask) -> Record:
        broker = await self._broker(ask.text("name"))
        to = ask.maybe_whole("to")
        address = broker.addresses.get(MASTER_ID) or next(iter(broker.addresses.values()))
        elected = (await self._admin.replicas.elect(address, -1 if to is None else to)).header
        self._catalogue.forget()
        return {"done": f"{elected.master_address or 'another member'} leads {broker.name} soon"}

    async def writes(self, ask: Ask) -> Record:
        broker = await self._broker(ask.text("name"))
        if ask.truth("allowed"):
            counts = await self._admin.brokers.allow_writes(broker.name)
            done = f"producers may write to {broker.name}"
        else:
            counts = await self._admin.brokers.forbid_writes(broker.name)
            done = f"producers leave {broker.name}"
        self._catalogue.forget()
        return {"done": done, "topics": max(counts.values(), default=0)}

    async def _broker(self, name: str) -> BrokerData:
        for one in (await self._catalogue.cluster()).brokers:
            if one.name == name:
                return one
        raise not_found(f"there is no broker {name!r}")


def config_rows(config: Mapping[str, str], *, is_ours: bool) -> list[Row]:
    """Return the settings of a broker, compared with the defaults of Aerobee's brokers."""
    known = _known_settings() if is_ours else {}
    rows = []
    for key, text in sorted(config.items()):
        one = known.get(key)
        rows.append(
            {
                "key": key,
                "value": text,
                "default": one.default if one is not None else None,
                "differs": text != one.default if one is not None else None,
                "hot": one.is_live if one is not None else None,
                "meaning": one.meaning if one is not None else "",
            }
        )
    return rows


@cache
def _known_settings() -> "dict[str, KnownSetting]":
    """Return the settings of brokers by their keys; they are read from the source, once, and half
    of a broker is imported for it."""
    from aerobee.app.settings.known_settings import BROKER, known_settings

    return {one.key: one for one in known_settings(BROKER)}
