"""Puts the duties of a broker together: the callbacks of its rooms for ticks, answers, closed
connections and its end. A slave has fewer than a master, an acting master more than a slave.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from aerobee.ports.clock import Now
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.access.access_assembly import AccessAssembly
from aerobee.service.broker.broker import Duties
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.messaging_assembly import build_rpc_door
from aerobee.service.broker.parts import Parts
from aerobee.service.broker.request_table import Reception
from aerobee.service.broker.staging.round_publishing import RoundPublishing
from aerobee.service.broker.static_topic.static_topic_assembly import StaticTopicAssembly
from aerobee.service.proxy.rpc_door import RpcDoor
from aerobee.storage.store import Store

REST_MS_MAX = 500  # the longest time between two looks at client calls, members, saves, rates
COMPACTION_REST_MS = 5  # between two steps of compaction: some 200,000 messages a second


class _MasterDuties(NamedTuple):
    """Duties of rooms that put messages: a slave's rest until it is a master, or acts as one."""

    on_tick: Sequence[Callable[[Now], None]] = ()
    on_stop: Sequence[Callable[[Now], None]] = ()
    rest_ms: Sequence[Callable[[Now], int]] = ()
    on_round: Sequence[Callable[[Now], None]] = ()
    on_visible: Sequence[Callable[[Now], None]] = ()


def _delivering_duties(parts: Parts) -> _MasterDuties:
    """Messages that wait go on; an acting master's duties."""
    timers = parts.timers.timers
    return _MasterDuties(
        on_tick=(
            parts.delays.on_tick,
            timers.on_tick,
            parts.pops.on_tick,
            parts.transactions.on_tick,
        ),
        on_stop=(parts.delays.stop, parts.transactions.stop, timers.stop, parts.pops.stop),
        rest_ms=(
            parts.delays.rest_ms,
            timers.rest_ms,
            parts.pops.rest_ms,
            parts.transactions.rest_ms,
        ),
    )


def _master_duties(
    parts: Parts, publishing: RoundPublishing, static_topics: StaticTopicAssembly
) -> _MasterDuties:
    sequences = parts.tables.deduplication.sequences
    delivering = _delivering_duties(parts)
    return _MasterDuties(
        on_tick=(*delivering.on_tick, sequences.on_tick, publishing.on_tick, static_topics.on_tick),
        on_stop=(*delivering.on_stop, sequences.stop),
        rest_ms=(*delivering.rest_ms, publishing.rest_ms),
        on_round=(parts.pops.on_round, parts.transactions.on_round),
        on_visible=(parts.pops.on_visible,),
    )


def _duties_by_stage(
    identity: BrokerIdentity,
    parts: Parts,
    publishing: RoundPublishing,
    static_topics: StaticTopicAssembly,
) -> _MasterDuties:
    if identity.takes_messages:
        return _master_duties(parts, publishing, static_topics)
    return _delivering_duties(parts) if identity.is_acting else _MasterDuties()


def _duties_of_calls(rpc: RpcDoor | None) -> _MasterDuties:
    if rpc is None:
        return _MasterDuties()
    messaging = rpc.messaging
    return _MasterDuties((messaging.on_tick,), (messaging.stop,), (messaging.rest_ms,))


def duties_of(
    identity: BrokerIdentity,
    parts: Parts,
    store: Store,
    publishing: RoundPublishing,
    access: AccessAssembly,
    static_topics: StaticTopicAssembly,
    calls: tuple[Reception, int],
) -> Duties:
    """The duties, in the order in which they are called. `calls` has what serves those of gRPC, and
    the largest body."""
    masters = _duties_by_stage(identity, parts, publishing, static_topics)
    rpc = build_rpc_door(identity, calls[1], parts, calls[0])
    called = _duties_of_calls(rpc)
    tables, registration, replication = parts.tables, parts.cluster.registration, parts.replication

    def answered(ticket: object, answer: RemotingCommand | None, now: Now) -> None:
        parts.cluster.routes.on_answer(ticket, answer, now)
        registration.on_answer(ticket, answer, now)
        replication.on_answer(ticket, answer, now)
        access.notices.on_answer(ticket, answer, now)
        static_topics.on_answer(ticket, answer, now)

    def say_goodbye(now: Now) -> None:
        if not replication.is_switching:  # else the next life registers in its place
            parts.outbox.extend(registration.unregister())
        replication.stop(now)

    return Duties(
        on_tick=(
            parts.pulls.on_tick,
            parts.lifecycle.on_tick,
            parts.calls.take_late,
            *called.on_tick,
            *masters.on_tick,
            tables.offsets_file.saving.on_tick,
            tables.progress_marks.saving.on_tick,
            tables.consumer_filters.saving.on_tick,
            parts.status.on_tick,
            parts.watching.on_tick,
            registration.on_tick,
            replication.on_tick,
            access.notices.on_tick,
        ),
        on_closed=(lambda channel, now: parts.close_channel(channel),),
        on_response=parts.calls.on_response,
        on_answer=answered,
        on_stop=(
            say_goodbye,
            *called.on_stop,
            *masters.on_stop,
            tables.offsets_file.saving.close,
            tables.progress_marks.saving.close,
            tables.consumer_filters.saving.close,
        ),
        rest_ms=(
            parts.pulls.rest_ms,
            *called.rest_ms,
            *masters.rest_ms,
            registration.rest_ms,
            replication.rest_ms,
            access.notices.rest_ms,
            lambda now: COMPACTION_REST_MS if store.compaction.is_running else REST_MS_MAX,
        ),
        links=replication.side,
        on_round=(*masters.on_round, replication.on_round),
        heard=parts.watching.times.heard,
        on_sent=parts.watching.times.measure,
        on_visible=masters.on_visible,
        rpc=rpc,
        may_take=replication.may_take,
    )
