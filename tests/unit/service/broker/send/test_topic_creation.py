from aerobee.model.topic import TopicConfig
from aerobee.ports.service import ChannelId, Effects, Reply
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.send.topic_creation import MESSAGE_BYTES, topic_maker
from aerobee.service.request import Request
from tests.tables_kit import TOPICS_PATH, TablesKit


class Rig:
    def __init__(self, waiting_bytes_max: int = 1 << 20) -> None:
        self.kit = TablesKit()
        self.kit.finish()
        self._make = topic_maker(self.kit.topics, waiting_bytes_max)
        self.outbox: Effects = []
        self.went_on: list[bool] = []

    def make(self, body: bytes = b"") -> None:
        topics = self.kit.topics
        now = self.kit.clock.now()
        request = Request(ChannelId(1), RemotingCommand(310, body=body), now, self.outbox)
        self._make(
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


def test_messages_that_wait_for_their_topics_are_bounded_by_their_bytes() -> None:
    rig = Rig(waiting_bytes_max=2 * MESSAGE_BYTES + 100)
    rig.make(bytes(60))
    rig.make(bytes(41))
    (reply,) = rig.outbox
    assert isinstance(reply, Reply)
    assert (reply.command.code, "try again" in reply.command.remark) == (2, True)
    rig.make(bytes(40))
    rig.kit.finish()
    assert rig.went_on == [True, True]
    rig.make(bytes(100))  # what has gone on does not count any more
    rig.kit.finish()
    assert rig.went_on == [True] * 3
