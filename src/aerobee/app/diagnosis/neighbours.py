"""Facts of the cluster as seen from here: name servers' routes, reachable brokers, brokers' clocks.

Name servers are asked one by one: their routes may differ.
"""

import asyncio
import re
import time
from dataclasses import dataclass, field, replace
from ipaddress import ip_address

from aerobee.app.diagnosis.addresses import AddressFacts, NameServerFacts
from aerobee.app.diagnosis.clock import broker_offset
from aerobee.app.load.measure.cluster_facts import is_here
from aerobee.client.admin.admin import Admin, admin
from aerobee.client.admin.replica_group import ReplicaGroup
from aerobee.client.core.target import parse_target
from aerobee.errors import AerobeeError
from aerobee.model.route import MASTER_ID

CONNECT_SECONDS = 2.0
_RUNTIME = re.compile(r"(\d+) days, (\d+) hours, (\d+) minutes, (\d+) seconds")


@dataclass(slots=True)
class Neighbours:
    name_servers: list[NameServerFacts] = field(default_factory=list)
    brokers: list[AddressFacts] = field(default_factory=list)
    offsets: dict[str, float] = field(default_factory=dict)
    replicas: list[ReplicaGroup] = field(default_factory=list)
    """Masters and slaves, as the first name server that answers has them."""


async def look_at(target: str, *, is_chosen: bool) -> Neighbours:
    """Collect the facts. `is_chosen`: an address was given; else the default is tried, and may be
    absent."""
    found = Neighbours()
    place = parse_target(target)
    for address in place.name_servers:
        only = replace(place, name_servers=(address,))
        try:
            async with admin(only, timeout=CONNECT_SECONDS, connect_timeout=CONNECT_SECONDS) as one:
                brokers = [
                    (broker.name, number, advertised)
                    for broker in (await one.cluster()).brokers
                    for number, advertised in sorted(broker.addresses.items())
                ]
                found.name_servers.append(NameServerFacts(address, is_chosen=is_chosen))
                await _look_at_brokers(one, address, brokers, found)
                found.replicas = found.replicas or await one.replicas.groups()
        except AerobeeError as error:
            found.name_servers.append(NameServerFacts(address, error.message, is_chosen))
    return found


async def _look_at_brokers(
    asking: Admin, name_server: str, brokers: list[tuple[str, int, str]], found: Neighbours
) -> None:
    host = name_server.rpartition(":")[0]
    is_near = _is_loopback(host) or is_here(host)
    for name, number, address in brokers:
        complaint = await _complaint(address)
        found.brokers.append(
            AddressFacts(
                name,
                number,
                address,
                name_server,
                complaint,
                _is_loopback(address.rpartition(":")[0]),
                is_near,
            )
        )
        if not complaint and number == MASTER_ID and name not in found.offsets:
            offset = await _offset(asking, address)
            if offset is not None:
                found.offsets[name] = offset


async def _complaint(address: str) -> str:
    """Return why no connection can be made; empty: one can."""
    host, _, port = address.rpartition(":")
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            _, writer = await asyncio.open_connection(host.strip("[]"), int(port))
    except TimeoutError:
        return f"no answer within {CONNECT_SECONDS:.0f} s"
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)
    writer.close()
    return ""


async def _offset(asking: Admin, address: str) -> float | None:
    before = time.time() * 1000
    try:
        runtime = (await asking.brokers.runtime(on=address))[address]
    except AerobeeError:
        return None
    after = time.time() * 1000
    said = _RUNTIME.search(runtime.figures.get("runtime", ""))
    if said is None or not runtime.started_ms:
        return None
    days, hours, minutes, seconds = map(int, said.groups())
    running = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    return broker_offset(runtime.started_ms, running, before, after)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
