"""A member of a consumer group, as a push consumer is one: heartbeats, a share of the queues, pulls
that wait, processing that takes its time, offsets, messages handed back.

A queue is held by an `Assignment`. Its offset is asked for when it begins. A wary member asks again
on every new connection: another process may have lost, in asynchronous mode, what this one had
seen. A member that is not goes on where it was, as Java's clients do.
"""

from collections.abc import Sequence
from typing import NamedTuple

from aerobee.model.message import StoredMessage
from aerobee.model.names import retry_topic
from aerobee.protocol.bodies.heartbeat import ConsumerBeat, Heartbeat, encode_heartbeat
from aerobee.protocol.bodies.subscription import make_subscription
from aerobee.protocol.headers.clients import ConsumerGroupHeader
from aerobee.protocol.headers.offsets import CommitOffsetHeader, QueryOffsetHeader
from aerobee.protocol.headers.pulling import COMMIT_OFFSET, SUBSCRIPTION, SUSPEND, PullHeader
from aerobee.protocol.headers.sending_back import SendBackHeader
from aerobee.protocol.message.stored_message import decode_records
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.protocol.text.json_text import parse
from tests.sim.client import Client, Line, addresses_of
from tests.sim.history import Place

REBALANCE_MS = 700
COMMIT_MS = 400
HOLD_MS = 2_000
IN_HAND_MAX = 16
PULL_MAX = 8


class Taste(NamedTuple):
    """How a group consumes."""

    group: str
    topics: Sequence[str]
    work_ms_max: int
    fail_share: float
    tag: str = "*"
    is_wary: bool = True
    is_popping: bool = False
    is_ranked: bool = False
    """Of a group that pops: its topic has priorities, and messages that come again keep theirs."""
    is_mixed: bool = False
    """Of a group that pops: every other member speaks gRPC."""


class Consumer(Client):
    def __init__(self, *args: object, taste: Taste) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self.taste = taste
        self._assignments: dict[Place, Assignment] = {}
        self._is_stirred = False
        self.spawn(self._live())

    def on_request(self, command: RemotingCommand) -> None:
        if command.code == RequestCode.NOTIFY_CONSUMER_IDS_CHANGED:
            self._is_stirred = True

    async def _live(self) -> None:
        waited_ms = REBALANCE_MS
        while True:
            if waited_ms >= REBALANCE_MS or self._is_stirred:
                waited_ms, self._is_stirred = 0, False
                await self._rebalance()
            for assignment in list(self._assignments.values()):
                assignment.commit()
            await self.pause(100)
            waited_ms += 100

    # Which queues.

    async def _rebalance(self) -> None:
        mine: dict[Place, str] = {}
        for topic in (*self.taste.topics, retry_topic(self.taste.group)):
            route = await self.find_route(topic)
            addresses = addresses_of(route) if route is not None else {}
            if route is None or not addresses:
                mine.update(
                    (place, held.address)
                    for place, held in self._assignments.items()
                    if place.topic == topic
                )
                continue
            places = sorted(
                Place(data.broker_name, topic, queue_id)
                for data in route.queues
                if data.broker_name in addresses
                for queue_id in range(data.read_queues)
            )
            members = await self._members(list(addresses.values()))
            if self.name in members:
                for place in _share(places, members, self.name):
                    mine[place] = addresses[place.broker]
        for place in [place for place in self._assignments if place not in mine]:
            self._assignments.pop(place).drop()
        for place, address in mine.items():
            held = self._assignments.get(place)
            if held is None or held.is_over:
                self._assignments[place] = Assignment(self, place, address)
            else:
                held.move_to(address)

    async def _members(self, addresses: list[str]) -> list[str]:
        """Beat at all brokers; what one of them says of the group."""
        beat = Heartbeat(
            self.name,
            (),
            (
                ConsumerBeat(
                    self.taste.group,
                    subscriptions=tuple(
                        make_subscription(topic, self.expression(topic), 1)
                        for topic in (*self.taste.topics, retry_topic(self.taste.group))
                    ),
                ),
            ),
        )
        for address in addresses:
            await self.ask(address, RemotingCommand(34, body=encode_heartbeat(beat)), 500)
        command = RemotingCommand(
            RequestCode.GET_CONSUMER_LIST_BY_GROUP,
            ext_fields=write_header(ConsumerGroupHeader(self.taste.group)),
        )
        answer = await self.ask(self.random.choice(addresses), command, 500)
        if answer is None or answer.code != 0:
            return []
        listed = parse(bytes(answer.body))
        assert isinstance(listed, dict)
        members = listed["consumerIdList"]
        assert isinstance(members, list)
        return sorted(str(member) for member in members)

    def expression(self, topic: str) -> str:
        return self.taste.tag if topic in self.taste.topics else "*"


