"""The judgement when a story is over: of every log, of every group, of every offset."""

import itertools
from collections import Counter
from collections.abc import Iterator

from aerobee.app.chaos.log_check import Found, Queue, Sent, SentOutcome, check
from aerobee.model.flags import TransactionType
from aerobee.model.message import StoredMessage
from aerobee.model.names import (
    DEAD_LETTER_PREFIX,
    RETRY_PREFIX,
    SCHEDULE_TOPIC,
    SYSTEM_TOPIC_PREFIX,
    TRANSACTION_GIVEN_UP_TOPIC,
    TRANSACTION_HALF_TOPIC,
    TRANSACTION_OP_TOPIC,
)
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.text.json_text import parse
from aerobee.service.broker.pop.revive.revive_queue import REVIVE_GROUP
from aerobee.service.broker.transaction.open_half_recovery import OFFSETS_GROUP
from aerobee.sim.broker_node import BrokerNode
from tests.sim.consumer import Taste
from tests.sim.dead_letters import dead_names, early_deaths
from tests.sim.history import Ending, Place, name_of, number_of
from tests.sim.plan import POPPERS
from tests.sim.stored import count_open, is_original, still_scheduled
from tests.sim.timekeeper import ALARMS, judge_alarms, waiting_alarm
from tests.sim.world import World

QUIET_MS = 500
RESTART_MS_MAX = 8_000
GOES_ON = (f"{RETRY_PREFIX}{POPPERS}_", f"{DEAD_LETTER_PREFIX}{POPPERS} ")
"""Where popped messages come by themselves, whoever is there."""
ACKS_MIN = 5  # a story in which nothing was sent shows nothing


def judge(world: World) -> None:
    """Everything that is wrong goes to the breaches."""
    for broker in world.brokers:
        world.views[broker.name].refresh()
        _judge_log(world, broker.name)
        _judge_handed(world, broker.name)
        _judge_transactions(world, broker.name)
        judge_alarms(world, broker.name)
        _judge_offsets(world, broker.name)
    for taste in world.plan.tastes:
        _judge_group(world, taste)
    acks = sum(a.outcome is SentOutcome.ACKNOWLEDGED for a in world.history.attempts.values())
    if acks < ACKS_MIN:
        world.history.breach("no progress", f"{acks} messages were acknowledged")


def judge_restarted(world: World) -> None:
    """Everything is stopped in order, and there again."""
    world.end_clients()
    world.pass_time(QUIET_MS)
    while not world.history.breaches and not all(_is_quiet(world, one) for one in world.brokers):
        world.pass_time(QUIET_MS)
    # A timer with a file that could not be synced saves no more: all it did may be done again.
    unsaved = [broker.name for broker in world.brokers if broker.has_failing_disk]
    before = {broker.name: _picture(world, broker.name, unsaved) for broker in world.brokers}
    for broker in world.brokers:
        broker.stop()
    world.pass_time(RESTART_MS_MAX)
    for broker in world.brokers:
        if not broker.is_serving:
            world.history.breach("late", f"{broker.name} is not back")
            continue
        after = _picture(world, broker.name, unsaved)
        different = sorted(
            f"{key}: {before[broker.name].get(key)}, then {after.get(key)}"
            for key in before[broker.name].keys() | after.keys()
            if before[broker.name].get(key) != after.get(key)
            and (key in before[broker.name] or not key.startswith(GOES_ON))
        )
        if different:
            world.history.breach("restarted otherwise", f"{broker.name}: {different[0]}")


def _is_quiet(world: World, broker: BrokerNode) -> bool:
    """Whether nothing is on its way: to the disk, or to a queue after its delay."""
    store = broker.store
    if store.flushed_offset < store.end_offset or count_open(broker) or still_scheduled(broker):
        return False
    view = world.views[broker.name]
    view.refresh()
    return not waiting_alarm(view)


def _picture(world: World, broker: str, unsaved: list[str]) -> dict[str, object]:
    """Messages by where they are, offsets by group and queue."""
    view = world.views[broker]
    view.refresh()
    found: dict[str, object] = {
        f"{topic} {queue_id} {message.queue_offset}": (message.log_offset, name_of(message.body))
        for (topic, queue_id), messages in view.queues.items()
        if not topic.startswith(SYSTEM_TOPIC_PREFIX) and not (topic == ALARMS and broker in unsaved)
        for message in messages
    }
    return found | {
        str(key): offset
        for key, offset in _offsets(world, broker).items()
        if key[0] not in (POPPERS, REVIVE_GROUP)
    }


def _judge_log(world: World, broker: str) -> None:
    """Against what producers know."""
    sent = [
        attempt.sent()
        for attempt in world.history.attempts.values()
        if attempt.place.broker == broker and not _may_be_gone(world, broker, attempt.name)
    ]
    sent.sort(key=lambda one: one.began)
    found: dict[Queue, list[Found]] = {}
    copies = itertools.count()
    for (topic, queue_id), messages in world.views[broker].queues.items():
        queue = (topic.encode(), queue_id)
        if topic in (TRANSACTION_OP_TOPIC, ALARMS) or topic.startswith(SYSTEM_TOPIC_PREFIX):
            continue  # the broker's own book; what is judged by itself
        for message in messages:
            name = name_of(message.body)
            if not is_original(message):
                # The broker's own: it may be there more than once, but only of what was sent.
                if name not in world.history.attempts:
                    world.history.breach("invented", f"{name!r} in {topic} of {broker}")
                name = b"%b copy %d" % (name, next(copies))
                sent.append(Sent(name, queue, message.body, SentOutcome.UNKNOWN, 0, 0))
            found.setdefault(queue, []).append(Found(name, message.queue_offset, message.body))
    for anomaly in check(sent, found):
        world.history.breach(anomaly.kind, f"{broker}: {anomaly.name!r} {anomaly.detail}")


