"""`ConsumerContext`: session, options, requests and inbox of one consumer, shared by its parts.

On the wire every name is with the namespace; messages show it without.
"""

import contextlib
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from aerobee.client.api.consumer_options import ConsumerOptions
from aerobee.client.api.message import Message
from aerobee.client.connection.session import Session
from aerobee.client.core.consume.start_rule import Start
from aerobee.client.core.namespace import SEPARATOR, with_namespace
from aerobee.client.group.group_requests import GroupRequests
from aerobee.client.group.inbox import Inbox, LaneOf
from aerobee.client.group.offset_stores import (
    BrokerOffsetStore,
    LocalOffsetStore,
    OffsetStore,
    local_folder,
)
from aerobee.client.group.traced_inbox import TracedInbox
from aerobee.errors import TopicNotFound
from aerobee.model.names import retry_topic
from aerobee.model.properties import SHARDING_KEY
from aerobee.model.subscription import BY_TAG, Subscription
from aerobee.protocol.bodies.subscription import make_subscription


@dataclass(frozen=True, slots=True)
class ConsumerContext:
    session: Session
    options: ConsumerOptions
    calls: GroupRequests
    inbox: Inbox
    prefix: str
    """Of topics, left out of what messages say."""
    is_reading: bool = False
    """Not as a member of the group: pulls bring their filter, and move nobody's offsets."""


def consumer_context(
    session: Session, options: ConsumerOptions, *, is_reading: bool = False
) -> ConsumerContext:
    namespace = session.options.namespace
    lane_of = _LANES[options.order]
    inbox = Inbox(options.concurrency, lane_of)
    if session.traces is not None and not is_reading:
        inbox = TracedInbox(options.concurrency, lane_of, options.group, session, session.traces)
    return ConsumerContext(
        session,
        options,
        GroupRequests(session, with_namespace(namespace, options.group)),
        inbox,
        f"{namespace}{SEPARATOR}" if namespace else "",
        is_reading,
    )


def subscriptions_of(context: ConsumerContext) -> list[Subscription]:
    """Subscriptions to every topic and, if there are retries, to the group's retry topic."""
    options = context.options
    namespace = context.session.options.namespace
    version = context.session.clock.now().wall_ms
    found = [
        make_subscription(
            with_namespace(namespace, topic), expression, version, options.expression_type
        )
        for topic, expression in options.topics.items()
    ]
    if not options.is_broadcasting and not context.is_reading:
        found.append(make_subscription(retry_topic(context.calls.group), version=version))
    return found


async def check_filters(context: ConsumerContext, subscriptions: Iterable[Subscription]) -> None:
    """Raise Refused if a broker cannot filter by the expression: once here, not in the log at every
    pull.
    """
    for one in subscriptions:
        if one.expression_type != BY_TAG:
            with contextlib.suppress(TopicNotFound):  # it is waited for
                await context.session.routes.of(one.topic)
                await context.calls.check_filter(one)


def offsets_of(context: ConsumerContext) -> OffsetStore:
    if not context.options.is_broadcasting:
        # Who names a moment means it; the other rules are RocketMQ's, with its surprise.
        is_exact = context.options.start.start is Start.MOMENT
        return BrokerOffsetStore(context.calls, is_exact=is_exact)
    # As Java's client calls itself then: by the process, it would be another after a restart.
    address = context.session.client_id.partition("@")[0]
    folder = context.options.offsets_folder or local_folder()
    return LocalOffsetStore(folder, f"{address}@DEFAULT", context.calls.group)


def _lane_of_key(message: Message) -> tuple[object, Hashable] | None:
    """The lane of a message: by its `order_by`, else by its first key."""
    key = message.properties.get(SHARDING_KEY) or next(iter(message.keys), None)
    return None if key is None else (message.holder, key)


def _lane_of_queue(message: Message) -> tuple[object, Hashable] | None:
    return (message.holder, None)


_LANES: dict[str, LaneOf | None] = {
    "none": None,
    "queue": _lane_of_queue,
    "key": _lane_of_key,
}