class Assignment:
    """One queue while it is ours, on one connection."""

    def __init__(self, owner: Consumer, place: Place, address: str) -> None:
        self._owner = owner
        self._place = place
        self.address = address
        self._offset: int | None = None
        self._line: Line | None = None
        self._in_hand: dict[int, StoredMessage] = {}
        self._committed = -1
        self._commit_due_ms = 0
        self.is_over = False
        owner.spawn(self._work())

    def move_to(self, address: str) -> None:
        """The broker is there now."""
        if address != self.address:
            self.address = address
            self._committed = -1
            self.is_over = self._owner.taste.is_wary

    def drop(self) -> None:
        """Somebody else's from now on: say how far it came."""
        self._commit_due_ms = 0
        self.commit()
        self.is_over = True

    def commit(self) -> None:
        """Say how far it is, from time to time, if that changed."""
        now_ms = self._owner.history.now_ms()
        if self._offset is None or now_ms < self._commit_due_ms or not self._is_mine():
            return
        self._commit_due_ms = now_ms + COMMIT_MS
        offset = self._safe_offset()
        if offset != self._committed:
            self._committed = offset
            header = CommitOffsetHeader(
                self._owner.taste.group, self._place.topic, self._place.queue_id, offset
            )
            command = RemotingCommand(
                RequestCode.UPDATE_CONSUMER_OFFSET, ext_fields=write_header(header)
            )
            self._owner.tell(self.address, command)

    def _is_mine(self) -> bool:
        """Whether it still has the connection that it began on, and that is of the broker's process
        of now."""
        if not self._owner.taste.is_wary:
            return not self.is_over
        restarted_ms = self._owner.history.restarted_ms.get(self._place.broker, 0)
        if self._line is None or not self._line.is_open or self._line.born_ms < restarted_ms:
            self.is_over = True
        return not self.is_over

    def _safe_offset(self) -> int:
        assert self._offset is not None
        return min(self._in_hand, default=self._offset)

    async def _work(self) -> None:
        try:
            self._line = await self._owner.line_to(self.address)
        except (OSError, TimeoutError):
            self.is_over = True
            return
        self._offset = await self._begin_offset()
        while self._offset is not None and self._is_mine():
            if len(self._in_hand) >= IN_HAND_MAX:
                await self._owner.pause(10)
            else:
                await self._pull(self._offset)
        self.is_over = True

    async def _begin_offset(self) -> int | None:
        header = QueryOffsetHeader(self._owner.taste.group, self._place.topic, self._place.queue_id)
        command = RemotingCommand(
            RequestCode.QUERY_CONSUMER_OFFSET, ext_fields=write_header(header)
        )
        answer = await self._owner.ask(self.address, command)
        if answer is None or not self._is_mine():
            return None
        if answer.code == ResponseCode.QUERY_NOT_FOUND:
            return 0
        if answer.code != ResponseCode.SUCCESS:
            return None
        offset = int(answer.ext_fields["offset"])
        self._owner.history.see_offset(self._owner.taste.group, self._place, offset)
        return offset

    # Pulling.

    async def _pull(self, offset: int) -> None:
        taste = self._owner.taste
        flag = SUSPEND | COMMIT_OFFSET
        if self._owner.random.random() < 0.5:
            flag |= SUBSCRIPTION
        header = PullHeader(
            taste.group,
            self._place.topic,
            self._place.queue_id,
            offset,
            PULL_MAX,
            flag,
            self._safe_offset(),
            HOLD_MS,
            self._owner.expression(self._place.topic),
            1,
        )
        command = RemotingCommand(RequestCode.PULL_MESSAGE, ext_fields=write_header(header))
        answer = await self._owner.ask(self.address, command, HOLD_MS + 1_500)
        if not self._is_mine():
            return
        if answer is None:
            self.is_over = self._owner.taste.is_wary
            await self._owner.pause(100)
        elif answer.code in (
            ResponseCode.SUCCESS,
            ResponseCode.PULL_NOT_FOUND,
            ResponseCode.PULL_RETRY_IMMEDIATELY,
        ):
            self._take(offset, answer)
        elif answer.code == ResponseCode.PULL_OFFSET_MOVED:
            self._owner.history.breach(
                "moved",
                f"{taste.group} was sent away from {offset} of {self._place}: {answer.remark}",
            )
        else:
            await self._owner.pause(100)

    def _take(self, offset: int, answer: RemotingCommand) -> None:
        if not self._is_mine():
            return
        history, taste = self._owner.history, self._owner.taste
        messages = decode_records(bytes(answer.body)) if answer.code == 0 else []
        next_offset = int(answer.ext_fields["nextBeginOffset"])
        got = [message.queue_offset for message in messages]
        is_filtered = self._owner.expression(self._place.topic) != "*"
        wanted = list(range(offset, next_offset))
        if got != wanted and not (is_filtered and set(got) <= set(wanted) and got == sorted(got)):
            history.breach(
                "gap",
                f"{taste.group} asked for {offset} of {self._place}, "
                f"was given {got} and sent to {next_offset}",
            )
        history.skip(taste.group, self._place, set(wanted) - set(got))
        self._offset = next_offset
        for message in messages:
            history.hand(self._place, message)
            self._in_hand[message.queue_offset] = message
            self._work_on(message)

    # Processing.

    def _work_on(self, message: StoredMessage) -> None:
        loop = self._owner.process.loop
        ms = self._owner.random.randint(0, self._owner.taste.work_ms_max)
        loop.call_later(ms / 1000, self._processed, message)

    def _processed(self, message: StoredMessage) -> None:
        if not self._is_mine():
            return
        history, taste = self._owner.history, self._owner.taste
        if self._owner.random.random() < taste.fail_share:
            self._owner.spawn(self._hand_back(message))
        else:
            history.finish(taste.group, self._place, message)
            self._in_hand.pop(message.queue_offset, None)

    async def _hand_back(self, message: StoredMessage) -> None:
        history, taste = self._owner.history, self._owner.taste
        header = SendBackHeader(message.log_offset, taste.group, 0, max_reconsume_times=16)
        command = RemotingCommand(
            RequestCode.CONSUMER_SEND_MSG_BACK, ext_fields=write_header(header)
        )
        answer = await self._owner.ask(self.address, command)
        if not self._is_mine():
            return
        if answer is not None and answer.code == ResponseCode.SUCCESS:
            history.hand_back(taste.group, self._place, message)
            self._in_hand.pop(message.queue_offset, None)
        else:
            self._work_on(message)


def _share(places: list[Place], members: list[str], name: str) -> list[Place]:
    """As Java's AllocateMessageQueueAveragely: neighbours, the first members one more."""
    index, count = members.index(name), len(members)
    size, more = divmod(len(places), count)
    start = index * size + min(index, more)
    return places[start : start + size + (index < more)]
