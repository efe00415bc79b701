"""A conversation between a real client and Apache's broker, played to ours by the client's side.

A recording begins in the middle of a broker's life. What it needs of the life before is read off it
(`Past`): topics from the routes that its client asked for, messages from the records that it was
shown, how long each queue was from what it was told, what its groups had committed.

Then every frame of the client is said again, at its time. Two things in them belong to the recorded
broker and are put into ours' words: places in the log (a record is the same if topic, queue and
offset are), and the opaque of a request of the broker's own that the client answers.
"""

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from aerobee.model.message import StoredMessage
from aerobee.model.message_id import OffsetMessageId, parse_offset_message_id
from aerobee.model.message_queue import LogOffset
from aerobee.model.properties import REAL_TOPIC
from aerobee.model.topic import TopicConfig
from aerobee.ports.service import ChannelId
from aerobee.protocol.message_draft import MessageDraft
from aerobee.protocol.remoting_command import RemotingCommand, encode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.protocol.stored_message import decode_records, fill_draft
from aerobee.service.broker.config import BrokerConfig, BrokerIdentity
from aerobee.sim.clock import SimClock
from tests.broker_kit import STORAGE, BrokerKit, commands_in
from tests.store_kit import draft, properties

PATH = Path(__file__).parent / "vectors" / "broker.jsonl.gz"
STEP_MS = 50
LATE_MS = 20_000  # how long after the last word held pulls are waited for
RECORDS = {11, 12, 33, 361}
"""Requests whose answers have records as their body."""

Queue: TypeAlias = tuple[str, int]
Place: TypeAlias = tuple[str, int, int]
"""Topic, queue and queue offset."""


class Event(NamedTuple):
    t: int
    conn: int
    kind: str
    """open, close, say or hear"""
    command: RemotingCommand | None


class Exchange(NamedTuple):
    """A request, and what each broker answered; None: nothing."""

    request: RemotingCommand
    recorded: RemotingCommand | None
    ours: RemotingCommand | None


class Conversation(NamedTuple):
    name: str
    topics: dict[str, TopicConfig]
    events: list[Event]

    def said(self) -> Iterator[tuple[int, RemotingCommand]]:
        """Requests of the client: connection and command."""
        for event in self.events:
            command = event.command
            if event.kind == "say" and command is not None and not command.is_response:
                yield event.conn, command

    def answers(self) -> dict[tuple[int, int], RemotingCommand]:
        """By connection and opaque."""
        return {
            (event.conn, event.command.opaque): event.command
            for event in self.events
            if event.kind == "hear" and event.command is not None and event.command.is_response
        }


@cache
def conversations() -> dict[str, Conversation]:
    found: dict[str, Conversation] = {}
    for line in gzip.decompress(PATH.read_bytes()).splitlines():
        row = json.loads(line)
        if "topics" in row:
            topics = {name: TopicConfig(name, *sizes) for name, sizes in row["topics"].items()}
            found[row["of"]] = Conversation(row["of"], topics, [])
        else:
            commands = commands_in(bytes.fromhex(row["frame"])) if "frame" in row else [None]
            event = Event(row["t"], row["conn"], row["event"], commands[0])
            found[row["of"]].events.append(event)
    return {name: _without_refused(one) for name, one in found.items()}


def _without_refused(conversation: Conversation) -> Conversation:
    """Requests that the recorded broker was too busy for were said again: once is enough."""
    refused = {
        key
        for key, answer in conversation.answers().items()
        if answer.code == ResponseCode.SYSTEM_BUSY
    }
    kept = [
        event
        for event in conversation.events
        if event.command is None or (event.conn, event.command.opaque) not in refused
    ]
    return conversation._replace(events=kept)


