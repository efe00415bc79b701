"""A member of a group that pops: messages of any queue of any broker, each acknowledged by itself.

Some are not acknowledged, and come back; some are hidden for longer first. What the broker has
answered to be acknowledged must not be handed out again from where it was, unless the power cut
that took it was one that may take something.

In some stories its topic has priorities: a message that comes back keeps the number of its queue.
"""

from typing import NamedTuple

from aerobee.model.route import TopicRoute
from aerobee.model.topic import MESSAGE_TYPE, PRIORITY
from aerobee.protocol.consume.pop_receipt import FROM_TOPIC, PopReceipt, encode_pop_receipt
from aerobee.protocol.headers.popping import (
    ANY_QUEUE,
    AckHeader,
    InvisibleTimeHeader,
    PopHeader,
)
from aerobee.protocol.headers.topics import CreateTopicHeader
from aerobee.protocol.message.stored_message import decode_records
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from tests.sim.client import Client, addresses_of
from tests.sim.consumer import Taste
from tests.sim.history import Handed, Place, name_of

HOLD_MS = 700
INVISIBLE_MS = 900
POP_MAX = 8
LOOK_MS = 300


class Popped(NamedTuple):
    """A message that was popped, and what acknowledges it."""

    place: Place
    address: str
    message: Handed
    handle: str

    def where(self) -> tuple[str, int, str, int]:
        """As headers of requests about it have it."""
        place = self.place
        return place.topic, place.queue_id, self.handle, self.message.queue_offset


class Popper(Client):
    leave_share = 1.0
    """Of `fail_share`, the part that is left to come back by itself; the rest is hidden."""

    def __init__(self, *args: object, taste: Taste) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self.taste = taste
        self.is_binary = False  # codes of pop have no room there
        self._popping: set[tuple[str, str]] = set()
        self.addresses: dict[str, str] = {}
        self._queues: dict[bytes, int] = {}
        self._ranked: set[tuple[str, str]] = set()
        self.spawn(self._live())

    async def _live(self) -> None:
        while True:
            for topic in self.taste.topics:
                route = await self.find_route(topic)
                if route is not None:
                    self.addresses.update(addresses_of(route))
                    if self.taste.is_ranked:
                        await self._rank(topic, route)
                for broker in self.addresses:
                    if (topic, broker) not in self._popping:
                        self._popping.add((topic, broker))
                        self.spawn(self.pop_all(topic, broker))
            await self.pause(LOOK_MS)

    async def _rank(self, topic: str, route: TopicRoute) -> None:
        """Make it a topic of priorities, on every broker that has it."""
        for queues in route.queues:
            address = self.addresses.get(queues.broker_name)
            if address is not None and (topic, address) not in self._ranked:
                header = CreateTopicHeader(
                    topic,
                    queues.read_queues,
                    queues.write_queues,
                    queues.permission,
                    topic_sys_flag=queues.sys_flag,
                    attributes=f"+{MESSAGE_TYPE}={PRIORITY}",
                )
                code = RequestCode.UPDATE_AND_CREATE_TOPIC
                answer = await self.ask(
                    address, RemotingCommand(code, ext_fields=write_header(header))
                )
                if answer is not None and answer.code == 0:
                    self._ranked.add((topic, address))

    async def pop_all(self, topic: str, broker: str) -> None:
        while True:
            address = self.addresses[broker]
            header = PopHeader(
                self.taste.group, topic, ANY_QUEUE, POP_MAX, INVISIBLE_MS, HOLD_MS, exp="*"
            )
            command = RemotingCommand(RequestCode.POP_MESSAGE, ext_fields=write_header(header))
            answer = await self.ask(address, command, HOLD_MS + 1_500)
            if answer is not None and answer.code == 0:
                self._take(topic, broker, address, answer)
            else:
                await self.pause(50)

    def _take(self, topic: str, broker: str, address: str, answer: RemotingCommand) -> None:
        fields = answer.ext_fields
        starts: dict[tuple[str, int], int] = {}
        for part in fields["startOffsetInfo"].split(";"):
            origin, queue_id, start = part.split(" ")
            starts[origin, int(queue_id)] = int(start)
        origins = [
            part.split(" ")[0]
            for part in fields["msgOffsetInfo"].split(";")
            for _ in part.split(" ")[2].split(",")
        ]
        for origin, message in zip(origins, decode_records(bytes(answer.body)), strict=True):
            receipt = PopReceipt(
                starts[origin, message.queue_id],
                int(fields["popTime"]),
                int(fields["invisibleTime"]),
                int(fields["reviveQid"]),
                origin,
                broker,
                message.queue_id,
                message.queue_offset,
            )
            place = self.place_of(topic, broker, receipt)
            self.take_up(Popped(place, address, message, encode_pop_receipt(receipt)))

    def place_of(self, topic: str, broker: str, receipt: PopReceipt) -> Place:
        is_retry = receipt.origin != FROM_TOPIC
        real = f"%RETRY%{self.taste.group}_{topic}" if is_retry else topic
        return Place(broker, real, receipt.queue_id)

    def take_up(self, popped: Popped) -> None:
        place, message = popped.place, popped.message
        self.history.hand(place, message)
        self._look_at_queue(place, message)
        self.history.pop(self.taste.group, place, message)
        self.spawn(self._work(popped))

    def _look_at_queue(self, place: Place, message: Handed) -> None:
        name = name_of(message.body)
        first = self._queues.setdefault(name, place.queue_id)
        if self.taste.is_ranked and place.queue_id != first:
            self.history.breach("ranked", f"{name!r} of queue {first} came back in {place}")

    async def _work(self, popped: Popped) -> None:
        await self.pause(self.random.randint(0, self.taste.work_ms_max))
        luck = self.random.random()
        if luck < self.taste.fail_share * self.leave_share:
            return  # it comes back by itself
        if luck < 2 * self.taste.fail_share:
            await self.hide(popped)
            return
        self.history.finish(self.taste.group, popped.place, popped.message)
        began_ms = self.history.now_ms()
        if await self.acknowledge(popped):
            self.history.acknowledge(self.taste.group, popped.place, popped.message, began_ms)

    async def hide(self, popped: Popped) -> None:
        """Until half of the usual time is over."""
        header = InvisibleTimeHeader(self.taste.group, *popped.where(), INVISIBLE_MS // 2)
        code = RequestCode.CHANGE_MESSAGE_INVISIBLETIME
        await self.ask(popped.address, RemotingCommand(code, ext_fields=write_header(header)))

    async def acknowledge(self, popped: Popped) -> bool:
        """Whether the broker says that it keeps the acknowledgement."""
        header = AckHeader(self.taste.group, *popped.where())
        command = RemotingCommand(RequestCode.ACK_MESSAGE, ext_fields=write_header(header))
        answer = await self.ask(popped.address, command)
        return answer is not None and answer.code == 0
