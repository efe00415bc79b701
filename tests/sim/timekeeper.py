"""A producer of messages for exact times, in a topic of its own; some it takes back.

Nobody consumes them: what became of each is read in the broker's queues when the story is over. By
the broker's wall clock none is early, and each is there if it was acknowledged, but for those that
were taken back in time.
"""

from typing import TYPE_CHECKING

from aerobee.app.chaos.log_check import SentOutcome
from aerobee.model.message import StoredMessage
from aerobee.model.names import TIMER_TOPIC
from aerobee.model.properties import (
    REAL_TOPIC,
    TIMER_DELETE_UNIQUE_KEY,
    TIMER_DELIVER_MS,
    TIMER_DEQUEUE_MS,
    TIMER_OUT_MS,
)
from aerobee.protocol.headers.recalling import RecallHeader
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import SendOutcome
from tests.sim.history import NAME_END, OUTCOMES, Alarm, name_of
from tests.sim.producer import (
    SEND_MS_MAX,
    TRIES_MAX,
    Producer,
    Target,
    outcome_of_send,
    send_fields,
)

if TYPE_CHECKING:
    from tests.sim.stored import StoredView
    from tests.sim.world import World

ALARMS = "Alarms"
AHEAD_MS_MAX = 4_000
RECALLED_SHARE = 0.3


class Timekeeper(Producer):
    async def _produce(self) -> None:
        while self._count < self._load.messages:
            self._count += 1
            count = self._count
            await self.pause(self.random.randint(0, 2 * self._load.pause_ms * self._load.at_once))
            await self._set(count, self.random.random() < RECALLED_SHARE)
        self._lanes_left -= 1

    async def _set(self, count: int, is_recalled: bool) -> None:
        """One message, in as many tries as it takes."""
        avoided = ""
        for number_of_try in range(TRIES_MAX):
            target = await self._target(ALARMS, avoided)
            if target is None:
                await self.pause(100)
                continue
            wall_ms = self.process.host.clock.now().wall_ms
            deliver_ms = wall_ms + self.random.randint(1, AHEAD_MS_MAX)
            name = f"{self.name}-{count}.0/{number_of_try}".encode()
            alarm = Alarm(name, target.broker, deliver_ms, self.history.now_ms())
            self.history.alarms[name] = alarm
            answer = await self.ask(target.address, self._alarm(target, alarm), SEND_MS_MAX)
            outcome = outcome_of_send(answer)
            alarm.outcome = OUTCOMES[outcome]
            if answer is not None and outcome is SendOutcome.ACKED:
                handle = answer.ext_fields.get("recallHandle")
                if is_recalled and handle is not None:
                    await self._recall(target, alarm, handle)
                return
            avoided = target.broker
            self._targets.pop(ALARMS, None)

    def _alarm(self, target: Target, alarm: Alarm) -> RemotingCommand:
        properties = {"UNIQ_KEY": alarm.name.decode(), TIMER_DELIVER_MS: str(alarm.deliver_ms)}
        fields = send_fields(f"{self.name}-group", ALARMS, target, properties)
        body = alarm.name + NAME_END + b"x" * self._filler_bytes()
        return RemotingCommand(RequestCode.SEND_MESSAGE_V2, ext_fields=fields, body=body)

    async def _recall(self, target: Target, alarm: Alarm, handle: str) -> None:
        await self.pause(self.random.randint(0, AHEAD_MS_MAX))
        header = RecallHeader(ALARMS, handle)
        command = RemotingCommand(RequestCode.RECALL_MESSAGE, ext_fields=write_header(header))
        alarm.recalled = SentOutcome.UNKNOWN
        alarm.recall_began_ms = self.history.now_ms()
        answer = await self.ask(target.address, command, SEND_MS_MAX)
        if answer is not None:
            alarm.recalled = OUTCOMES[outcome_of_send(answer)]


# What became of them.


def waiting_alarm(view: "StoredView") -> bytes:
    """The name of one that waits in its timer; empty if none does."""
    waiting, taken_back = _waiting(view)
    rung = {name_of(copy.body) for copy in _copies(view)}
    return next((name for name in waiting if name not in rung | taken_back), b"")


def _waiting(view: "StoredView") -> tuple[set[bytes], set[bytes]]:
    """Names: of what waits or has waited, and of what was taken back."""
    waiting, taken_back = set(), set()
    for message in view.queues.get((TIMER_TOPIC, 0), ()):
        key = message.properties.get(TIMER_DELETE_UNIQUE_KEY)
        if message.properties[REAL_TOPIC] == ALARMS:
            if key is None:
                waiting.add(name_of(message.body))
            else:
                taken_back.add(key.partition("+")[2].encode())
    return waiting, taken_back


def _copies(view: "StoredView") -> list[StoredMessage]:
    return [
        message
        for (topic, _), messages in view.queues.items()
        if topic == ALARMS
        for message in messages
    ]


def judge_alarms(world: "World", broker: str) -> None:
    """None early, none lost, none after it was taken back, and one again only after a crash."""
    view = world.views[broker]
    lives = 1 + len(world.ends.get(broker, ()))
    counts: dict[bytes, int] = {}
    for copy in _copies(view):
        name = name_of(copy.body)
        counts[name] = counts.get(name, 0) + 1
        said = copy.properties
        has_waited = TIMER_OUT_MS in said
        shown_ms = int(said[TIMER_DEQUEUE_MS]) if has_waited else copy.store_timestamp
        if shown_ms < int(said[TIMER_DELIVER_MS]):
            world.history.breach("early", f"{name!r} of {broker} at {shown_ms}: {said}")
        if name not in world.history.alarms:
            world.history.breach("invented", f"{name!r} in {ALARMS} of {broker}")
        if counts[name] > lives:
            world.history.breach("duplicated", f"{name!r} of {broker} {counts[name]} times")
    waiting, taken_back = _waiting(view)
    for alarm in world.history.alarms.values():
        if alarm.broker != broker:
            continue
        if alarm.name in counts:
            _judge_recall(world, alarm)
        elif alarm.name in waiting:
            if alarm.name not in taken_back:
                world.history.breach("lost", f"{alarm.name!r} of {broker} was not delivered")
        elif alarm.outcome is SentOutcome.ACKNOWLEDGED and not world.history.may_lose_after(
            broker, alarm.began_ms
        ):
            world.history.breach("lost", f"{alarm.name!r} is nowhere in {broker}")


def _judge_recall(world: "World", alarm: Alarm) -> None:
    """Of one that was delivered. A clock that is set back lets what is delivered be recalled."""
    if (
        alarm.recalled is SentOutcome.ACKNOWLEDGED
        and alarm.broker not in world.set_back
        and not world.history.may_lose_after(alarm.broker, alarm.recall_began_ms)
    ):
        world.history.breach("recalled", f"{alarm.name!r} of {alarm.broker} came all the same")
