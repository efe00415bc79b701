"""A story of a static topic by its seed: an administrator moves and grows it and is interrupted,
brokers are killed and lose power, producers and a consumer go on, and time passes.

    python -m tests.sim --static 42         one of them again

At any moment: a reader is never sent back, and a committed offset is one that was committed. At the
end: the consumer has read what was acknowledged, once, in the order of each logical queue.
"""

import random
import time
from collections import Counter

from aerobee.errors import Misuse, RemoteAnswer, RequestTimeout
from aerobee.model.mapping_plan import MappingPlan
from aerobee.model.queue_mapping import NO_BROKER, TopicMapping, leading_brokers
from aerobee.protocol.message.stored_message import decode_records
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.static_topic.expired_parts import ROUND_MS
from tests.broker_kit import SYNC, pull_fields
from tests.sim.history import Breach
from tests.sim.runner import Told
from tests.static_topic_kit import NAMES, TOPIC, StaticBrokers, run

STEPS = 60
QUEUES, QUEUES_MAX = 2, 5
WITH_OFFSET = (
    ResponseCode.PULL_NOT_FOUND,
    ResponseCode.PULL_RETRY_IMMEDIATELY,
    ResponseCode.PULL_OFFSET_MOVED,
)


class LogicalQueueStory:
    """What was acknowledged in a logical queue, and what its consumer has read and committed."""

    def __init__(self) -> None:
        self.acknowledged: list[bytes] = []
        self.read: list[tuple[int, bytes]] = []
        self.at = 0
        self.commits: set[int] = set()