class Past:
    """What a broker must have lived through for a conversation to be what it is."""

    def __init__(self, conversation: Conversation) -> None:
        self.topics = dict(conversation.topics)
        self.records: dict[Place, StoredMessage] = {}
        self.sizes: dict[Queue, int] = {}
        self.earliest_ms: dict[Queue, int] = {}
        self.committed: dict[tuple[str, str, int], int] = {}
        self.offsets: dict[int, Place] = {}
        """Where the recorded broker's log had what."""
        self.started_ms = _started_ms(conversation)
        self._first_sent: dict[Queue, int] = {}
        answers = conversation.answers()
        for conn, request in conversation.said():
            answer = answers.get((conn, request.opaque))
            if answer is not None:
                self._learn(request, answer)
        self._settle_sizes()

    def _settle_sizes(self) -> None:
        """How long each queue was at the beginning, from what is known of it later."""
        old: dict[Queue, int] = {}
        new: Counter[Queue] = Counter()
        for (topic, queue_id, offset), record in self.records.items():
            queue = (topic, queue_id)
            if self._is_new(record):
                new[queue] += offset < self.sizes.get(queue, 0)
            else:
                old[queue] = max(old.get(queue, 0), offset + 1)
                self.started_ms = max(self.started_ms, record.store_timestamp + 1)
        for queue in {*self.sizes, *old}:
            self.sizes[queue] = max(self.sizes.get(queue, 0) - new[queue], old.get(queue, 0))
        for (_, topic, queue_id), offset in self.committed.items():
            queue = (topic, queue_id)
            self.sizes[queue] = max(self.sizes.get(queue, 0), offset)
        self.sizes |= self._first_sent

    def _learn(self, request: RemotingCommand, answer: RemotingCommand) -> None:
        code, fields = request.code, request.ext_fields
        if code in RECORDS and answer.body:
            for record in decode_records(bytes(answer.body)):
                place = (record.topic, record.queue_id, record.queue_offset)
                self.records[place] = record
                self.offsets[record.log_offset] = place
        if code in (11, 361, 30) and answer.code in (0, 19, 20, 21):
            told = answer.ext_fields.get("maxOffset") or answer.ext_fields["offset"]
            self.sizes.setdefault((fields["topic"], int(fields["queueId"])), int(told))
        if answer.code:
            return
        if code in (310, 320, 325) and "DELAY\x01" not in fields["i"]:
            first = int(answer.ext_fields["queueOffset"])
            queue = (fields["b"], int(answer.ext_fields["queueId"]))
            self._first_sent[queue] = min(first, self._first_sent.get(queue, first))
            for step, one in enumerate(answer.ext_fields["msgId"].split(",")):
                self.offsets[parse_offset_message_id(one).log_offset] = (*queue, first + step)
        elif code == 32:
            queue = (fields["topic"], int(fields["queueId"]))
            self.earliest_ms[queue] = int(answer.ext_fields["timestamp"])
        elif code == 14:
            key = (fields["consumerGroup"], fields["topic"], int(fields["queueId"]))
            self.committed.setdefault(key, int(answer.ext_fields["offset"]))

    def _is_new(self, record: StoredMessage) -> bool:
        """Whether a record is of the conversation itself: sent in it, or delivered in it after a
        delay."""
        first = self._first_sent.get((record.topic, record.queue_id))
        is_sent = first is not None and record.queue_offset >= first
        return is_sent or REAL_TOPIC in record.properties

    def live_through(self, kit: BrokerKit) -> None:
        """Give a new broker this past."""
        for topic in self.topics.values():
            if kit.ask(351, {"topic": topic.name}).code:
                kit.make_topic(topic)
        drafts = []
        for (topic_name, queue_id), size in self.sizes.items():
            stored_ms = self.earliest_ms.get((topic_name, queue_id), self.started_ms - 1_000)
            for offset in range(size):
                record = self.records.get((topic_name, queue_id, offset))
                if record is not None:
                    stored_ms = record.store_timestamp
                drafts.append((stored_ms, offset, _draft(topic_name, queue_id, record)))
        for stored_ms, _, one in sorted(drafts, key=lambda entry: entry[:2]):
            kit.store.append(one, stored_ms)
        kit.finish()
        for (group, topic_name, queue_id), offset in self.committed.items():
            if offset > 0:
                fields = {"consumerGroup": group, "topic": topic_name, "queueId": str(queue_id)}
                assert kit.ask(15, {**fields, "commitOffset": str(offset)}).code == 0


def _draft(topic: str, queue_id: int, record: StoredMessage | None) -> MessageDraft:
    """A message of the past; of those that nobody was shown only their number is known."""
    if record is None:
        return draft(topic.encode(), queue_id, b"unknown", properties(UNIQ_KEY="unknown"))
    made = MessageDraft()
    fill_draft(made, record)
    return made


def _started_ms(conversation: Conversation) -> int:
    """On the client's wall clock: it says its time, or one shortly before, in what it sends."""
    found = []
    for event in conversation.events:
        command = event.command
        if event.kind == "say" and command is not None:
            told = command.ext_fields.get("g") or command.ext_fields.get("subVersion") or "0"
            found.append(int(told) - event.t)
    return max([one for one in found if one > 0], default=1_794_740_000_000)


