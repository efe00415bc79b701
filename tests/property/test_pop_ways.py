"""The short ways of pops and acknowledgements and the general ones are two programs with one
meaning: whatever happens in between, the same requests are answered the same, the log says the same
of them, and the same messages come back.

Both brokers get the same frames. One handles them as they come from a connection, the other has
every frame decoded and served by its general handlers. Acknowledgements of one read may be divided
into records otherwise.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

from aerobee.model.group import GroupConfig
from aerobee.model.message import StoredMessage
from aerobee.model.message_queue import LogOffset
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.group_config import encode_group_config
from aerobee.protocol.bodies.revive_records import decode_ack, decode_checkpoint
from aerobee.protocol.consume.pop_receipt import encode_pop_receipt
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from tests.broker_kit import OTHER, STORAGE, SYNC, create_fields, records_in
from tests.pop_kit import Got, PopKit, got_in

ORDERS = TopicConfig("Orders", 2, 2)
RANKED = replace(ORDERS, attributes={"message.type": "PRIORITY"})
LATER_MS = 40_000

Heard: TypeAlias = list[tuple[RemotingCommand, list[StoredMessage]]]


class Side:
    """One of the two brokers, and what its consumer has."""

    def __init__(self, *, is_short: bool, is_sync: bool) -> None:
        self.kit = PopKit(queues=2, storage=SYNC if is_sync else STORAGE)
        self.is_short = is_short
        self.got: list[Got] = []
        self._opaque = 100

    def read(self, code: int, *requests: dict[str, str], flag: int = 0) -> Heard:
        """What is answered to the requests of one read."""
        frames = []
        for fields in requests:
            self._opaque += 1
            command = RemotingCommand(code, flag=flag, opaque=self._opaque, ext_fields=fields)
            frames += encode(command)
        (self.kit.send_frames if self.is_short else self.kit.handle_frames)(b"".join(frames))
        return self.heard()

    def heard(self) -> Heard:
        self.kit.finish()
        heard: Heard = []
        for answer in sorted(self.kit.heard(), key=lambda answer: answer.opaque):
            if "msgOffsetInfo" in answer.ext_fields:
                self.got += got_in(answer)
            messages = [_without_places(one) for one in records_in(answer)]
            answer.body = b""
            heard.append((answer, messages))
        return heard

    def committed(self) -> list[int]:
        """How far the group is."""
        retry = "%RETRY%g_Orders"
        queues = [("Orders", 0), ("Orders", 1), (retry, 0), (retry, 1)]
        return [self.kit.committed(topic, queue_id) for topic, queue_id in queues]

    def logged(self) -> tuple[list[object], dict[object, set[int]]]:
        """What the log says: checkpoints, and what of each is acknowledged."""
        checkpoints: list[object] = []
        acked: dict[object, set[int]] = {}
        for record in self.kit.messages("rmq_sys_wheel_timer"):
            said = record.properties
            due = (said["TIMER_OUT_MS"], said["REAL_QID"])
            if said["TAGS"] == "ck":
                checkpoints.append((decode_checkpoint(record.body), due, said["POP_TO"]))
            else:
                ack = decode_ack(record.body)
                acked.setdefault((ack.key, due), set()).update(ack.offsets)
        return checkpoints, acked


def _without_places(message: StoredMessage) -> StoredMessage:
    """A message without what follows from its place in the log."""
    named = {name: text for name, text in message.properties.items() if name != "ORIGIN_MESSAGE_ID"}
    return replace(message, log_offset=LogOffset(0), prepared_offset=LogOffset(0), properties=named)


Step: TypeAlias = Callable[[Side], Heard]


def popped(fields: dict[str, object], times: int, flag: int = 0) -> Step:
    return lambda side: side.read(
        200050, *[side.kit.fields(**fields) for _ in range(times)], flag=flag
    )


def acked(picks: list[int], flag: int = 0, **other: object) -> Step:
    """Acknowledge some of what was popped last, in one read."""

    def act(side: Side) -> Heard:
        chosen = [side.got[-1 - pick] for pick in picks if pick < len(side.got)]
        return side.read(200051, *[side.kit.ack_fields(one, **other) for one in chosen], flag=flag)

    return act


def strangely_acked(pick: int, change: Callable[[list[str]], None]) -> Step:
    """With a receipt that somebody was at."""

    def act(side: Side) -> Heard:
        if pick >= len(side.got):
            return []
        parts = encode_pop_receipt(side.got[-1 - pick].receipt).split(" ")
        change(parts)
        return side.read(
            200051, side.kit.ack_fields(side.got[-1 - pick], extraInfo=" ".join(parts))
        )

    return act


def put(index: int, text: str) -> Callable[[list[str]], None]:
    def change(parts: list[str]) -> None:
        parts[index] = text

    return change


def filled(queue_id: int, tag: str, count: int) -> Step:
    def act(side: Side) -> Heard:
        side.kit.fill(count, queue_id, TAGS=tag)
        return side.heard()

    return act


def waited(ms: int) -> Step:
    def act(side: Side) -> Heard:
        side.kit.run(ms, 250)
        return side.heard()

    return act


def asked(code: int, fields: dict[str, str], body: bytes = b"") -> Step:
    def act(side: Side) -> Heard:
        answer = side.kit.ask(code, fields, body, OTHER)
        return [(answer, [])]

    return act


def reset(queue_id: int, offset: int) -> Step:
    fields = {"topic": "Orders", "group": "g", "timestamp": "0", "isForce": "true"}
    return asked(222, {**fields, "queueId": str(queue_id), "offset": str(offset)})


QUEUES = st.integers(0, 1)
PICKS = st.lists(st.integers(0, 9), min_size=1, max_size=8)
same_pops = st.builds(popped, st.just({"maxMsgNums": 3}), st.integers(1, 3))
other_pops = st.builds(
    popped,
    st.fixed_dictionaries(
        {
            "maxMsgNums": st.sampled_from([1, 32]),
            "queueId": st.sampled_from([-1, 0, 1, 2]),
            "exp": st.sampled_from(["*", "A"]),
            "invisibleTime": st.sampled_from([2_000, 10_000]),
            "order": st.sampled_from(["false", "false", "true"]),
            "initMode": st.sampled_from([0, 1]),
            "pollTime": st.sampled_from([0, 3_000]),
        }
    ),
    st.integers(1, 2),
    st.sampled_from([0, 0, 2]),
)
STRANGE = [
    put(0, "-0"),
    put(0, "007"),
    put(1, "-1"),
    put(1, "9223372036854775807"),
    put(2, "9223372036854775808"),
    put(3, "8"),
    put(3, "999"),
    put(5, "broker-b"),
    put(6, "2147483648"),
    put(7, "-1"),
]
strange_acks = st.builds(strangely_acked, st.integers(0, 3), st.sampled_from(STRANGE))
other_acks = st.one_of(
    PICKS.map(lambda picks: acked(picks, flag=2)),
    st.sampled_from([-1, 1, 2, 7]).map(lambda queue_id: acked([0], queueId=queue_id)),
    st.sampled_from([-1, 0, 5, 1_000]).map(lambda offset: acked([0], offset=offset)),
    st.sampled_from(["None", "Other"]).map(lambda topic: acked([0], topic=topic)),
)
topics = st.sampled_from(
    [
        ORDERS,
        replace(ORDERS, read_queues=1),
        replace(ORDERS, permission=2),
        RANKED,
        replace(ORDERS, attributes={"message.type": "NORMAL"}),
    ]
)
settings_said = st.sampled_from(
    [
        b"brokerPermission=6\n",
        b"brokerPermission=2\n",
        b"priorityOrderAsc=false\n",
        b"popFromRetryProbabilityForPriority=50\n",
        b"useSeparateRetryQueue=true\n",
        b"useSeparateRetryQueue=false\n",
    ]
)
factors = st.sampled_from(["0", "50", "100"]).map(
    lambda percent: GroupConfig("g", attributes={"+priority.factor": percent})
)
changes = st.one_of(
    st.builds(filled, QUEUES, st.sampled_from("AB"), st.integers(1, 6)),
    topics.map(lambda topic: asked(17, create_fields(topic))),
    settings_said.map(lambda text: asked(25, {}, text)),
    factors.map(lambda group: asked(200, {}, encode_group_config(group))),
    st.sampled_from(["true", "false"]).map(
        lambda word: asked(353, {"group": "g", "topic": "Orders", "readable": word})
    ),
    st.builds(reset, QUEUES, st.integers(0, 4)),
    st.sampled_from([250, 2_500, 12_000]).map(waited),
)
requests = st.sampled_from(
    [same_pops, same_pops, PICKS.map(acked), PICKS.map(acked), other_pops, strange_acks, other_acks]
).flatmap(lambda one: one)
stories = st.lists(
    st.tuples(st.lists(requests, min_size=1, max_size=6), changes), min_size=1, max_size=6
)


@settings(deadline=None, max_examples=50)
@given(stories, st.booleans(), st.booleans())
def test_both_ways_answer_log_and_bring_back_the_same(
    story: list[tuple[list[Step], Step]], is_sync: bool, is_ranked: bool
) -> None:
    sides = [Side(is_short=is_short, is_sync=is_sync) for is_short in (True, False)]
    # So that most of what follows has been learned from before.
    begin = [asked(17, create_fields(RANKED))] if is_ranked else []
    begin += [filled(0, "A", 9), filled(1, "B", 4), popped({"maxMsgNums": 3}, 1), acked([0])]
    for step in (*begin, *(one for bout in story for one in (*bout[0], bout[1]))):
        heard = [step(side) for side in sides]
        assert heard[0] == heard[1]
        assert sides[0].logged() == sides[1].logged()
        assert sides[0].committed() == sides[1].committed()
    end = [waited(LATER_MS), popped({"invisibleTime": 60_000}, 3)]
    for step in end:
        heard = [step(side) for side in sides]
        assert heard[0] == heard[1]
