import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Effects, Reply
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.config_requests import change_config, config_text, is_secret
from aerobee.service.live_config import ChangesFile, LiveConfig
from aerobee.service.nameserver.config import SETTINGS, NameServerConfig
from aerobee.service.request import Answer, Request
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker

SHOWN = {"listenPort": "1", "tlsServerKeyPassword": "swordfish", "aclAccessKey": ""}


class Asked:
    def __init__(self, body: bytes) -> None:
        self.worker = SimDiskWorker()
        file = ChangesFile(SimDisk(), "changes.properties", {})
        self.config = LiveConfig(NameServerConfig(), SETTINGS, file, self.worker, SHOWN)
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
    assert (answer.code, answer.remark) == (
        16,
        "nothing was changed: kvConfigPath cannot be changed by a request",
    )
    assert asked.config.current.lists_topics


def test_every_key_at_fault_is_named_with_its_reason() -> None:
    asked = Asked(b"kvConfigPath=/\nenableTopicList=maybe\nlistenPort=2\norderMessageEnable=true\n")
    answer = asked.change()
    assert answer is not None
    assert answer.code == 16
    for fault in (
        "kvConfigPath cannot be changed by a request",
        "listenPort is read at the start: change it in the file and restart",
        "enableTopicList must be true or false, not 'maybe'",
    ):
        assert fault in answer.remark
    assert "orderMessageEnable" not in answer.remark
    assert not asked.config.current.has_order_in_routes


def test_values_of_the_wrong_kind_are_all_named() -> None:
    asked = Asked(b"enableTopicList=maybe\norderMessageEnable=7\n")
    with pytest.raises(RemoteProtocolError, match=r"enableTopicList must.*orderMessageEnable must"):
        asked.change()


def test_a_refusal_stays_short() -> None:
    body = b"".join(b"%s%d=1\n" % (b"k" * 500, number) for number in range(100))
    answer = Asked(body).change()
    assert answer is not None
    assert "and 80 more" in answer.remark
    assert len(answer.remark) < 4000


def test_what_is_secret_is_not_shown() -> None:
    text = config_text(Asked(b"").config).decode()
    assert "tlsServerKeyPassword=******\n" in text
    assert "aclAccessKey=\n" in text, "nothing is there, and that is no secret"
    assert "swordfish" not in text


@pytest.mark.parametrize(
    "key",
    [
        "tls.server.keyPassword",
        "aclSecretKey",
        "aclAccessKey",
        "innerClientAuthenticationCredentials",
        "initAuthenticationUser",
        "securityToken",
    ],
)
def test_a_secret_is_known_by_its_name(key: str) -> None:
    assert is_secret(key)


def test_no_setting_of_apaches_that_is_shown_is_taken_for_a_secret() -> None:
    assert not any(is_secret(setting.key) for setting in SETTINGS)


@pytest.mark.parametrize("body", [b"enableTopicList=perhaps", b"\xff\xfe", b"a\\ud800=1"])
def test_nonsense_is_refused(body: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        Asked(body).change()


def test_no_more_is_read_than_settings_can_be() -> None:
    asked = Asked(b"#\n" * 32 * 1024)
    assert asked.change() is None
    with pytest.raises(RemoteProtocolError, match="65537 bytes of settings"):
        Asked(b"#\n" * 32 * 1024 + b"#").change()
