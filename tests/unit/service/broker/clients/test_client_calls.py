"""Unit tests of calls to clients: each is answered or given up, once."""

from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Effects, Reply
from aerobee.protocol.remoting.remoting_command import RemotingCommand, reply_to
from aerobee.service.broker.clients.client_calls import ClientCalls

C1, C2 = ChannelId(1), ChannelId(2)


class Rig:
    def __init__(self, calls_max: int = 1_000) -> None:
        self.outbox: Effects = []
        self.calls = ClientCalls(self.outbox, calls_max)
        self.heard: list[str | None] = []

    def call(self, channel: ChannelId, deadline_ms: int = 100) -> RemotingCommand:
        command = RemotingCommand(307)
        self.calls.call(channel, command, deadline_ms, self.hear)
        return command

    def hear(self, answer: RemotingCommand | None) -> None:
        self.heard.append(answer.remark if answer is not None else None)

    def answer(self, channel: ChannelId, question: RemotingCommand, remark: str) -> bool:
        return self.calls.on_response(channel, reply_to(question, 0, remark=remark))


def test_a_call_is_written_to_its_channel_and_its_answer_handed_on_once() -> None:
    rig = Rig()
    first, second = rig.call(C1), rig.call(C1)
    assert rig.outbox == [Reply(C1, first), Reply(C1, second)]
    assert first.opaque != second.opaque
    assert rig.answer(C1, second, "two")
    assert rig.answer(C1, first, "one")
    assert rig.heard == ["two", "one"]
    assert not rig.answer(C1, first, "again")
    assert rig.heard == ["two", "one"]
    assert len(rig.calls) == 0


def test_an_answer_of_somebody_else_is_none() -> None:
    rig = Rig()
    question = rig.call(C1)
    assert not rig.answer(C2, question, "not asked")
    assert rig.heard == []
    assert rig.answer(C1, question, "asked")


def test_a_call_is_given_up_at_its_deadline_and_not_before() -> None:
    rig = Rig()
    late, later = rig.call(C1, 100), rig.call(C1, 200)
    rig.calls.take_late(Now(0, 99))
    assert rig.heard == []
    rig.calls.take_late(Now(0, 100))
    assert rig.heard == [None]
    assert not rig.answer(C1, late, "too late")
    assert rig.answer(C1, later, "in time")


def test_the_calls_of_a_closed_connection_are_given_up_at_once() -> None:
    rig = Rig()
    rig.call(C1)
    question = rig.call(C2)
    rig.call(C1)
    rig.calls.drop_channel(C1)
    assert rig.heard == [None, None]
    assert rig.answer(C2, question, "still there")


def test_more_calls_than_allowed_are_not_made() -> None:
    rig = Rig(calls_max=1)
    question = rig.call(C1)
    rig.call(C1)
    assert rig.heard == [None]
    assert len(rig.outbox) == 1
    rig.answer(C1, question, "one")
    rig.call(C1)
    assert rig.heard == [None, "one"]
    assert len(rig.outbox) == 2


def test_whoever_is_told_of_an_end_may_end_others() -> None:
    rig = Rig()
    rig.calls.call(C1, RemotingCommand(307), 100, lambda said: rig.calls.drop_channel(C2))
    rig.call(C2, 100)
    rig.calls.take_late(Now(0, 100))
    assert rig.heard == [None]
