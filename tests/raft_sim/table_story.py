"""A story of tables: offsets are committed, topics made and deleted, producers opened and messages
sent to be stored once, while leaders are killed, cut off and replaced. Whoever leads next has what
was acknowledged, and nothing that was given up.

The brokers are whole ones (`tests.member_kit`). A value that was told and not acknowledged may be
there or not when the next leader is asked; from then on only its answer counts. A message that was
not acknowledged is sent again, and is stored once.
"""

import random

from aerobee.model.topic import TopicConfig
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from aerobee.protocol.response_codes import ResponseCode
from tests.broker_kit import create_fields
from tests.member_kit import Member, MemberGroup
from tests.once_kit import FENCED, OPEN_PRODUCER, SEND_ONCE, once_fields
from tests.send_rig import send_frame

ORDERS = TopicConfig("Orders", 4, 4)
QUEUE = 1
MESSAGES = 30
GROUPS = ("g", "h")
PRODUCERS = ("P", "Q")
SENDER, ONCE_QUEUE = "S", 2
ACK_MS = 400
REPEATED = 3
"""So many messages are sent again after they were stored for sure."""
_COMMIT, _QUERY, _CREATE, _DELETE, _TOPIC = 15, 14, 17, 215, 351
_SETTLED_MS = 4_500
"""Long enough that files are saved and followers have copied them."""


