"""A conversation between a real client and Apache's broker, played to ours by the client's side.

A recording begins in the middle of a broker's life: `broker_past` gives ours the same. Then every
frame of the client is said again, at its time. Two things in them belong to the recorded broker and
are put into ours' words: places in the log (a record is the same if topic, queue and offset are),
and the opaque of a request of the broker's own that the client answers.
"""

from collections import Counter, defaultdict
from dataclasses import replace
from typing import NamedTuple

from aerobee.model.message_id import OffsetMessageId, parse_offset_message_id
from aerobee.model.message_queue import LogOffset
from aerobee.ports.service import ChannelId
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from aerobee.service.broker.config import BrokerConfig, BrokerIdentity
from aerobee.sim.clock import SimClock
from tests.broker_kit import STORAGE, BrokerKit
from tests.broker_past import FIRST_CHANNEL, Past
from tests.conversation import Conversation

STEP_MS = 50
LATE_MS = 20_000  # how long after the last word held pulls are waited for


class Exchange(NamedTuple):
    """A request, and what each broker answered; None: nothing."""

    request: RemotingCommand
    recorded: RemotingCommand | None
    ours: RemotingCommand | None


class Replay:
    """Plays one conversation; then `exchanges` and `own` say what came of it."""

    def __init__(self, conversation: Conversation, config: BrokerConfig | None = None) -> None:
        self._conversation = conversation
        self.past = past = Past(conversation)
        self._clock = SimClock(past.started_ms - 1_000)
        self.kit = BrokerKit(
            config=config or BrokerConfig(has_trace_topic=True, recalls=True),
            identity=BrokerIdentity(address="127.0.0.1:50911"),
            storage=replace(
                STORAGE,
                log_file_bytes=1 << 20,
                store_host=bytes((127, 0, 0, 1)) + (50911).to_bytes(4, "big"),
                delay_levels_ms=(1_000, 2_000, *[1_000] * 16),
            ),
            clock=self._clock,
        )
        self._open = past.live_through(self.kit)
        self._heard: dict[int, dict[int, RemotingCommand]] = defaultdict(dict)
        self._own: dict[int, list[RemotingCommand]] = defaultdict(list)
        """What the broker said to each connection by itself."""
        self._recorded_own: dict[int, list[RemotingCommand]] = defaultdict(list)
        self._play()

    # Playing.

    def _play(self) -> None:
        began = self._clock.now().monotonic_ms
        open_now = self._open
        for event in self._conversation.events:
            self._until(began + event.t, open_now)
            channel = ChannelId(FIRST_CHANNEL + event.conn)
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
        self.kit.send_frames(b"".join(encode(said)), ChannelId(FIRST_CHANNEL + conn))
        self.kit.finish()

    def _in_our_words(self, command: RemotingCommand) -> dict[str, str]:
        fields = dict(command.ext_fields)
        if command.code in (33, 36) and "offset" in fields:
            fields["offset"] = str(self._our_offset(int(fields["offset"])))
        if command.code == 37:
            fields["commitLogOffset"] = str(self._our_offset(int(fields["commitLogOffset"])))
        if command.code == 309 and "msgId" in fields:
            told = parse_offset_message_id(fields["msgId"])
            place = LogOffset(self._our_offset(told.log_offset))
            fields["msgId"] = str(OffsetMessageId(told.address, told.port, place))
        if command.code in (200051, 200053):
            fields["extraInfo"] = self._our_receipt(fields["extraInfo"])
        return fields

    def _our_receipt(self, recorded: str) -> str:
        """What our answer to the same request has for the time and the revive queue."""
        parts = recorded.split(" ")
        for (conn, opaque), answer in self._conversation.answers().items():
            ours = self._heard[conn].get(opaque)
            if answer.ext_fields.get("popTime") == parts[1] and ours is not None:
                parts[1], parts[3] = ours.ext_fields["popTime"], ours.ext_fields["reviveQid"]
                break
        return " ".join(parts)

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
            for command in self.kit.heard(ChannelId(FIRST_CHANNEL + conn)):
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
