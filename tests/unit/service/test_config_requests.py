import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Effects, Reply
from aerobee.protocol.remoting_command import RemotingCommand
from aerobee.service.config_requests import change_config, config_text
from aerobee.service.live_config import ChangesFile, LiveConfig
from aerobee.service.nameserver.config import SETTINGS, NameServerConfig
from aerobee.service.request import Answer, Request
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker


class Asked:
    def __init__(self, body: bytes) -> None:
        self.worker = SimDiskWorker()
        file = ChangesFile(SimDisk(), "changes.properties", {})
        self.config = LiveConfig(
            NameServerConfig(), SETTINGS, file, self.worker, {"listenPort": "1"}
        )
        self.outbox: Effects = []
        self.request = Request(ChannelId(1), RemotingCommand(25, body=body), Now(0, 0), self.outbox)

    def change(self) -> Answer | None:
        answer = change_config(self.config, self.request)
        self.worker.run_all()
        self.worker.collect()
        return answer


def test_a_change_is_answered_when_it_is_saved() -> None:
    asked = Asked(b"enableTopicList=false\n")
    assert asked.change() is None
    (reply,) = asked.outbox
    assert isinstance(reply, Reply)
    assert reply.command.code == 0
    assert not asked.config.current.lists_topics
    assert b"enableTopicList=false\n" in config_text(asked.config)
    assert b"listenPort=1\n" in config_text(asked.config)


def test_what_may_not_be_changed_changes_nothing_else_either() -> None:
    asked = Asked(b"enableTopicList=false\nkvConfigPath=/\n")
    answer = asked.change()
    assert answer is not None
    assert (answer.code, answer.remark) == (16, "kvConfigPath cannot be changed by a request")
    assert asked.config.current.lists_topics


@pytest.mark.parametrize("body", [b"enableTopicList=perhaps", b"\xff\xfe", b"a\\ud800=1"])
def test_nonsense_is_refused(body: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        Asked(body).change()


def test_no_more_is_read_than_settings_can_be() -> None:
    asked = Asked(b"#\n" * 32 * 1024)
    assert asked.change() is None
    with pytest.raises(RemoteProtocolError, match="65537 bytes of settings"):
        Asked(b"#\n" * 32 * 1024 + b"#").change()
