from aerobee.model.access import Credentials
from aerobee.ports.service import ChannelId, CloseChannel, Dial, Effects
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.access.authentication import SignatureCheck
from aerobee.service.access.own_requests import sign_dials


def test_requests_to_other_servers_are_signed_however_often() -> None:
    command = RemotingCommand(103, ext_fields={"brokerName": "b"}, body=b"topics")
    effects: Effects = [Dial("a:1", command, 1, None), CloseChannel(ChannelId(1), "x")]
    for _ in range(2):
        sign_dials(effects, Credentials("inner", "secret"))
        assert SignatureCheck(command, b"topics").is_of("secret")
        assert command.ext_fields["AccessKey"] == "inner"
