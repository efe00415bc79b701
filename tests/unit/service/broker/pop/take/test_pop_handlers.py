import pytest

from aerobee.protocol.headers.popping import NotificationAnswerHeader
from aerobee.protocol.remoting.declared_header import read_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from tests.broker_kit import CLIENT, OTHER
from tests.pop_kit import INVISIBLE_MS, PopKit
from tests.store_kit import draft


def question(kit: PopKit, **other: object) -> dict[str, str]:
    said: dict[str, object] = {
        "consumerGroup": "g",
        "topic": "Orders",
        "queueId": -1,
        "pollTime": 0,
        "bornTime": kit.clock.now().wall_ms,
        **other,
    }
    return {name: str(value) for name, value in said.items()}


def told(answer: RemotingCommand) -> tuple[bool, bool]:
    header = read_header(NotificationAnswerHeader, answer.ext_fields)
    return header.has_msg, header.polling_full


def test_a_pop_that_finds_messages_is_answered_at_once() -> None:
    kit = PopKit()
    kit.fill(2)
    answer = kit.ask(200050, kit.fields())
    assert (answer.code, answer.remark) == (0, "FOUND")
    assert answer.ext_fields == {
        "popTime": str(kit.clock.now().wall_ms),
        "invisibleTime": str(INVISIBLE_MS),
        "reviveQid": "0",
        "restNum": "0",
        "startOffsetInfo": "0 0 0",
        "msgOffsetInfo": "0 0 0,1",
    }


def test_a_pop_that_does_not_wait_is_told_that_there_is_nothing() -> None:
    kit = PopKit()
    answer = kit.ask(200050, kit.fields())
    assert (answer.code, answer.ext_fields["restNum"]) == (210, "0")


def test_a_pop_that_waits_is_answered_by_a_message() -> None:
    kit = PopKit()
    kit.wait_for_pop()
    kit.run(1_000)
    assert kit.answered() == []
    kit.fill(1)
    assert kit.answered() == [[b"m0"]]


def test_a_message_is_given_to_one_of_those_who_wait() -> None:
    kit = PopKit()
    kit.wait_for_pop(CLIENT)
    kit.wait_for_pop(OTHER)
    kit.fill(1)
    assert kit.answered(CLIENT) == [[b"m0"]]
    assert kit.answered(OTHER) == []
    kit.fill(1, first=1)
    assert kit.answered(OTHER) == [[b"m1"]]


def test_who_takes_less_than_there_is_wakes_the_next() -> None:
    kit = PopKit()
    kit.wait_for_pop(CLIENT, maxMsgNums=1)
    kit.wait_for_pop(OTHER, maxMsgNums=1)
    for number in range(2):
        message = draft(body=f"m{number}".encode())
        kit.store.append(message, kit.clock.now().wall_ms)
    kit.finish()
    assert kit.answered(CLIENT) == [[b"m0"]]
    assert kit.answered(OTHER) == [[b"m1"]]


def test_groups_that_wait_are_all_answered() -> None:
    kit = PopKit()
    kit.wait_for_pop(CLIENT)
    kit.wait_for_pop(OTHER, consumerGroup="h")
    kit.fill(1)
    assert kit.answered(CLIENT) == [[b"m0"]]
    assert kit.answered(OTHER) == [[b"m0"]]


def test_a_message_that_the_filter_keeps_back_wakes_nobody() -> None:
    kit = PopKit()
    kit.wait_for_pop(exp="B")
    kit.fill(1, TAGS="A")
    assert kit.answered() == []
    kit.fill(1, first=1, TAGS="B")
    assert kit.answered() == [[b"m1"]]


def test_a_message_that_comes_back_wakes_who_waits() -> None:
    kit = PopKit()
    kit.fill(1)
    kit.pop(invisibleTime=3_000)
    kit.wait_for_pop()
    kit.run(2_500)
    assert kit.answered() == []
    kit.run(700)
    assert kit.answered() == [[b"m0"]]


def test_a_pop_waits_as_long_as_it_asked_to_and_no_longer() -> None:
    kit = PopKit()
    kit.wait_for_pop(pollTime=3_000)
    kit.run(2_900)
    assert kit.heard() == []
    kit.run(200)
    (answer,) = kit.heard()
    assert (answer.code, answer.remark) == (210, "NO_MESSAGE_IN_QUEUE")
    assert answer.ext_fields["msgOffsetInfo"] == ""


def test_a_pop_of_long_ago_is_not_run() -> None:
    kit = PopKit()
    kit.fill(1)
    born = kit.clock.now().wall_ms - 15_501
    assert kit.ask(200050, kit.fields(pollTime=15_000, bornTime=born)).code == 210
    assert kit.bodies_popped() == [b"m0"]


def test_a_clock_that_is_ahead_does_not_make_a_pop_wait_longer() -> None:
    kit = PopKit()
    kit.wait_for_pop(pollTime=2_000, bornTime=kit.clock.now().wall_ms + 60_000)
    kit.run(2_100)
    assert [answer.code for answer in kit.heard()] == [210]


def test_old_messages_are_fetched_by_a_disk_thread_first() -> None:
    kit = PopKit()
    kit.fill(2)
    kit = kit.after_stop()
    kit.disk.faults.make_cold("*commitlog*")
    kit.tell(200050, kit.fields())
    assert kit.heard() == []
    kit.finish()
    assert kit.answered() == [[b"m0", b"m1"]]
    assert kit.pop() == []


def test_too_many_who_wait_are_told_to_come_again() -> None:
    kit = PopKit()
    for _ in range(1_024):
        kit.wait_for_pop()
    assert kit.heard() == []
    kit.wait_for_pop()
    assert [answer.code for answer in kit.heard()] == [209]
    fields = {"consumerGroup": "g", "topic": "Orders", "queueId": "-1"}
    assert kit.ask(200055, fields).ext_fields == {"pollingNum": "1024"}
    assert told(kit.ask(200054, question(kit, pollTime=1_000))) == (False, True)


def test_a_question_is_answered_when_there_is_something() -> None:
    kit = PopKit()
    assert told(kit.ask(200054, question(kit))) == (False, False)
    kit.tell(200054, question(kit, pollTime=5_000))
    assert kit.heard() == []
    kit.fill(1)
    (answer,) = kit.heard()
    assert told(answer) == (True, False)
    assert told(kit.ask(200054, question(kit))) == (True, False)
    assert kit.bodies_popped() == [b"m0"]
    assert told(kit.ask(200054, question(kit))) == (False, False)


def test_a_question_about_an_ordered_queue_knows_that_it_is_blocked() -> None:
    kit = PopKit()
    kit.fill(2)
    (got,) = kit.pop(order="true", maxMsgNums=1)
    assert told(kit.ask(200054, question(kit, order="true"))) == (False, False)
    kit.ack(got)
    assert told(kit.ask(200054, question(kit, order="true"))) == (True, False)


@pytest.mark.parametrize("code", [200052, 200054, 200055])
def test_questions_about_what_is_not_there_are_refused(code: int) -> None:
    kit = PopKit()
    fields = question(kit, topic="None", maxMsgNums=1)
    assert kit.ask(code, fields).code == 17
