"""The past that a broker must have lived through for a recorded conversation to be what it is.

Read off the conversation: topics from the routes that its client asked for, messages from the
records that it was shown, how long each queue was, what groups had committed and who was connected
from what it was told.
"""

import json
from collections import Counter
from typing import Any, TypeAlias

from aerobee.model.message import StoredMessage
from aerobee.model.message_id import parse_offset_message_id
from aerobee.model.names import TRANSACTION_HALF_TOPIC
from aerobee.model.properties import POP_CHECKPOINT, REAL_TOPIC
from aerobee.model.topic import TopicConfig
from aerobee.ports.service import ChannelId
from aerobee.protocol.bodies.topic_config import topic_config_from
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.message.stored_message import decode_records, fill_draft
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import parse
from tests.broker_kit import BrokerKit, create_fields, pull_fields
from tests.conversation import Conversation
from tests.store_kit import draft, properties

RECORDS = {11, 12, 33, 361, 200050}
"""Requests whose answers have records as their body."""
SENDS = {310, 320, 325}
FIRST_CHANNEL = 100
"""The channel of connection 0."""
UNSEEN_CONN = 400
"""From here on: connections of clients that were there and said nothing."""
_HELD_MS = 1_794_734_350_000  # when the tools of the recordings were used
_QUEUES = 4  # of a topic that is only named

Queue: TypeAlias = tuple[str, int]
Place: TypeAlias = tuple[str, int, int]
"""Topic, queue and queue offset."""


