from aerobee.ports.audit import AuditEvent
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.access.call_signature import CallSignature
from aerobee.service.access.config import OPEN
from aerobee.service.gateway.caller_gate import gate_of
from aerobee.service.request import InnerRequest
from tests.access_kit import ACCESS
from tests.grpc_kit import signed_by


def test_users_of_the_settings_pass_and_others_are_refused_and_noted() -> None:
    noted: list[AuditEvent] = []
    gate = gate_of(ACCESS, noted.append)
    command = RemotingCommand(310, ext_fields={"b": "orders"})

    def is_refused(name: str) -> bool:
        request = InnerRequest(ChannelId(1), command, Now(0, 0), lambda answer: None)
        return gate.refuse(request, "10.0.0.9", CallSignature(signed_by(name))) is not None

    assert [is_refused(name) for name in ("root", "inner", "mallory")] == [False, False, True]
    assert len(noted) == 1
    assert gate_of(OPEN, None).is_open
