"""Rows of a group's page: queues with their owners, members, subscriptions, settings.

Values of the admin client become objects for JSON; nobody is asked here.
"""

from collections.abc import Iterable, Mapping

from aerobee.client.admin.groups import GroupProgress
from aerobee.console.api.listing import Row
from aerobee.model.group import GroupConfig
from aerobee.model.names import is_retry_topic
from aerobee.model.subscription import Subscription
from aerobee.protocol.bodies.connections import Connection, version_name
from aerobee.protocol.bodies.running_info import RunningInfo


def config_row(broker: str, config: GroupConfig) -> Row:
    return {
        "broker": broker,
        "enabled": config.is_enabled,
        "broadcast": config.may_broadcast,
        "retry_max": config.retries_max,
        "retry_queues": config.retry_queues,
        "orderly": config.is_orderly,
        "attributes": dict(config.attributes),
    }


def queue_rows(
    progress: GroupProgress, running: Mapping[str, RunningInfo | None], now_ms: int
) -> list[Row]:
    """Return a row for each queue; the owner is the member that says that it has the queue."""
    owners = {
        queue: client
        for client, info in running.items()
        if info is not None
        for queue, held in info.queues.items()
        if not held.is_dropped
    }
    rows = []
    for queue, one in progress.queues.items():
        consumed = one.last_timestamp if one.last_timestamp > 0 else None
        behind = now_ms - consumed if consumed is not None and one.lag > 0 else None
        rows.append(
            {
                "topic": queue.topic,
                "broker": queue.broker_name,
                "queue": queue.queue_id,
                "offset": one.consumer_offset,
                "end": one.broker_offset,
                "lag": max(0, one.lag),
                "in_flight": max(0, one.in_flight),
                "owner": owners.get(queue),
                "consumed_at": consumed,
                "behind_ms": behind if one.lag > 0 else 0,
                "is_retry": is_retry_topic(queue.topic),
            }
        )
    return rows


def connection_row(client: Connection) -> Row:
    return {
        "client_id": client.client_id,
        "address": client.address,
        "protocol": client.protocol_type,
        "language": client.language,
        "version": version_name(client.version),
    }


def member_rows(
    clients: Iterable[Connection], running: Mapping[str, RunningInfo | None]
) -> list[Row]:
    return [
        {**connection_row(one), **_member_figures(running.get(one.client_id))} for one in clients
    ]


def running_row(client_id: str, info: RunningInfo) -> Row:
    return {
        "client_id": client_id,
        "properties": dict(info.properties),
        "queues": [
            {
                "topic": queue.topic,
                "broker": queue.broker_name,
                "queue": queue.queue_id,
                "offset": held.commit_offset,
                "waiting": held.count,
                "bytes": held.size,
                "pulled_at": held.pull_wall_ms or None,
                "is_locked": held.is_locked,
            }
            for queue, held in sorted(info.queues.items())
        ],
        "subscriptions": [subscription_row(one) for one in info.subscriptions],
        "stacks": info.stacks or None,
    }


def subscription_row(one: Subscription) -> Row:
    return {"topic": one.topic, "expression": one.expression, "type": one.expression_type}


def mismatch_rows(mismatches: Mapping[str, Mapping[str, Iterable[str]]]) -> list[Row]:
    return [
        {
            "topic": topic,
            "said": [{"expression": text, "clients": list(who)} for text, who in said.items()],
        }
        for topic, said in mismatches.items()
    ]


def counts_times(info: RunningInfo) -> bool:
    """Whether a member counts what it consumes: Aerobee's own do not, and report zeros."""
    return info.properties.get("PROP_CLIENT_VERSION") != "AEROBEE"


def _member_figures(info: RunningInfo | None) -> Row:
    if info is None:
        return {"queues": None, "consume_ms": None, "ok": None, "failed": None}
    queues = {"queues": sum(not held.is_dropped for held in info.queues.values())}
    if not counts_times(info):
        return {**queues, "consume_ms": None, "ok": None, "failed": None}
    rates = list(info.rates.values())
    return {
        **queues,
        "consume_ms": max((one.consume_ms for one in rates), default=None),
        "ok": sum(one.consumed_a_second for one in rates),
        "failed": sum(one.failed_a_second for one in rates),
    }
