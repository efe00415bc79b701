from aerobee.model.route import BrokerData
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Dial, Effects
from aerobee.protocol.bodies.topic_route import encode_member_group
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.config import BrokerIdentity
from aerobee.service.broker.replication.acting.member_group import MemberGroup, Members
from aerobee.service.request import Request

BODY = encode_member_group(BrokerData("c", "broker-a", {0: "a:1", 1: "b:1"}))


class Rig:
    def __init__(self, *addresses: str) -> None:
        self.outbox: Effects = []
        self.heard: list[Members | None] = []
        self.group = MemberGroup(
            BrokerIdentity(),
            addresses,
            self.outbox,
            lambda members, now: self.heard.append(members),
        )

    def asked(self) -> list[Dial]:
        dials, self.outbox[:] = [one for one in self.outbox if isinstance(one, Dial)], []
        return dials

    def answer(self, dial: Dial, ms: int, answer: RemotingCommand | None) -> None:
        self.group.on_answer(dial.ticket, answer, Now(0, ms))


def test_it_asks_at_intervals_and_one_question_at_a_time() -> None:
    rig = Rig("ns:1")
    rig.group.on_tick(Now(0, 0))
    (dial,) = rig.asked()
    assert (dial.address, dial.command.code) == ("ns:1", 901)
    assert dial.command.ext_fields["brokerName"] == "broker-a"
    rig.group.on_tick(Now(0, 5_000))
    assert rig.asked() == []
    rig.answer(dial, 5_000, RemotingCommand(0, body=BODY))
    assert rig.heard == [{0: "a:1", 1: "b:1"}]
    assert rig.group.rest_ms(Now(0, 5_000)) == 0
    rig.group.on_tick(Now(0, 5_000))
    assert len(rig.asked()) == 1


def test_after_silence_or_nonsense_the_next_name_server_is_asked() -> None:
    rig = Rig("ns:1", "ns:2")
    answers = (None, RemotingCommand(1), RemotingCommand(0, body=b"{"))
    for number, answer in enumerate(answers):
        rig.group.on_tick(Now(0, 1_000 * number))
        (dial,) = rig.asked()
        assert dial.address == ("ns:1", "ns:2")[number % 2]
        rig.answer(dial, 1_000 * number, answer)
    assert rig.heard == [None, None, None]


def test_a_notice_makes_it_ask_at_once() -> None:
    rig = Rig("ns:1")
    rig.group.on_tick(Now(0, 0))
    rig.answer(rig.asked()[0], 1, RemotingCommand(0, body=BODY))
    rig.group.on_tick(Now(0, 2))
    assert rig.asked() == []
    (row,) = rig.group.rows()
    row.serve(Request(ChannelId(1), RemotingCommand(905), Now(0, 2), rig.outbox))
    assert [dial.command.code for dial in rig.asked()] == [901]


def test_without_name_servers_nobody_is_asked() -> None:
    rig = Rig()
    rig.group.on_tick(Now(0, 0))
    assert rig.asked() == []
    assert rig.group.rest_ms(Now(0, 0)) > 0