class StaticTopicStory:
    def __init__(self, seed: int) -> None:
        self.counts: Counter[str] = Counter()
        self.trace: list[str] = []
        self._draw = random.Random(seed)
        self._brokers = StaticBrokers(SYNC)
        self._brokers.create(QUEUES, *self._some_brokers())
        self._queues = [LogicalQueueStory() for _ in range(QUEUES)]
        self._unfinished: MappingPlan | None = None
        self._stop_at = 0

    def tell(self) -> None:
        steps = {
            self._send: 12,
            self._read: 8,
            self._commit: 2,
            self._change: 3,
            self._apply_old: 1,
            self._die: 2,
            self._wait: 2,
        }
        for step in self._draw.choices([*steps], [*steps.values()], k=STEPS):
            self.trace.append(step.__name__.strip("_"))
            step()
        self._finish()
        self._wait()
        for number, queue in enumerate(self._queues):
            while self._pull(number):
                pass
            read = [body for _, body in queue.read]
            assert read == queue.acknowledged, f"queue {number}: {read} of {queue.acknowledged}"
            offsets = [offset for offset, _ in queue.read]
            assert offsets == sorted(set(offsets)), f"queue {number}: {offsets}"

    # Producers and a consumer.

    def _number(self) -> int:
        return self._draw.randrange(len(self._queues))

    def _leader(self, number: int) -> str:
        return leading_brokers(self._brokers.infos()).get(number, NO_BROKER)

    def _send(self) -> None:
        number = self._number()
        leader = self._leader(number)
        if leader == NO_BROKER:
            return
        bodies = self._queues[number].acknowledged
        body = b"%d %d" % (number, len(bodies))
        if self._brokers.send(number, body, on=leader).code == ResponseCode.SUCCESS:
            bodies.append(body)
            self.counts["acknowledged"] += 1

    def _read(self) -> None:
        number = self._number()
        for _ in range(self._draw.randrange(1, 4)):
            self._pull(number)

    def _pull(self, number: int) -> bool:
        """Pull once; return whether the consumer has gone on."""
        queue = self._queues[number]
        leader = self._leader(number)
        if leader == NO_BROKER:
            return False
        fields = pull_fields(topic=TOPIC, queueId=number, queueOffset=queue.at)
        answer = self._brokers.ask_at(leader, RequestCode.PULL_MESSAGE, number, fields)
        said = answer.ext_fields
        if answer.code == ResponseCode.SUCCESS:
            delta = int(said["offsetDelta"])
            records = decode_records(bytes(answer.body))
            queue.read += [(one.queue_offset + delta, one.body) for one in records]
        elif answer.code not in WITH_OFFSET:
            return False
        before, queue.at = queue.at, int(said["nextBeginOffset"])
        assert queue.at >= before, f"a reader at {before} was sent back to {queue.at}"
        return queue.at > before

    def _commit(self) -> None:
        number = self._number()
        queue = self._queues[number]
        leader = self._leader(number)
        if leader == NO_BROKER:
            return
        fields = {"consumerGroup": "g", "commitOffset": queue.at}
        update, query = RequestCode.UPDATE_CONSUMER_OFFSET, RequestCode.QUERY_CONSUMER_OFFSET
        if self._brokers.ask_at(leader, update, number, fields).code == ResponseCode.SUCCESS:
            # A reader before the oldest part, which has expired, is at the start of that part.
            queue.commits.add(max(queue.at, self._start(number, leader)))
        answer = self._brokers.ask_at(leader, query, number, {"consumerGroup": "g"})
        if answer.code == ResponseCode.SUCCESS:
            found = int(answer.ext_fields["offset"])
            assert found in queue.commits, f"{found} was never committed to queue {number}"

    def _start(self, number: int, leader: str) -> int:
        """The logical offset of the oldest part."""
        return self._brokers.known()[leader].mapping.hosted[number][0].logic_offset

    # An administrator.

    def _some_brokers(self) -> list[str]:
        return self._draw.sample(NAMES, self._draw.randrange(1, 4))

    def _change(self) -> None:
        """Move the topic, or let it grow; perhaps no further than to one of the requests."""
        self._finish()
        grown = len(self._queues) + 1
        try:
            if grown <= QUEUES_MAX and self._draw.random() < 0.2:
                plan = run(self._brokers.admin.plan_queues(TOPIC, grown, on=self._some_brokers()))
                self._queues.append(LogicalQueueStory())
            else:
                plan = run(self._brokers.admin.plan_move(TOPIC, on=self._some_brokers()))
        except Misuse:
            return  # all queues are there already
        self._unfinished = plan
        if self._draw.random() < 0.5:
            self._stop_at = self._draw.randrange(12)
            side = self._draw.choice(("before", "after"))
            setattr(self._brokers.fan_out, side, self._interrupt)
        try:
            self._finish()
        except RequestTimeout:
            self.counts["interrupted"] += 1
        self._brokers.fan_out.before = self._brokers.fan_out.after = _nothing

    def _interrupt(self, name: str, command: RemotingCommand) -> None:
        self._send()
        self._read()
        self._stop_at -= 1
        if self._stop_at < 0:
            self._die()
            raise RequestTimeout(f"{name} does not answer", address=name)

    def _finish(self) -> None:
        """Apply the plan that is not finished."""
        if self._unfinished is not None:
            run(self._brokers.admin.apply(self._unfinished))
            self._unfinished = None
            self.counts["changes"] += 1

    def _apply_old(self) -> None:
        """A plan that was made before another change is refused, and changes nothing."""
        self._finish()
        old = run(self._brokers.admin.plan_move(TOPIC, on=self._some_brokers()))
        self._brokers.clock.advance(2_000)
        self._unfinished = run(self._brokers.admin.plan_move(TOPIC, on=self._some_brokers()))
        self._finish()
        before = self._mappings()
        try:
            run(self._brokers.admin.apply(old))
        except (RemoteAnswer, Misuse):
            self.counts["refused"] += 1
        assert self._mappings() == before, "an older plan changed something"

    def _mappings(self) -> list[TopicMapping]:
        return [one.mapping for one in self._brokers.known().values()]

    # The world.

    def _die(self) -> None:
        self.counts["deaths"] += 1
        name = self._draw.choice(NAMES)
        kit = self._brokers.kits[name]
        self._brokers.kits[name] = kit.killed() if self._draw.random() < 0.5 else kit.power_cut()

    def _wait(self) -> None:
        """Parts that are empty are forgotten after some time."""
        for name in NAMES:
            before = self._parts()
            self._brokers.tick(name, 1)
            self._brokers.tick(name, ROUND_MS)
            self.counts["expired"] += before - self._parts()

    def _parts(self) -> int:
        """How many parts the logical queues have together."""
        return sum(
            len(mapping.led_chain(number) or ())
            for mapping in self._mappings()
            for number in mapping.hosted
        )


def _nothing(name: str, command: RemotingCommand) -> None:
    pass


def run_static_topic_seed(seed: int, *, is_traced: bool = False) -> Told:
    """Tell the story of a seed; never raises for what the story shows."""
    begun = time.process_time()
    story = StaticTopicStory(seed)
    breaches = []
    try:
        story.tell()
    except AssertionError as error:
        breaches.append(Breach("static topic", str(error)))
    trace = story.trace if is_traced else []
    return Told(seed, breaches, trace, story.counts, time.process_time() - begun, "--static ")