class TableStory:
    def __init__(self, seed: int, count: int = 3) -> None:
        self._dice = random.Random(seed)
        self.group = MemberGroup(count, ORDERS)
        self._leader = self.group.elected()
        # What is known of each row, and what it may be as well.
        self._known: dict[str, object] = dict.fromkeys((*GROUPS, *PRODUCERS), 0)
        self._open: dict[str, dict[int, object]] = {}
        self._told = 100
        self._topics = 0
        self._sequence = 0
        self._judged_to = 0
        for number in range(MESSAGES):
            self._leader.kit.send_frames(send_frame(body=b"%d" % number))
        self.group.run(100)
        self.judged = 0

    def run(self, rounds: int) -> None:
        for _ in range(rounds):
            for _ in range(self._dice.randrange(1, 5)):
                self._change(self._leader)
            if self._dice.random() < 0.4:
                self.group.run(_SETTLED_MS)
                self._change(self._leader)
            self._dice.choice((self._kill, self._cut_off, self._hand_over))()
            self._judge()

    # Changes.

    def _change(self, leader: Member) -> None:
        kind = self._dice.random()
        if kind < 0.3:
            self._change_topic(leader)
            return
        if kind < 0.5:
            self._open_producer(leader)
            return
        if kind < 0.6:
            self._send_once(leader)
            return
        group = self._dice.choice(GROUPS)
        offset = self._dice.randrange(MESSAGES + 1)
        fields = {"consumerGroup": group, "topic": "Orders", "queueId": str(QUEUE)}
        self._tell(leader, _COMMIT, {**fields, "commitOffset": str(offset)}, group, offset)

    def _change_topic(self, leader: Member) -> None:
        made = [name for name, value in self._known.items() if name.startswith("T") and value]
        if made and self._dice.random() < 0.4:
            name = self._dice.choice(made)
            self._tell(leader, _DELETE, {"topic": name}, name, 0)
            return
        self._topics += 1
        queues = self._dice.randrange(1, 6)
        topic = TopicConfig(f"T{self._topics}", queues, queues)
        self._known.setdefault(topic.name, 0)
        self._tell(leader, _CREATE, create_fields(topic), topic.name, queues)

    def _open_producer(self, leader: Member) -> None:
        """An epoch is the number of the request: each is above those before."""
        producer, epoch = self._dice.choice(PRODUCERS), self._told
        fields = {"producerId": producer, "topic": "Orders", "epoch": str(epoch)}
        self._tell(leader, OPEN_PRODUCER, fields, producer, epoch)

    def _send_once(self, leader: Member) -> None:
        self._sequence += 1
        fields = once_fields(self._sequence, producer=SENDER, queue=ONCE_QUEUE)
        leader.kit.tell(SEND_ONCE, fields, b"%d" % self._sequence)
        self.group.run(self._dice.choice((0, 10, ACK_MS)))

    def _tell(
        self, leader: Member, code: int, fields: dict[str, str], row: str, value: object
    ) -> None:
        """A change; it counts once it is acknowledged, and may count if it is not."""
        self._told += 1
        self._open.setdefault(row, {})[self._told] = value
        command = RemotingCommand(code, opaque=self._told, version=513, ext_fields=fields)
        leader.kit.send_frames(b"".join(encode(command)))
        self.group.run(self._dice.choice((0, 10, 20, ACK_MS)))
        for answer in leader.kit.heard():
            if answer.is_response and answer.code == 0:
                self._acknowledged(answer.opaque)

    def _acknowledged(self, told: int) -> None:
        for row, values in self._open.items():
            if told in values:
                self._known[row] = values[told]
                # Those that were told later may count, too.
                self._open[row] = {one: value for one, value in values.items() if one > told}

    # Faults.

    def _kill(self) -> None:
        first = self._leader
        self.group.stop(first.number)
        self._leader = self.group.elected(first.number)
        self._judge()
        if self._dice.random() < 0.5:
            self._change(self._leader)
        first.restart()
        self.group.run(self._dice.choice((500, _SETTLED_MS)))

    def _cut_off(self) -> None:
        """A leader goes on for a while alone, and everything that it was told is given up."""
        first = self._leader
        self.group.cuts = {frozenset((first.number, one.number)) for one in self.group.members}
        for _ in range(3):
            self._change(first)
        self._leader = self.group.elected(first.number)
        self._judge()
        self._change(self._leader)
        self.group.cuts.clear()
        self.group.run(self._dice.choice((1_500, _SETTLED_MS)))

    def _hand_over(self) -> None:
        self.group.run(500)
        if self._leader.seat.hand_over():
            self.group.run(200)
        self._leader = self.group.elected()

    # The judge.

    def _judge(self) -> None:
        self.group.run(100)  # what this leader was told has had its effect
        self._leader = self.group.elected()
        for group in GROUPS:
            fields = {"consumerGroup": group, "topic": "Orders", "queueId": str(QUEUE)}
            found = self.group.ask(self._leader, _QUERY, fields)
            self._judge_row(group, int(found.ext_fields.get("offset", "0")))
        for name in [one for one in self._known if one.startswith("T")]:
            self._judge_row(name, _queues_in(self.group.ask(self._leader, _TOPIC, {"topic": name})))
        for producer in PRODUCERS:
            self._judge_row(producer, self._epoch_of(producer))
        self._judge_once()

    def _epoch_of(self, producer: str) -> int:
        """The epoch of a producer, in the refusal of one before it; 0: it has none."""
        fields = once_fields(0, producer=producer, epoch=0, queue=ONCE_QUEUE)
        answer = self.group.ask(self._leader, SEND_ONCE, fields, b"never")
        if answer.code != FENCED:
            return 0
        return int(answer.remark.partition("its epoch is ")[2].partition(",")[0])

    def _judge_once(self) -> None:
        """Whatever is sent again is stored once, acknowledged before or not."""
        for sequence in range(self._judged_to + 1, self._sequence + 1):
            fields = once_fields(sequence, producer=SENDER, queue=ONCE_QUEUE)
            assert self.group.ask(self._leader, SEND_ONCE, fields, b"%d" % sequence).code == 0
        self.group.run(50)
        bodies = self._leader.kit.bodies(queue_id=ONCE_QUEUE)
        numbers = sorted(int(body) for body in bodies if body != b"never")
        wanted = list(range(1, self._sequence + 1))
        assert numbers == wanted, f"{numbers} are stored of {wanted}"
        self._judged_to = max(self._judged_to, self._sequence - REPEATED)

    def _judge_row(self, row: str, found: object) -> None:
        allowed = {self._known[row], *self._open.pop(row, {}).values()}
        assert found in allowed, f"{row} is {found} at the new leader, and may be {allowed}"
        self._known[row] = found
        self.judged += 1


def _queues_in(answer: RemotingCommand) -> int:
    """The number of a topic's queues; 0: it does not exist."""
    if answer.code != ResponseCode.SUCCESS:
        return 0
    return int(bytes(answer.body).partition(b'"writeQueueNums":')[2].partition(b",")[0].strip(b"}"))
