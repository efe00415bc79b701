"""The store of a broker, read as it grows, and what is still to become of its messages."""

from typing import TYPE_CHECKING

from aerobee.app.chaos.log_check import SentOutcome
from aerobee.model.message import StoredMessage
from aerobee.model.names import RETRY_PREFIX, SCHEDULE_TOPIC, TRANSACTION_HALF_TOPIC
from aerobee.model.properties import (
    DELAY,
    REAL_TOPIC,
    TRANSACTION_PREPARED,
    TRANSACTION_PREPARED_QUEUE_OFFSET,
)
from aerobee.protocol.bodies.open_transactions import decode_open_transactions
from aerobee.protocol.message.stored_message import decode_records
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.text.json_text import parse
from aerobee.sim.broker_node import BrokerNode
from aerobee.storage.store import Store
from tests.sim.dead_letters import dead_names
from tests.sim.history import Attempt, Place, name_of, number_of
from tests.sim.timekeeper import waiting_alarm
from tests.store_kit import EVERYTHING

if TYPE_CHECKING:
    from tests.sim.world import World

WINDOW_SLACK_MS = 20  # between two steps of a store
DISPATCH_MS_MAX = 3_000  # until a disk that was full has queues for everything in the log

Key = tuple[bytes, str, int]
"""Name, topic and how often it was tried: what tells the deliveries of a message apart."""


class StoredView:
    """The queues of one process of a broker."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.queues: dict[tuple[str, int], list[StoredMessage]] = {}

    def refresh(self) -> None:
        """Read what came since the last look."""
        for queue in self._store.queues():
            messages = self.queues.setdefault((queue.topic.decode(), queue.queue_id), [])
            offset = messages[-1].queue_offset + 1 if messages else queue.min_offset
            while offset < queue.max_offset:
                read = self._store.read(queue.topic, queue.queue_id, offset, 100, EVERYTHING)
                messages += decode_records(b"".join(read.slices))
                assert read.next_offset > offset, "a read inside a queue goes on"
                offset = read.next_offset

    def what_is_left(self, node: BrokerNode, world: "World") -> str:
        """The first message that is not where it belongs yet."""
        broker = node.name
        if node.store.failure is not None:
            return f"{broker} is about to end"
        self.refresh()
        if world.timeline.now_ms < world.calm_ms + DISPATCH_MS_MAX:
            for attempt in world.history.acknowledged(broker):
                if attempt.name not in self.names_at(attempt.place):
                    return f"{attempt.name!r} is in no queue of {broker}"
        if node.store.flushed_offset < node.store.end_offset:
            return f"{broker} has something to sync, which is not seen before"
        open_count = count_open(node)
        if open_count:
            return f"{open_count} transactions of {broker} are open"
        waiting = still_scheduled(node)
        if waiting:
            return f"{waiting} of {broker}"
        alarm = waiting_alarm(self)
        if alarm:
            return f"{alarm!r} of {broker} waits for its time"
        delivered = self._delivered()
        dead = {taste.group: dead_names(self.queues, taste.group) for taste in world.plan.tastes}
        for (topic, queue_id), messages in self.queues.items():
            place = Place(broker, topic, queue_id)
            for taste in world.plan.tastes:
                if topic in taste.topics or topic == f"{RETRY_PREFIX}{taste.group}":
                    done = world.history.done[taste.group, place]
                    processed = world.history.processed[taste.group]
                    for message in messages:
                        name = name_of(message.body)
                        if taste.is_popping and number_of(name) in processed:
                            continue  # wherever it was popped from
                        if taste.is_popping and name in dead[taste.group]:
                            continue  # it came back as often as it may, see `early_deaths`
                        if message.queue_offset not in done:
                            return f"{name!r} at {message.queue_offset} of {place}: {taste.group}"
            if topic == SCHEDULE_TOPIC:
                for message in messages:
                    if scheduled_key(message) not in delivered:
                        return f"{name_of(message.body)!r} of {place} is not delivered"
        return ""

    def _delivered(self) -> set[Key]:
        return {
            (name_of(message.body), topic, message.reconsume_times)
            for (topic, _), messages in self.queues.items()
            if topic != SCHEDULE_TOPIC
            for message in messages
            if is_copy(message)
        }

    def names_at(self, place: Place) -> set[bytes]:
        """Messages that were sent to a queue."""
        messages = self.queues.get((place.topic, place.queue_id), ())
        return {name_of(message.body) for message in messages if is_original(message)}

    def excuse(self, node: BrokerNode, world: "World") -> None:
        """After a loss that may be: it must be a tail, of what was acknowledged in a short time."""
        self.refresh()
        mine = [a for a in world.history.attempts.values() if a.place.broker == node.name]
        lost, there = [], []
        for attempt in mine:
            is_there = attempt.name in self.names_at(attempt.place)
            if is_there:
                there.append(attempt)
            elif attempt.outcome is SentOutcome.ACKNOWLEDGED and not attempt.is_excused:
                attempt.is_excused = True
                lost.append(attempt)
        if lost:
            self._check_tail(lost, there, node, world)

    def _check_tail(
        self, lost: list[Attempt], there: list[Attempt], node: BrokerNode, world: "World"
    ) -> None:
        world.say(f"{node.name} lost {len(lost)}: {lost[0].name!r} to {lost[-1].name!r}")
        first = min(lost, key=lambda attempt: attempt.ended)
        newest = max(there, key=lambda attempt: attempt.began, default=None)
        if newest is not None and newest.began > first.ended:
            world.history.breach(
                "hole", f"{node.name} lost {first.name!r} and has {newest.name!r}, sent later"
            )
        window_ms = max(attempt.began_ms for attempt in lost) - first.ended_ms
        if window_ms > world.loss_ms_max(node) + WINDOW_SLACK_MS:
            world.history.breach("lost too much", f"{node.name} lost {window_ms} ms")


def still_scheduled(node: BrokerNode) -> str:
    """A delay level that has something to deliver, as the broker says."""
    answer = node.ask(RemotingCommand(RequestCode.GET_BROKER_RUNTIME_INFO))
    said = parse(bytes(answer.body))
    assert isinstance(said, dict)
    table = said["table"]
    assert isinstance(table, dict)
    for name, text in table.items():
        if str(name).startswith("scheduleMessageOffset_"):
            at, _, end = str(text).partition(",")
            if int(at) < int(end):
                return f"{name} is {text}"
    return ""


def count_open(node: BrokerNode) -> int:
    """How many transactions are open, as the broker says."""
    answer = node.ask(RemotingCommand(RequestCode.LIST_OPEN_TRANSACTIONS))
    return decode_open_transactions(bytes(answer.body)).open_count


def is_original(message: StoredMessage) -> bool:
    """Whether a producer sent it there: as it is, or to wait."""
    if message.reconsume_times:
        return False
    if message.topic == TRANSACTION_HALF_TOPIC:
        return TRANSACTION_PREPARED_QUEUE_OFFSET not in message.properties
    return message.topic == SCHEDULE_TOPIC or not is_copy(message)


def is_copy(message: StoredMessage) -> bool:
    """Whether a broker put it there: after its delay, a retry, a dead letter, a commit."""
    return (
        bool(message.reconsume_times)
        or message.properties.get(DELAY, "0") != "0"
        or TRANSACTION_PREPARED in message.properties
    )


def scheduled_key(message: StoredMessage) -> Key:
    return name_of(message.body), message.properties[REAL_TOPIC], message.reconsume_times
