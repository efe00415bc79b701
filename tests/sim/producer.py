"""A producer: looks routes up, sends, and sends again elsewhere when it is not sure.

Single messages in every form of a send, batches, delayed messages and one-way ones. A message keeps
its number over its tries; each try has a name of its own.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from aerobee.model.names import AUTO_CREATE_TEMPLATE_TOPIC, SCHEDULE_TOPIC
from aerobee.model.properties import encode_properties
from aerobee.protocol.message.message_batch import BatchMessage, encode_batch
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import SendOutcome, outcome_of
from tests.sim.client import Client, addresses_of
from tests.sim.history import NAME_END, Attempt, Place
from tests.wire import LONG_NAMES

TRIES_MAX = 3
SEND_MS_MAX = 2_000
_TOO_MUCH = 1 << 17  # more than fits into any log file of a story


class Target(NamedTuple):
    broker: str
    address: str
    queue_id: int


def send_fields(
    group: str,
    topic: str,
    target: Target,
    properties: Mapping[str, str],
    *,
    sys_flag: int = 0,
    is_batch: bool = False,
) -> dict[str, str]:
    """The header of a send, by its letters."""
    return {
        "a": group,
        "b": topic,
        "c": AUTO_CREATE_TEMPLATE_TOPIC,
        "d": "2",
        "e": str(target.queue_id),
        "f": str(sys_flag),
        "g": "1700000000000",
        "h": "0",
        "i": encode_properties(properties).decode(),
        "j": "0",
        "k": "false",
        "m": str(is_batch).lower(),
        "n": target.broker,
    }


def outcome_of_send(answer: RemotingCommand | None) -> SendOutcome:
    """What a producer may believe."""
    return SendOutcome.UNKNOWN if answer is None else outcome_of(answer.code)


class Load(NamedTuple):
    """What a producer is to do."""

    topics: Sequence[str]
    messages: int
    pause_ms: int
    delay_levels_ms: Sequence[int]
    body_bytes_max: int
    at_once: int
    """How many sends may be under way at a time."""


class Producer(Client):
    def __init__(self, *args: object, load: Load) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self._load = load
        self._targets: dict[str, list[Target]] = {}
        self._turn = self.random.randrange(100)
        self._count = 0
        self._lanes_left = load.at_once
        for _ in range(load.at_once):
            self.spawn(self._produce())

    @property
    def is_done(self) -> bool:
        return self._lanes_left == 0

    async def _produce(self) -> None:
        while self._count < self._load.messages:
            self._count += 1
            count = self._count
            await self.pause(self.random.randint(0, 2 * self._load.pause_ms * self._load.at_once))
            topic = self.random.choice(self._load.topics)
            dice = self.random.random()
            if dice < 0.72:
                await self._send(count, topic, 1)
            elif dice < 0.82:
                await self._send(count, topic, self.random.randint(2, 5), is_batch=True)
            elif dice < 0.94:
                level = self.random.randint(1, min(4, len(self._load.delay_levels_ms)))
                await self._send(count, topic, 1, level)
            elif dice < 0.98:
                await self._send(count, topic, 1, is_oneway=True)
            else:
                await self._send(count, topic, 1, is_too_much=True)
        self._lanes_left -= 1

    async def _send(
        self,
        count: int,
        topic: str,
        messages: int,
        level: int = 0,
        *,
        is_batch: bool = False,
        is_oneway: bool = False,
        is_too_much: bool = False,
    ) -> None:
        """One message, or some in one send, in as many tries as it takes."""
        avoided = ""
        filler = b"x" * (_TOO_MUCH if is_too_much else self._filler_bytes())
        for number_of_try in range(1 if is_oneway else TRIES_MAX):
            target = await self._target(topic, avoided)
            if target is None:
                await self.pause(100)
                continue
            place = (
                Place(target.broker, SCHEDULE_TOPIC, level - 1)
                if level
                else Place(target.broker, topic, target.queue_id)
            )
            delay_ms = self._load.delay_levels_ms[level - 1] if level else 0
            attempts = []
            for index in range(messages):
                name = f"{self.name}-{count}.{index}/{number_of_try}".encode()
                body = name + NAME_END + filler
                attempts.append(self.history.begin(name, place, body, delay_ms))
            command = self._command(topic, target, attempts, level, is_batch=is_batch)
            if is_oneway:
                self.tell(target.address, command)
                return
            outcome = await self._outcome(target, command, attempts)
            if outcome is SendOutcome.ACKED:
                if is_too_much:
                    self.history.breach("too much", f"{attempts[0].name!r} was taken")
                return
            avoided = target.broker
            self._targets.pop(topic, None)

    def _filler_bytes(self) -> int:
        if self.random.random() < 0.9:
            return self.random.randint(0, 200)
        return self.random.randint(0, self._load.body_bytes_max)

    async def _outcome(
        self, target: Target, command: RemotingCommand, attempts: list[Attempt]
    ) -> SendOutcome:
        answer = await self.ask(target.address, command, SEND_MS_MAX)
        if answer is None:
            self.history.end(attempts, SendOutcome.UNKNOWN, None)
            return SendOutcome.UNKNOWN
        outcome = outcome_of_send(answer)
        offset = None
        if outcome is SendOutcome.ACKED:
            offset = int(answer.ext_fields["queueOffset"])
        self.history.end(attempts, outcome, offset)
        return outcome

    def _command(
        self, topic: str, target: Target, attempts: list[Attempt], level: int, *, is_batch: bool
    ) -> RemotingCommand:
        properties = {
            "UNIQ_KEY": attempts[0].name.decode(),
            "TAGS": f"t{len(attempts[0].body) % 2}",
        }
        if level:
            properties["DELAY"] = str(level)
        fields = send_fields(f"{self.name}-group", topic, target, properties, is_batch=is_batch)
        if is_batch:
            body = encode_batch(
                [
                    BatchMessage(attempt.body, {"UNIQ_KEY": attempt.name.decode(), "TAGS": "t0"})
                    for attempt in attempts
                ]
            )
            code = RequestCode.SEND_BATCH_MESSAGE
        else:
            body = attempts[0].body
            code = RequestCode.SEND_MESSAGE_V2
            if self.random.random() < 0.1:
                code = RequestCode.SEND_MESSAGE
                fields = {LONG_NAMES[letter]: text for letter, text in fields.items()}
        return RemotingCommand(code, ext_fields=fields, body=body)

    async def _target(self, topic: str, avoided: str) -> Target | None:
        """The next queue, rather of another broker than the one that just failed."""
        targets = self._targets.get(topic)
        if not targets or self.random.random() < 0.05:
            targets = self._targets[topic] = await self._look_up(topic)
        others = [target for target in targets if target.broker != avoided] or targets
        if not others:
            return None
        self._turn += 1
        return others[self._turn % len(others)]

    async def _look_up(self, topic: str) -> list[Target]:
        route = await self.find_route(topic)
        # A topic that nobody has is made by whoever gets its first message.
        route = route or await self.find_route(AUTO_CREATE_TEMPLATE_TOPIC)
        if route is None:
            return []
        addresses = addresses_of(route)
        return [
            Target(data.broker_name, addresses[data.broker_name], queue_id)
            for data in route.queues
            if data.broker_name in addresses
            for queue_id in range(min(2, data.write_queues))
        ]
