"""Rows of producers, rounds, modes and timed messages are known to the next leader, which has not
copied a file since."""

import json

from aerobee.protocol.bodies.staged_places import encode_places
from aerobee.protocol.text.json_text import parse
from tests.member_kit import Member, MemberGroup
from tests.once_kit import (
    FENCED,
    FINISH_ROUND,
    FINISHED,
    OPEN_PRODUCER,
    ORDERS,
    QUEUE,
    SEND_ONCE,
    batch_body,
    once_fields,
)
from tests.send_rig import send_frame
from tests.store_kit import ROOT
from tests.wire import JAVA_FIELDS

STAGE_BATCH, PUBLISH_STAGED, SET_MODE, ALL_MODES = 28004, 28005, 401, 402
ROUND = {"writeId": "W", "roundId": "9"}


class Story:
    """A group whose followers have copied everything, and copy nothing more until `killed`."""

    def __init__(self) -> None:
        self.group = MemberGroup(3, ORDERS)
        self.leader = self.group.elected()
        self.group.run(500)

    def ask(self, code: int, fields: dict[str, str], body: bytes = b"") -> dict[str, str]:
        """The fields of an answer, its code among them."""
        answer = self.group.ask(self.leader, code, fields, body)
        return {**answer.ext_fields, "code": str(answer.code)}

    def killed(self) -> Member:
        """Another leads."""
        first = self.leader
        self.group.stop(first.number)
        self.leader = self.group.elected(first.number)
        return self.leader

    # Producers.

    def open(self, **more: str) -> dict[str, str]:
        return self.ask(OPEN_PRODUCER, {"producerId": "W/3", "topic": "Orders", **more})

    def send(self, sequence: int, epoch: str, body: bytes = b"once") -> dict[str, str]:
        fields = once_fields(sequence, producer="W/3", epoch=int(epoch))
        return self.ask(SEND_ONCE, fields, body)

    # Rounds.

    def stage(self, body: bytes) -> int:
        fields = {**ROUND, "topic": "Orders", "queueId": str(QUEUE)}
        batch = batch_body(9 << 32, [body], producer="W/3", epoch=9 << 20)
        return int(self.ask(STAGE_BATCH, fields, batch)["place"])

    def bodies(self) -> list[bytes]:
        return self.leader.kit.bodies(queue_id=QUEUE)


def test_a_send_that_is_repeated_at_the_next_leader_is_stored_once() -> None:
    story = Story()
    epoch = story.open()["epoch"]
    first = story.send(7, epoch)
    story.killed()
    again = story.send(7, epoch)
    assert (again["code"], again["duplicate"]) == ("0", "true")
    assert again["queueOffset"] == first["queueOffset"]
    assert story.bodies() == [b"once"]


def test_a_fenced_producer_is_refused_by_the_next_leader() -> None:
    story = Story()
    old = story.open()["epoch"]
    new = story.open()["epoch"]
    story.killed()
    assert story.send(7, old)["code"] == str(FENCED)
    assert story.send(7, new)["code"] == "0"


def test_the_plan_of_a_round_stays_that_of_its_first_attempt() -> None:
    story = Story()
    assert story.open(roundId="9", plan="first")["plan"] == "first"
    story.killed()
    assert story.open(roundId="9", plan="second")["plan"] == "first"


def test_a_round_that_is_finished_is_so_at_the_next_leader() -> None:
    story = Story()
    epoch = story.open(roundId="9", plan="a plan")["epoch"]
    assert story.send(9 << 32, epoch)["code"] == "0"
    fields = {**ROUND, "topic": "Orders", "task": "3", "epoch": epoch}
    assert story.ask(FINISH_ROUND, fields)["code"] == "0"
    story.group.run(200)
    story.killed()
    assert story.open(roundId="9", plan="a plan")["code"] == str(FINISHED)