def _may_be_gone(world: World, broker: str, name: bytes) -> bool:
    """Lost with a power cut that may lose; an answer can arrive after it, too."""
    attempt = world.history.attempts[name]
    if attempt.is_excused:
        return True
    return (
        attempt.outcome is SentOutcome.ACKNOWLEDGED
        and name not in world.views[broker].names_at(attempt.place)
        and any(attempt.began_ms <= at_ms <= attempt.ended_ms for at_ms in world.losses(broker))
    )


def _judge_handed(world: World, broker: str) -> None:
    """What consumers saw is there, where they saw it."""
    for place, offsets in world.history.handed.items():
        if place.broker != broker:
            continue
        messages = world.views[broker].queues.get((place.topic, place.queue_id), [])
        there = {int(message.queue_offset): name_of(message.body) for message in messages}
        for offset, name in offsets.items():
            if there.get(offset) != name:
                world.history.breach("vanished", f"{name!r} at {offset} of {place}")


def _judge_transactions(world: World, broker: str) -> None:
    """Every half became what its producer said, or was given up."""
    queues = world.views[broker].queues
    half_queue, given_up_queue = (TRANSACTION_HALF_TOPIC, 0), (TRANSACTION_GIVEN_UP_TOPIC, 0)
    halves = {name_of(message.body) for message in queues.get(half_queue, ())}
    given_up = {name_of(message.body) for message in queues.get(given_up_queue, ())}
    committed = Counter(
        name_of(message.body)
        for message in _all_of(world, broker)
        if message.transaction_type is TransactionType.COMMIT and not message.reconsume_times
    )
    lives = 1 + len(world.ends.get(broker, ()))
    for name in halves | set(committed):
        attempt = world.history.attempts[name]
        count = committed[name]
        if count and attempt.ending is not Ending.COMMIT:
            world.history.breach("committed", f"{name!r} of {broker} was {attempt.ending}")
        if count > lives:
            world.history.breach("committed", f"{name!r} of {broker} {count} times")
        is_expected = attempt.ending is not Ending.NEVER and (
            count or attempt.ending is Ending.ROLLBACK
        )
        if not is_expected and name not in given_up:
            world.history.breach("lost transaction", f"{name!r} of {broker}: {attempt.ending}")


def _all_of(world: World, broker: str) -> Iterator[StoredMessage]:
    for messages in world.views[broker].queues.values():
        yield from messages


def _judge_offsets(world: World, broker: str) -> None:
    """No group is past what it is done with, or past the end."""
    for (group, place), offset in _offsets(world, broker).items():
        if group in (OFFSETS_GROUP, REVIVE_GROUP, POPPERS):
            continue  # the broker's own, and one whose offsets go before it
        world.history.see_offset(group, place, offset)


def _offsets(world: World, broker: str) -> dict[tuple[str, Place], int]:
    """How far groups are, as the broker has it."""
    node = next(node for node in world.brokers if node.name == broker)
    answer = node.ask(RemotingCommand(RequestCode.GET_ALL_CONSUMER_OFFSET))
    said = parse(bytes(answer.body))
    assert isinstance(said, dict)
    table = said["offsetTable"]
    assert isinstance(table, dict)
    found = {}
    for key, offsets in table.items():
        topic, _, group = str(key).partition("@")
        assert isinstance(offsets, dict)
        for queue_id, offset in offsets.items():
            assert isinstance(offset, int)
            found[group, Place(broker, topic, int(str(queue_id)))] = offset
    return found


def _judge_group(world: World, taste: Taste) -> None:
    """It consumed everything that is there for it."""
    processed = world.history.processed[taste.group]
    excused = {
        back.number
        for back in world.history.handed_back
        if back.group == taste.group
        and any(back.at_ms <= at_ms for at_ms in world.losses(back.broker))
    }
    dead = {
        number_of(name)
        for view in world.views.values()
        for name in dead_names(view.queues, taste.group)
    }
    for broker, view in world.views.items():
        for early in early_deaths(view.queues, taste.group):
            world.history.breach("died early", f"{broker}: {early}")
        for (topic, _), messages in view.queues.items():
            for message in messages:
                number = number_of(name_of(message.body))
                if (
                    topic in taste.topics
                    and _is_wanted(taste, message)
                    and number not in processed
                    and number not in dead
                    and number not in excused
                ):
                    world.history.breach(
                        "not consumed", f"{number!r} of {broker} {topic} by {taste.group}"
                    )


def _is_wanted(taste: Taste, message: StoredMessage) -> bool:
    assert message.topic != SCHEDULE_TOPIC
    return taste.tag in ("*", message.properties.get("TAGS"))
