"""A member of a group that pops: messages of any queue of any broker, each acknowledged by itself.

Some are not acknowledged, and come back; some are hidden for longer first. What the broker has
answered to be acknowledged must not be handed out again from where it was, unless the power cut
that took it was one that may take something.

In some stories its topic has priorities: a message that comes back keeps the number of its queue.
"""

from aerobee.model.message import StoredMessage
from aerobee.model.route import TopicRoute
from aerobee.model.topic import MESSAGE_TYPE, PRIORITY
from aerobee.protocol.consume.pop_receipt import PopReceipt, encode_pop_receipt
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
from tests.sim.history import Place, name_of

HOLD_MS = 700
INVISIBLE_MS = 900
POP_MAX = 8
LOOK_MS = 300


class Popper(Client):
    def __init__(self, *args: object, taste: Taste) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self.taste = taste
        self.is_binary = False  # codes of pop have no room there
        self._popping: set[tuple[str, str]] = set()
        self._addresses: dict[str, str] = {}
        self._queues: dict[bytes, int] = {}
        self._ranked: set[tuple[str, str]] = set()
        self.spawn(self._live())

    async def _live(self) -> None:
        while True:
            for topic in self.taste.topics:
                route = await self.find_route(topic)
                if route is not None:
                    self._addresses.update(addresses_of(route))
                    if self.taste.is_ranked:
                        await self._rank(topic, route)
                for broker in self._addresses:
                    if (topic, broker) not in self._popping:
                        self._popping.add((topic, broker))
                        self.spawn(self._pop_all(topic, broker))
            await self.pause(LOOK_MS)

    async def _rank(self, topic: str, route: TopicRoute) -> None:
        """Make it a topic of priorities, on every broker that has it."""
        for queues in route.queues:
            address = self._addresses.get(queues.broker_name)
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

    async def _pop_all(self, topic: str, broker: str) -> None:
        while True:
            address = self._addresses[broker]
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
            real = topic if origin == "0" else f"%RETRY%{self.taste.group}_{topic}"
            place = Place(broker, real, message.queue_id)
            self.history.hand(place, message)
            self._look_at_queue(place, message)
            self.history.pop(self.taste.group, place, message)
            self.spawn(self._work(place, address, message, receipt))

    def _look_at_queue(self, place: Place, message: StoredMessage) -> None:
        name = name_of(message.body)
        first = self._queues.setdefault(name, message.queue_id)
        if self.taste.is_ranked and message.queue_id != first:
            self.history.breach("ranked", f"{name!r} of queue {first} came back in {place}")

    async def _work(
        self, place: Place, address: str, message: StoredMessage, receipt: PopReceipt
    ) -> None:
        await self.pause(self.random.randint(0, self.taste.work_ms_max))
        luck = self.random.random()
        if luck < self.taste.fail_share:
            return  # it comes back by itself
        at = (place.topic, place.queue_id, encode_pop_receipt(receipt), message.queue_offset)
        if luck < 2 * self.taste.fail_share:
            longer = InvisibleTimeHeader(self.taste.group, *at, INVISIBLE_MS // 2)
            code = RequestCode.CHANGE_MESSAGE_INVISIBLETIME
            await self.ask(address, RemotingCommand(code, ext_fields=write_header(longer)))
            return
        self.history.finish(self.taste.group, place, message)
        header = AckHeader(self.taste.group, *at)
        command = RemotingCommand(RequestCode.ACK_MESSAGE, ext_fields=write_header(header))
        began_ms = self.history.now_ms()
        answer = await self.ask(address, command)
        if answer is not None and answer.code == 0:
            self.history.acknowledge(self.taste.group, place, message, began_ms)
