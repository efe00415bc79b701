"""Any bytes of somebody who has no secret are refused, and raise no more than ProtocolError.

The first byte chooses the door: a request to a broker, a call of gRPC, a link of a slave. A request
is tried as its frame says, and once more as if it came from each user.
"""

from aerobee.errors import ProtocolError, RemoteProtocolError
from aerobee.model.access import Credentials
from aerobee.ports.audit import AuditEvent
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, LinkId
from aerobee.protocol.remoting.frame import FrameLimits, FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode
from aerobee.service.access.access_store import seeded
from aerobee.service.access.access_table import AccessTable
from aerobee.service.access.accounts import Accounts
from aerobee.service.access.audit import Audit
from aerobee.service.access.call_signature import AUTHORIZATION, DATE_TIME, CallSignature
from aerobee.service.access.config import AccessConfig
from aerobee.service.access.gate import Gate, Realm
from aerobee.service.access.link_proof import LinkGuard
from aerobee.service.request import Request

NAMES = ("root", "inner")
NOW = Now(1_700_000_000_000, 0)
CHANNEL, LINK = ChannelId(1), LinkId(1)
ACCESS = AccessConfig(
    True,
    True,
    init_user=Credentials("root", "a secret that is not in any corpus"),
    inner=Credentials("inner", "another secret that is not in any corpus"),
    key=b"k" * 32,
)
ACCOUNTS = Accounts(seeded(AccessTable(), ACCESS))


def check(data: bytes) -> None:
    """No bytes of somebody who has no secret pass a gate."""
    if not data:
        return
    door = (_requests, _calls, _links)[data[0] % 3]
    door(data[1:])


def _gate(told: list[AuditEvent]) -> Gate:
    audit = Audit(told.append, "broker-a", "c")
    return Gate(ACCESS, lambda: [Realm("c", ACCOUNTS)], audit=audit)


def _requests(data: bytes) -> None:
    frames = FrameReader(FrameLimits())
    try:
        frames.receive(data)
        while frames.advance():
            command = decode(frames)
            for name in (None, *NAMES):
                _refused(command, name)
    except ProtocolError:
        return


def _refused(command: RemotingCommand, name: str | None) -> None:
    told: list[AuditEvent] = []
    if name is not None:
        command.ext_fields["AccessKey"] = name
    request = Request(CHANNEL, command, NOW, [])
    assert _gate(told).refuse(request, "10.0.0.9") is not None
    assert request.user is None
    assert len(told) == 1


def _calls(data: bytes) -> None:
    """The metadata of a call: the signature, and behind a zero the text that is signed."""
    authorization, _, date_time = data.decode("utf-8", "replace").partition("\0")
    signature = CallSignature({AUTHORIZATION: authorization, DATE_TIME: date_time})
    request = Request(CHANNEL, RemotingCommand(10), NOW, [])
    assert _gate([]).refuse(request, "10.0.0.9", signature) is not None
    for name in NAMES:
        signature.name = name
        assert _gate([]).refuse(request, "10.0.0.9", signature) is not None


def _links(data: bytes) -> None:
    guard = LinkGuard(ACCOUNTS, "broker-a", ACCESS.inner)
    guard.opened(LINK, "10.0.0.9")
    try:
        passed = b"".join(
            bytes(guard.passed(LINK, data[start : start + 7], NOW))
            for start in range(0, len(data), 7)
        )
    except RemoteProtocolError:
        return
    assert passed == b""
