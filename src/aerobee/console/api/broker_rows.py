"""Rows of brokers: every member of every broker name, with its figures and its standing.

Rates and the standing of slaves are the sampler's; of one broker its page asks for the latter.
"""

from collections.abc import Mapping
from typing import Any

from aerobee.client.admin.replica_group import ReplicaGroup
from aerobee.console.api.listing import Row
from aerobee.console.watch.catalogue import Catalogue
from aerobee.console.watch.figures import (
    AEROBEE,
    APACHE,
    days_left,
    disk_space,
    flush_behind,
    put_latency,
    waiting_by_level,
)
from aerobee.console.watch.sampler import BrokerState, Sampler
from aerobee.model.replica_status import UNKNOWN
from aerobee.model.route import MASTER_ID, BrokerData

WARN, CLEAN, STOP = (0.75, 0.85, 0.90)
"""RocketMQ's limits of a disk: old files go early, go at once, and no message is taken."""
NO_HALF = "RocketMQ's brokers report p99 and p99.9 of puts, and no p50"
NO_LATENCY = "this broker does not report the latency of puts: RocketMQ's newer ones do"


class BrokerRows:
    def __init__(self, catalogue: Catalogue, sampler: Sampler) -> None:
        self._catalogue = catalogue
        self._sampler = sampler

    async def all(self) -> list[Row]:
        """Return the rows of all brokers, masters before their slaves."""
        replicas = self._sampler.replicas
        brokers = (await self._catalogue.cluster()).brokers
        return [row for broker in brokers for row in self._rows(broker, replicas.get(broker.name))]

    async def of(self, broker: BrokerData) -> tuple[ReplicaGroup | None, list[Row]]:
        """Return the members of one broker name as they are now, if it has slaves, and its rows."""
        replicas = await self._sampler.replicas_of(broker)
        return replicas, self._rows(broker, replicas)

    def _rows(self, broker: BrokerData, replicas: ReplicaGroup | None) -> list[Row]:
        return [
            self._row(broker, number, address, replicas)
            for number, address in sorted(broker.addresses.items())
        ]

    def _row(
        self, broker: BrokerData, number: int, address: str, replicas: ReplicaGroup | None
    ) -> Row:
        is_master = number == MASTER_ID
        state = self._sampler.brokers.get(broker.name) if is_master else None
        row: Row = {
            "cluster": broker.cluster,
            "name": broker.name,
            "id": number,
            "address": address,
            "role": "MASTER" if is_master else "SLAVE",
            "is_master": is_master,
            "replica": None,
            "problem": state.problem or None if state is not None else None,
            **_figures(state),
            "transactions": self._sampler.transactions.get(broker.name) if is_master else None,
        }
        if state is not None and state.info is not None:
            by_level = sum(waiting_by_level(state.info).values())
            row["delayed"] = by_level + self._sampler.timers.get(broker.name, 0)
        if replicas is not None:
            row |= _standing(replicas, number)
        return row


def unknown_of(rows: list[Row]) -> dict[str, str]:
    """Return the reasons for what is missing in the rows of masters."""
    masters = [row for row in rows if row["is_master"] and not row["problem"]]
    unknown = {}
    if any(row["put_ms"] is None for row in masters):
        unknown["brokers.put_ms"] = NO_LATENCY
    elif any("p50" not in row["put_ms"] for row in masters):
        unknown["brokers.put_ms.p50"] = NO_HALF
    if any(row["transactions"] is None for row in masters):
        unknown["brokers.transactions"] = "only Aerobee's brokers tell how many are open"
    return unknown


def _figures(state: BrokerState | None) -> Row:
    names = ("version", "product", "started", "in", "out", "in_bytes", "put_ms", "disk")
    sizes = ("end_offset", "log_bytes", "oldest", "dispatch_behind", "flush_behind", "delayed")
    empty: Row = dict.fromkeys((*names, *sizes))
    if state is None or state.info is None:
        return empty
    info, rates = state.info, state.rates
    written = state.growth.bytes_a_second() or 0.0
    disk: dict[str, Any] = {
        "used": info.disk_used_ratio,
        "warn": WARN,
        "clean": CLEAN,
        "stop": STOP,
        "days_left": days_left(disk_space(info), STOP, written),
    }
    return {
        **empty,
        "version": info.version,
        "product": product_of(info.figures),
        "started": info.started_ms or None,
        "in": rates.stored if rates is not None else None,
        "out": rates.read if rates is not None else None,
        "in_bytes": rates.bytes if rates is not None else None,
        "put_ms": put_latency(info),
        "disk": disk,
        "end_offset": info.log_end,
        "log_bytes": info.log_end - info.log_start,
        "oldest": info.earliest_ms if info.earliest_ms > 0 else None,
        "dispatch_behind": int(info.figures.get("dispatchBehindBytes", "0") or 0),
        "flush_behind": flush_behind(info),
    }


def product_of(figures: Mapping[str, str]) -> str:
    """Return whose broker it is: only RocketMQ's report the distribution of put times."""
    return APACHE if "putMessageDistributeTime" in figures else AEROBEE


def _standing(replicas: ReplicaGroup, number: int) -> Row:
    member = next((one for one in replicas.members if one.broker_id == number), None)
    if member is None:
        return {}
    told: Row = {"role": member.role or None, "problem": member.problem or None}
    told["end_offset"] = None if member.end_offset == UNKNOWN else member.end_offset
    if number != MASTER_ID:
        standing = replicas.standing(member)
        told["replica"] = {
            "lag_bytes": None if standing.lag_bytes == UNKNOWN else standing.lag_bytes,
            "lag_ms": None if standing.lag_ms == UNKNOWN else standing.lag_ms,
            "in_sync": standing.is_in_sync,
            "why": standing.why,
        }
    return told
