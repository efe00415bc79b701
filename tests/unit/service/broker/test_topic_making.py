from aerobee.model.topic import TopicConfig
from aerobee.ports.service import ChannelId, Effects, Reply
from aerobee.protocol.remoting_command import RemotingCommand
from aerobee.service.broker.topic_making import topic_maker
from aerobee.service.request import Request
from tests.tables_kit import TOPICS_PATH, TablesKit


class Rig:
    def __init__(self) -> None:
        self.kit = TablesKit()
        self.kit.finish()
        self.outbox: Effects = []
        self.went_on: list[bool] = []

    def make(self) -> None:
        topics = self.kit.topics
        now = self.kit.clock.now()
        request = Request(ChannelId(1), RemotingCommand(310), now, self.outbox)
        topic_maker(topics)(
            TopicConfig("New", 2, 2),
            request,
            lambda: self.went_on.append(topics.find("New") is not None),
        )


def test_a_request_goes_on_when_its_topic_is_on_the_disk() -> None:
    rig = Rig()
    rig.make()
    assert rig.went_on == []
    rig.kit.finish()
    assert rig.went_on == [True]
    assert rig.outbox == []
    assert b'"New"' in rig.kit.disk.read(TOPICS_PATH)


def test_without_its_topic_a_request_is_answered_and_does_not_go_on() -> None:
    rig = Rig()
    if rig.kit.disk.exists(TOPICS_PATH):
        rig.kit.disk.remove(TOPICS_PATH)
    rig.kit.disk.make_directory(TOPICS_PATH)
    rig.make()
    rig.kit.finish()
    assert rig.went_on == []
    (reply,) = rig.outbox
    assert isinstance(reply, Reply)
    assert reply.command.code == 1
    assert "New" in reply.command.remark
