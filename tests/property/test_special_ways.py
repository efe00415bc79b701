"""Half messages, delayed ones, ones for a time or with a priority, and ends of transactions: the
short way of each and the general one are two programs with one meaning. The same frames give the
same log, byte for byte, the same answers and the same transactions that are open.
"""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.open_transactions import decode_open_transactions
from aerobee.service.broker.config import BrokerConfig
from tests.broker_kit import STORAGE, SYNC, BrokerKit
from tests.send_rig import end_frame, send_frame
from tests.transaction_kit import ORDERS, Begun, end_fields

TOPICS = (
    ORDERS,
    TopicConfig("Later", 4, 4, attributes={"message.type": "DELAY"}),
    TopicConfig("Trades", 4, 4, attributes={"message.type": "TRANSACTION"}),
    TopicConfig("Alarms", 6, 4, attributes={"message.type": "PRIORITY"}),
)
GROUPS = st.sampled_from(["sellers", "sellers", "buyers", "s", "ü"])
NOW_MS = 1_700_000_000_000

plain = {"WAIT": st.just("true"), "TAGS": st.sampled_from(["A", "ü", "AA"])}
extras = st.fixed_dictionaries(
    {},
    optional={
        **plain,
        "REAL_TOPIC": st.just("Elsewhere"),
        "REAL_QID": st.just("3"),
        "__transactionId__": st.just("x"),
        "CHECK_IMMUNITY_TIME_IN_SECONDS": st.sampled_from(["0", "60"]),
        "TRANSACTION_CHECK_TIMES": st.just("4"),
        "TRAN_PREPARED_QUEUE_OFFSET": st.just("1"),
        "TIMER_OUT_MS": st.just("1"),
    },
)
few = st.sampled_from([st.fixed_dictionaries({}, optional=plain)] * 3 + [extras]).flatmap(
    lambda one: one
)
levels = st.sampled_from(["0", "1", "3", "18", "19", "03", "x", "-1"])
times = st.one_of(
    st.fixed_dictionaries({"TIMER_DELAY_SEC": st.sampled_from(["0", "3", "x", "300000"])}),
    st.fixed_dictionaries({"TIMER_DELAY_MS": st.sampled_from(["1", "2500", "-1"])}),
    st.fixed_dictionaries(
        {"TIMER_DELIVER_MS": st.integers(-1, 4_000).map(lambda ms: str(NOW_MS + ms))}
    ),
)
usual = st.just({"TRAN_MSG": "true", "PGROUP": "sellers"})
halves = st.fixed_dictionaries(
    {"TRAN_MSG": st.sampled_from(["true", "true", "true", "TRUE", "false"])},
    optional={"PGROUP": GROUPS, "DELAY": levels, "TIMER_DELAY_SEC": st.just("3")},
)
delays = st.fixed_dictionaries({"DELAY": levels})
priorities = st.fixed_dictionaries(
    {
        "_SYS_MSG_PRIORITY_": st.sampled_from(
            ["0", "2", "3", "4", "99", "007", "+1", "-0", "-1", "x", "2147483647", "9999999999"]
        )
    },
    optional={
        "__SHARDINGKEY": st.just("k"),
        "__SHARDINGKEYS": st.just("k"),
        "DELAY": levels,
        "TRAN_MSG": st.just("false"),
    },
)
special = st.sampled_from(
    [usual, usual, usual, halves, delays, times, priorities, priorities]
).flatmap(lambda one: one)


def merged(number: int, first: dict[str, str], rest: dict[str, str]) -> dict[str, str]:
    return {**first, "UNIQ_KEY": f"id-{number}", **rest}


sends = st.tuples(
    st.just("send"),
    st.builds(merged, st.integers(0, 99), special, few),
    st.sampled_from(["4", "4", "0", "5", "8"]),
    st.integers(0, 3).map(str),
    st.sampled_from(["Orders", "Orders", "Later", "Trades", "Alarms"]),
)
wrong = st.fixed_dictionaries(
    {}, optional={"producerGroup": GROUPS, "tranStateTableOffset": st.sampled_from(["0", "1"])}
)
ends = st.tuples(
    st.just("end"),
    st.integers(0, 3),
    st.sampled_from([8, 8, 12, 0]),
    st.sampled_from([st.just({}), st.just({}), wrong]).flatmap(lambda one: one),
)
begins = st.tuples(
    st.just("send"),
    st.builds(merged, st.integers(0, 99), usual, st.fixed_dictionaries({}, optional=plain)),
    st.just("4"),
    st.integers(0, 3).map(str),
    st.sampled_from(["Orders", "Trades"]),
)
steps = st.lists(
    st.tuples(st.one_of(begins, sends, ends, ends), st.booleans(), st.sampled_from([0, 2, 2])),
    min_size=4,
    max_size=12,
)


class Way:
    """A broker that is given frames, and what it made of them."""

    def __init__(self, is_sync: bool, is_short: bool) -> None:
        config = BrokerConfig(checks_message_types=True)
        self.kit = BrokerKit(*TOPICS, storage=SYNC if is_sync else STORAGE, config=config)
        self.kit.clock.jump_wall(NOW_MS - self.kit.clock.now().wall_ms)
        self.kit.send_frames(send_frame())  # nothing that follows is at place 0
        self.kit.finish()
        self.kit.heard()
        self._is_short = is_short
        self.begun: list[Begun] = []
        self.said: list[tuple[object, ...]] = []

    def do(self, step: tuple[Any, ...], opaque: int, is_binary: bool, flag: int) -> None:
        if step[0] == "send":
            _, properties, sys_flag, queue_id, topic = step
            text = "".join(f"{name}\x01{value}\x02" for name, value in properties.items())
            fields = {"a": "sellers", "b": topic, "e": queue_id, "f": sys_flag, "i": text}
            data = send_frame(fields, b"%d" % opaque, opaque=opaque, is_binary=is_binary)
        else:
            _, which, what, changes = step
            if not self.begun:
                return
            fields = end_fields(self.begun[-1 - which % len(self.begun)], what, **changes)
            data = end_frame(fields, opaque=opaque, flag=flag, is_binary=is_binary)
        handle = self.kit.send_frames if self._is_short else self.kit.handle_frames
        handle(data)
        self.kit.finish()
        self.kit.finish()
        self._hear()

    def _hear(self) -> None:
        for answer in self.kit.heard():
            said = dict(answer.ext_fields)
            self.said.append((answer.code, answer.opaque, answer.flag, answer.serialize_type, said))
            if answer.code == 0 and "msgId" in said:
                place = int(said["msgId"][-16:], 16)
                self.begun.append(Begun(int(said["queueOffset"]), place, said["transactionId"]))

    def log(self) -> list[bytes]:
        """Every record."""
        found, offset, store = [], 0, self.kit.store
        while offset < store.end_offset:
            record = store.record_at(offset)
            if record is None:  # the end of a file
                offset += -offset % store.config.log_file_bytes
                continue
            found.append(bytes(record))
            offset += len(record)
        return found

    def open(self) -> object:
        return decode_open_transactions(bytes(self.kit.ask(28001, {}).body))


@given(steps, st.booleans())
def test_both_ways_leave_the_same_log_the_same_answers_and_the_same_open(
    steps: list[Any], is_sync: bool
) -> None:
    short, general = Way(is_sync, True), Way(is_sync, False)
    for opaque, (step, is_binary, flag) in enumerate(steps):
        for way in (short, general):
            way.do(step, opaque, is_binary, flag)
    assert short.said == general.said
    assert short.log() == general.log()
    assert short.open() == general.open()
