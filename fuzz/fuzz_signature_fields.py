"""Any change of a signed request is let in only if the signed text is the same.

The bytes give the fields, the body, and what is changed of them behind the signer's back: a byte of
a value, a name, the signature, the body. RocketMQ signs the values in the order of their names, so
that two requests may have the same text; any other one is refused, whatever its fields are.
"""

from aerobee.model.access import Credentials
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.remoting.signature import (
    ACCESS_KEY,
    SIGNATURE,
    STAMP,
    sign_fields,
    signed_text,
)
from aerobee.service.access.access_store import seeded
from aerobee.service.access.access_table import AccessTable
from aerobee.service.access.accounts import Accounts
from aerobee.service.access.config import AccessConfig
from aerobee.service.access.gate import Gate, Realm
from aerobee.service.access.request_stamps import RequestStamps
from aerobee.service.request import Request

ROOT = Credentials("root", "a secret that is not in any corpus")
ACCESS = AccessConfig(True, True, init_user=ROOT, key=b"k" * 32)
ACCOUNTS = Accounts(seeded(AccessTable(), ACCESS))
CODE = 105
NOW = Now(1_700_000_000_000, 0)
HERE, THERE = ChannelId(1), ChannelId(2)


def check(data: bytes) -> None:
    """A changed request is let in only if its signed text is the same; a stamp is taken once."""
    parts = data.decode("utf-8", "replace").split("\0")
    if len(parts) < 4:
        return
    fields = dict(zip(parts[1:-2:2], parts[2:-2:2], strict=False))
    body = parts[-2].encode()
    for name in (SIGNATURE, ACCESS_KEY, STAMP):
        fields.pop(name, None)
    sign_fields(fields, body, ROOT)
    assert _lets_in(fields, body)
    changed, other = _changed(fields, body, parts[0], parts[-1])
    is_same = signed_text(changed, other) == signed_text(fields, body)
    is_same = is_same and changed.get(SIGNATURE) == fields[SIGNATURE]
    if changed != fields or other != body:
        assert is_same or not _lets_in(changed, other)
    _check_stamp(parts[-1])


def _changed(
    fields: dict[str, str], body: bytes, how: str, text: str
) -> tuple[dict[str, str], bytes]:
    changed, names = dict(fields), sorted(fields)
    place = ord(how[0]) if how else 0
    name = names[place % len(names)]
    kind = place // len(names) % 5
    if kind == 0:
        changed[name] = text
    elif kind == 1:
        del changed[name]
    elif kind == 2:
        changed[text] = changed.pop(name)
    elif kind == 3:
        value = changed[name]
        at = len(text) % (len(value) + 1)
        changed[name] = value[:at] + value[at + 1 :]
    else:
        body = text.encode()
    return changed, body


def _lets_in(fields: dict[str, str], body: bytes) -> bool:
    gate = Gate(ACCESS, lambda: [Realm("c", ACCOUNTS)])
    command = RemotingCommand(CODE, ext_fields=dict(fields), body=body)
    request = Request(HERE, command, NOW, [])
    refusal = gate.refuse(request, "10.0.0.9")
    # A super user may do everything, but a request without its topic is no request.
    return refusal is None or ("signature" not in refusal.remark and request.user is not None)


def _check_stamp(text: str) -> None:
    stamps = RequestStamps()
    for stamp in (text, f"{CODE}.{text}", f"{CODE}.{NOW.wall_ms}.{text}"):
        if stamps.find_fault(stamp, CODE, HERE, NOW) is None:
            assert stamps.find_fault(stamp, CODE, HERE, NOW) is not None
            assert stamps.find_fault(stamp, CODE, THERE, NOW) is not None