def test_of_two_decisions_on_one_round_the_first_counts_at_the_next_leader() -> None:
    story = Story()
    first, second = story.stage(b"first"), story.stage(b"second")
    assert story.ask(PUBLISH_STAGED, ROUND, encode_places([first]))["code"] == "0"
    story.killed()
    assert story.ask(PUBLISH_STAGED, ROUND, encode_places([second]))["duplicate"] == "true"
    assert story.bodies() == [b"first"]


def test_a_round_is_published_only_when_a_majority_knows_the_decision() -> None:
    story = Story()
    group, leader = story.group, story.leader
    place = story.stage(b"first")
    group.cuts = {frozenset((leader.number, one.number)) for one in group.members}
    leader.kit.tell(PUBLISH_STAGED, ROUND, encode_places([place]))
    group.run(300)
    assert leader.kit.store.queue(b"Orders", QUEUE) is None
    group.cuts.clear()
    group.until(lambda: story.bodies() == [b"first"])


def test_a_round_that_is_decided_is_published_by_the_next_leader() -> None:
    story = Story()
    group, leader = story.group, story.leader
    place = story.stage(b"first")
    leader.kit.tell(PUBLISH_STAGED, ROUND, encode_places([place]))
    staged = b'"staged":{"W"'
    others = [one for one in group.members if one is not leader]
    group.until(lambda: all(_has(one, staged) for one in others))
    story.killed()
    group.until(lambda: story.bodies() == [b"first"])


def _has(member: Member, text: bytes) -> bool:
    return any(text in one.body for one in member.kit.messages("rmq_sys_aerobee_tables"))


def test_a_mode_is_acknowledged_when_a_majority_has_it() -> None:
    story = Story()
    said = {"topic": "Orders", "consumerGroup": "g", "mode": "POP", "popShareQueueNum": 1}
    assert story.ask(SET_MODE, {}, json.dumps(said).encode())["code"] == "0"
    story.killed()
    answer = story.group.ask(story.leader, ALL_MODES)
    assert b'"mode":"POP"' in bytes(answer.body)


def timed(deliver_ms: int, body: bytes) -> bytes:
    text = f"{JAVA_FIELDS['i']}TIMER_DELIVER_MS\x01{deliver_ms}\x02"
    return send_frame({"i": text}, body=body)


def test_a_message_for_a_time_is_delivered_once_by_two_leaders_and_never_early() -> None:
    story = Story()
    group = story.group
    now_ms = group.clock.now().wall_ms
    story.leader.kit.send_frames(timed(now_ms + 1_500, b"first"))
    story.leader.kit.send_frames(timed(now_ms + 5_000, b"second"))
    group.until(lambda: story.bodies() == [b"first"])
    group.run(40)
    story.killed()
    group.run(1_000)
    assert story.bodies() == [b"first"]
    group.run(now_ms + 4_980 - group.clock.now().wall_ms)
    assert story.bodies() == [b"first"]
    group.run(1_500)
    assert story.bodies() == [b"first", b"second"]


def test_a_leader_that_waits_for_messages_of_a_time_writes_nothing() -> None:
    story = Story()
    now_ms = story.group.clock.now().wall_ms
    story.leader.kit.send_frames(timed(now_ms + 60_000, b"later"))
    story.group.run(500)
    end = story.leader.kit.store.end_offset
    story.group.run(1_500)
    assert story.leader.kit.store.end_offset == end


def test_a_leader_that_is_deposed_saves_no_marks_of_messages_that_nobody_else_has() -> None:
    story = Story()
    epoch = story.open()["epoch"]
    story.send(7, epoch)
    group, leader = story.group, story.leader
    committed = leader.kit.store.end_offset
    group.cuts = {frozenset((leader.number, one.number)) for one in group.members}
    leader.kit.tell(SEND_ONCE, once_fields(8, producer="W/3", epoch=int(epoch)), b"lost")
    story.leader = group.elected(leader.number)
    group.until(lambda: not leader.side.leads)
    saved = parse(leader.disk.read(f"{ROOT}/config/producerSequences.json"))
    assert isinstance(saved, dict)
    log_offset = saved["logOffset"]
    assert isinstance(log_offset, int)
    assert log_offset <= committed