class Past:
    def __init__(self, conversation: Conversation) -> None:
        self.topics = dict(conversation.topics)
        self.groups: dict[str, Any] = {}
        """As request 225 has them."""
        self.records: dict[Place, StoredMessage] = {}
        self.stored_ms: dict[Place, int] = {}
        self.sizes: dict[Queue, int] = {}
        self.earliest_ms: dict[Queue, int] = {}
        self.committed: dict[tuple[str, str, int], int] = {}
        self.pulled: dict[tuple[str, str, int], int] = {}
        self.readers: set[tuple[str, str]] = set()
        """Groups that have read of a topic, wherever they are."""
        self.popped: set[tuple[str, str]] = set()
        """Topics that groups pop."""
        self.beats: dict[str, dict[str, Any]] = {}
        """A heartbeat of each client that was connected."""
        self.offsets: dict[int, Place] = {}
        """Where the recorded broker's log had what."""
        self.started_ms = _started_ms(conversation)
        self.conns = {
            command.ext_fields["clientId"]: conn
            for conn, command in conversation.heard()
            if "clientId" in command.ext_fields
        }
        self._first_sent: dict[Queue, int] = {}
        answers = conversation.answers()
        for conn, request in conversation.said():
            answer = answers.get((conn, request.opaque))
            if answer is not None:
                self._learn_places(request, answer)
                if answer.code == 0:
                    self._learn_tables(request, answer)
        for _, asked in conversation.heard():
            if asked.code == RequestCode.CHECK_TRANSACTION_STATE and not asked.is_response:
                place = (TRANSACTION_HALF_TOPIC, 0, int(asked.ext_fields["tranStateTableOffset"]))
                self.offsets[int(asked.ext_fields["commitLogOffset"])] = place
        self._settle_sizes()

    # Messages and queues.

    def _learn_places(self, request: RemotingCommand, answer: RemotingCommand) -> None:
        code, fields = request.code, request.ext_fields
        if code in RECORDS and answer.body:
            for record in decode_records(bytes(answer.body)):
                if POP_CHECKPOINT in record.properties:
                    continue  # it came back in the conversation itself
                place = (record.topic, record.queue_id, record.queue_offset)
                self.records[place] = record
                self.offsets[record.log_offset] = place
        if code in (11, 361, 30) and answer.code in (0, 19, 20, 21):
            told = answer.ext_fields.get("maxOffset") or answer.ext_fields["offset"]
            self.sizes.setdefault((fields["topic"], int(fields["queueId"])), int(told))
        if answer.code:
            return
        if code in SENDS and "DELAY\x01" not in fields["i"]:
            first = int(answer.ext_fields["queueOffset"])
            queue = (fields["b"], int(answer.ext_fields["queueId"]))
            if "TRAN_MSG\x01true" in fields["i"]:
                queue = (TRANSACTION_HALF_TOPIC, 0)
            self._first_sent[queue] = min(first, self._first_sent.get(queue, first))
            for step, one in enumerate(answer.ext_fields["msgId"].split(",")):
                self.offsets[parse_offset_message_id(one).log_offset] = (*queue, first + step)
        elif code == 32:
            queue = (fields["topic"], int(fields["queueId"]))
            self.earliest_ms[queue] = int(answer.ext_fields["timestamp"])
        elif code == 14:
            key = (fields["consumerGroup"], fields["topic"], int(fields["queueId"]))
            self.committed.setdefault(key, int(answer.ext_fields["offset"]))

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

    def _is_new(self, record: StoredMessage) -> bool:
        """Whether a record is of the conversation itself: sent in it, or delivered in it after a
        delay."""
        first = self._first_sent.get((record.topic, record.queue_id))
        is_sent = first is not None and record.queue_offset >= first
        return is_sent or REAL_TOPIC in record.properties

    # What tools are told.

    def _learn_tables(self, request: RemotingCommand, answer: RemotingCommand) -> None:
        code, fields, body = request.code, request.ext_fields, bytes(answer.body)
        group = fields.get("consumerGroup") or fields.get("group", "")
        if code in (15, 202, 222, 300):
            topic = fields["topic"]
            self.topics.setdefault(topic, TopicConfig(topic, _QUEUES, _QUEUES))
        if code == 21:
            for name, row in Members(parse(body), "topics").object("topicConfigTable").objects():
                self.topics.setdefault(name, topic_config_from(row, name))
        elif code == 201:
            self.groups |= json.loads(body)["subscriptionGroupTable"]
        elif code == 202:
            for place, row in _queues_in(parse(body)):
                self.sizes.setdefault(place, row["maxOffset"])
                self.stored_ms[(*place, row["maxOffset"] - 1)] = row["lastUpdateTimestamp"]
        elif code == 208:
            self._learn_stats(group, _queues_in(parse(body)))
        elif code == 317:
            told: Any = parse(body)
            for name, tables in [pair for one in told["consumeStatsList"] for pair in one.items()]:
                self.groups.setdefault(name, {"groupName": name})
                for table in tables:
                    self._learn_stats(name, _queues_in(table))
        elif code == 222:
            self.groups.setdefault(group, {"groupName": group})
            for place, offset in _queues_in(parse(body)):
                self.sizes.setdefault(place, offset)
        elif code == 300:
            for name in json.loads(body)["groupList"]:
                self.readers.add((name, fields["topic"]))
        elif code == 321:
            self._learn_units(fields, json.loads(body))
        elif code == 401:
            self._learn_mode(json.loads(bytes(request.body)))
        elif code in (203, 204, 328):
            self._learn_clients(code, fields, json.loads(body))
        elif code == 400 and b'"mode":"POP"' in body:
            question = json.loads(bytes(request.body))
            self.popped.add((question["topic"], question["consumerGroup"]))
        elif code in (307, 309):
            self._beat(fields["clientId"], consumer={"groupName": group})

    def _learn_units(self, fields: dict[str, str], told: dict[str, Any]) -> None:
        topic = fields["topic"]
        self.topics.setdefault(topic, TopicConfig(topic, _QUEUES, _QUEUES))
        self.sizes.setdefault((topic, int(fields["queueId"])), told["maxQueueIndex"])
        if "subscriptionData" in told:
            subscribed = {"subscriptionDataSet": [told["subscriptionData"]]}
            self._beat("unseen", consumer={"groupName": fields["consumerGroup"], **subscribed})

    def _learn_mode(self, asked: dict[str, Any]) -> None:
        topic, group = asked["topic"], asked["consumerGroup"]
        self.topics.setdefault(topic, TopicConfig(topic, _QUEUES, _QUEUES))
        self.groups.setdefault(group, {"groupName": group})

    def _learn_stats(self, group: str, rows: list[tuple[Queue, Any]]) -> None:
        for place, row in rows:
            offset = row["consumerOffset"]
            self.topics.setdefault(place[0], TopicConfig(place[0], _QUEUES, _QUEUES))
            self.sizes.setdefault(place, row["brokerOffset"])
            self.committed.setdefault((group, *place), offset)
            self.pulled.setdefault((group, *place), row["pullOffset"])
            if row["lastTimestamp"]:
                self.stored_ms.setdefault((*place, offset - 1), row["lastTimestamp"])

    def _learn_clients(self, code: int, fields: dict[str, str], told: dict[str, Any]) -> None:
        if code == 203:
            names = ("consumeFromWhere", "consumeType", "messageModel")
            consumer = {name: told[name] for name in names}
            consumer["groupName"] = fields["consumerGroup"]
            consumer["subscriptionDataSet"] = list(told["subscriptionTable"].values())
            for one in told["connectionSet"]:
                self._beat(one["clientId"], consumer=consumer)
        elif code == 204:
            for one in told["connectionSet"]:
                self._beat(one["clientId"], producer=fields["producerGroup"])
        else:
            for group, members in told["data"].items():
                for one in members:
                    self._beat(one["clientId"], producer=group)

    def _beat(self, client: str, *, consumer: Any = None, producer: str = "") -> None:
        empty: dict[str, Any] = {"clientID": client, "consumerDataSet": [], "producerDataSet": []}
        beat = self.beats.setdefault(client, empty)
        if consumer is not None and not beat["consumerDataSet"]:
            beat["consumerDataSet"].append(consumer)
        if producer:
            beat["producerDataSet"].append({"groupName": producer})

    # Living.

    def live_through(self, kit: BrokerKit) -> set[int]:
        """Give a new broker this past; the connections that are open after it."""
        for topic in self.topics.values():
            if kit.ask(351, {"topic": topic.name}).code:
                # 29: one of those that every broker of Apache has, and of which ours has no need.
                assert kit.ask(17, create_fields(topic)).code in (0, 29)
        if self.groups:
            body = json.dumps({"groupConfigList": list(self.groups.values())}).encode()
            assert kit.ask(225, body=body).code == 0
        for topic_name, group in self.popped:
            mode = {"topic": topic_name, "consumerGroup": group, "mode": "POP"}
            assert kit.ask(401, body=json.dumps(mode).encode()).code == 0
        self._fill(kit)
        conns = self._connect(kit)
        for group, topic_name in self.readers - {key[:2] for key in self.committed}:
            self.committed[group, topic_name, 0] = 0
        for (group, topic_name, queue_id), offset in self.committed.items():
            fields = {"consumerGroup": group, "topic": topic_name, "queueId": str(queue_id)}
            is_read = (group, topic_name) in self.readers
            if offset > 0 or is_read or (group, topic_name, queue_id) in self.pulled:
                assert kit.ask(15, {**fields, "commitOffset": str(offset)}).code == 0
        for (group, topic_name, queue_id), offset in self.pulled.items():
            said = {"consumerGroup": group, "topic": topic_name, "queueId": queue_id}
            kit.ask(11, pull_fields(**said, queueOffset=offset, maxMsgNums=1))
        return conns

    def _fill(self, kit: BrokerKit) -> None:
        drafts = []
        for queue, size in self.sizes.items():
            records = [self.records.get((*queue, offset)) for offset in range(size)]
            times = [
                record.store_timestamp if record else self.stored_ms.get((*queue, offset), 0)
                for offset, record in enumerate(records)
            ]
            first = next(filter(None, times), self.started_ms - 1_000)
            stored_ms = self.earliest_ms.get(queue, first)
            for offset, record in enumerate(records):
                stored_ms = times[offset] or stored_ms
                drafts.append((stored_ms, offset, _draft(*queue, record)))
        for stored_ms, _, one in sorted(drafts, key=lambda entry: entry[:2]):
            kit.store.append(one, stored_ms)
        kit.finish()

    def _connect(self, kit: BrokerKit) -> set[int]:
        conns = set()
        for number, (client, beat) in enumerate(self.beats.items()):
            conn = self.conns.get(client, UNSEEN_CONN + number)
            channel = ChannelId(FIRST_CHANNEL + conn)
            kit.open(channel)
            assert kit.ask(34, body=json.dumps(beat).encode(), channel=channel).code == 0
            conns.add(conn)
        for conn in conns:
            kit.heard(ChannelId(FIRST_CHANNEL + conn))
        return conns


def _queues_in(table: Any) -> list[tuple[Queue, Any]]:
    """The rows of a table by queue."""
    found = []
    for key, row in table["offsetTable"].items():
        place = dict(key)
        found.append(((place["topic"], place["queueId"]), row))
    return found


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
    return max([one for one in found if one > 0], default=_HELD_MS)