class Replay:
    """Plays one conversation; then `exchanges` and `own` say what came of it."""

    def __init__(self, conversation: Conversation, config: BrokerConfig | None = None) -> None:
        self._conversation = conversation
        self.past = past = Past(conversation)
        self._clock = SimClock(past.started_ms - 1_000)
        self.kit = BrokerKit(
            config=config or BrokerConfig(has_trace_topic=True),
            identity=BrokerIdentity(address="127.0.0.1:50911"),
            storage=replace(
                STORAGE,
                log_file_bytes=1 << 20,
                store_host=bytes((127, 0, 0, 1)) + (50911).to_bytes(4, "big"),
                delay_levels_ms=(1_000, 2_000, *[1_000] * 16),
            ),
            clock=self._clock,
        )
        past.live_through(self.kit)
        self._heard: dict[int, dict[int, RemotingCommand]] = defaultdict(dict)
        self._own: dict[int, list[RemotingCommand]] = defaultdict(list)
        """What the broker said to each connection by itself."""
        self._recorded_own: dict[int, list[RemotingCommand]] = defaultdict(list)
        self._play()

    # Playing.

    def _play(self) -> None:
        began = self._clock.now().monotonic_ms
        open_now: set[int] = set()
        for event in self._conversation.events:
            self._until(began + event.t, open_now)
            channel = ChannelId(100 + event.conn)
            if event.kind != "close" and event.conn not in open_now:
                self.kit.open(channel)
                open_now.add(event.conn)
            if event.kind == "close" and event.conn in open_now:
                self.kit.close(channel)
                open_now.discard(event.conn)
            elif event.kind == "say" and event.command is not None:
                self._say(event.conn, event.command)
            elif event.command is not None and not event.command.is_response:
                self._recorded_own[event.conn].append(event.command)
            self._listen(open_now)
        self._until(self._clock.now().monotonic_ms + LATE_MS, open_now)

    def _until(self, monotonic_ms: int, open_now: set[int]) -> None:
        while True:
            left = monotonic_ms - self._clock.now().monotonic_ms
            if left <= 0:
                break
            self.kit.tick(min(left, STEP_MS))
            self.kit.work()
            self._listen(open_now)
        self.kit.finish()
        self._listen(open_now)

    def _say(self, conn: int, command: RemotingCommand) -> None:
        said = RemotingCommand(
            command.code,
            flag=command.flag,
            opaque=command.opaque,
            version=command.version,
            language=command.language,
            remark=command.remark,
            ext_fields=self._in_our_words(command),
            body=bytes(command.body),
        )
        said.serialize_type = command.serialize_type
        if command.is_response:
            mine = self._counterpart(conn, command.opaque)
            if mine is None:
                return
            said.opaque = mine.opaque
        self.kit.send_frames(b"".join(encode(said)), ChannelId(100 + conn))
        self.kit.finish()

    def _in_our_words(self, command: RemotingCommand) -> dict[str, str]:
        fields = dict(command.ext_fields)
        if command.code in (33, 36) and "offset" in fields:
            fields["offset"] = str(self._our_offset(int(fields["offset"])))
        if command.code == 309 and "msgId" in fields:
            told = parse_offset_message_id(fields["msgId"])
            place = LogOffset(self._our_offset(told.log_offset))
            fields["msgId"] = str(OffsetMessageId(told.address, told.port, place))
        return fields

    def _our_offset(self, recorded: int) -> int:
        """Where our log has what the recorded one had there; the same number for nothing."""
        place = self.past.offsets.get(recorded)
        if place is None:
            return recorded
        topic, queue_id, offset = place
        queue = self.kit.store.queue(topic.encode(), queue_id)
        unit = queue.unit(offset) if queue is not None else None
        return unit[0] if unit is not None else recorded

    def _counterpart(self, conn: int, opaque: int) -> RemotingCommand | None:
        """Our request that stands where the recorded one with this opaque stood."""
        seen: Counter[int] = Counter()
        for recorded in self._recorded_own[conn]:
            seen[recorded.code] += 1
            if recorded.opaque == opaque:
                mine = [one for one in self._own[conn] if one.code == recorded.code]
                number = seen[recorded.code]
                return mine[number - 1] if number <= len(mine) else None
        return None

    def _listen(self, open_now: set[int]) -> None:
        for conn in open_now:
            for command in self.kit.heard(ChannelId(100 + conn)):
                if command.is_response:
                    assert command.opaque not in self._heard[conn], "answered twice"
                    self._heard[conn][command.opaque] = command
                else:
                    self._own[conn].append(command)

    # What came of it.

    def exchanges(self) -> list[Exchange]:
        """Every request of the client, in the order of the recording."""
        recorded = self._conversation.answers()
        return [
            Exchange(request, recorded.get((conn, request.opaque)), self._answer(conn, request))
            for conn, request in self._conversation.said()
        ]

    def _answer(self, conn: int, request: RemotingCommand) -> RemotingCommand | None:
        return self._heard[conn].get(request.opaque)

    def own(self) -> tuple[list[tuple[int, RemotingCommand]], list[tuple[int, RemotingCommand]]]:
        """What the brokers said by themselves, the recorded one and ours, with the connection."""
        return (
            [(conn, one) for conn, said in self._recorded_own.items() for one in said],
            [(conn, one) for conn, said in self._own.items() for one in said],
        )


def values(command: RemotingCommand) -> Any:
    """A command without what only correlates it."""
    return command.code, command.flag, command.ext_fields
