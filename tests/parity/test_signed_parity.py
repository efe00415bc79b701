"""The gate of the fast paths, compiled and pure: the same signed sends, pulls, pops and
acknowledgements are admitted, and the same are left, however their headers are spoilt.
"""

import importlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aerobee._compiled import is_compiled
from aerobee.model.access import Credentials
from aerobee.protocol.remoting.signature import sign_fields
from tests import wire
from tests.access_kit import secret_of
from tests.pure import pure

pytestmark = pytest.mark.skipif(
    not is_compiled("aerobee.service.access.fast_gate"), reason="nothing is compiled"
)

CHANNEL = 1
WALL_MS = 1_700_000_000_000
RECEIPT = f"0 {WALL_MS} 60000 0 0 broker-a 1 0"
POP = {"consumerGroup": "g", "topic": "Orders", "queueId": "-1", "maxMsgNums": "8", "exp": "*"}
ACK = {"consumerGroup": "g", "topic": "Orders", "queueId": "1", "offset": "0"}
REQUESTS = {
    310: (dict(wire.JAVA_FIELDS), b"body"),
    10: ({wire.LONG_NAMES[key]: value for key, value in wire.JAVA_FIELDS.items()}, b"body"),
    11: ({"consumerGroup": "g", "topic": "Orders", "queueOffset": "0", "sysFlag": "4"}, b""),
    200050: (POP, b""),
    200051: ({**ACK, "extraInfo": RECEIPT}, b""),
}
CODES = tuple(REQUESTS)


def signed(code: int, name: str, stamp: str, more: dict[str, str]) -> tuple[dict[str, str], bytes]:
    fields, body = REQUESTS[code]
    said = {**fields, **more}
    if stamp:
        said["RequestStamp"] = stamp
    sign_fields(said, body, Credentials(name, secret_of(name)))
    return said, body


class SignedRig:
    """One world's gate, which alice has passed with a request of every code."""

    def __init__(self, module: Callable[[str], Any] = importlib.import_module) -> None:
        access = module("aerobee.service.access.access_table").AccessTable()
        change = module("aerobee.protocol.bodies.access").UserChange
        table = access.with_user(change("alice", secret_of("alice")), None)
        table = table.with_user(change("bob", secret_of("bob")), None)
        self._user = table.users["alice"]
        accounts = module("aerobee.service.access.accounts").Accounts(table)
        stamps = module("aerobee.service.access.request_stamps").RequestStamps()
        self._now = module("aerobee.ports.clock").Now(WALL_MS, 0)
        self._command = module("aerobee.protocol.remoting.remoting_command").RemotingCommand
        self._request = module("aerobee.service.request").Request
        frame = module("aerobee.protocol.remoting.frame")
        self._frames = frame.FrameReader(frame.FrameLimits())
        self._gate = module("aerobee.service.access.fast_gate").FastGate(accounts, stamps, 0)
        self._gate.begin(CHANNEL, self._now)
        for code in CODES:
            fields, _ = signed(code, "alice", "", {})
            request = self._request(CHANNEL, self._command(code, ext_fields=fields), self._now, [])
            request.user = self._user
            self._gate.note(request)
        stamp = f"310.{WALL_MS}.7.1"
        fields, _ = signed(310, "alice", stamp, {})
        request = self._request(CHANNEL, self._command(310, ext_fields=fields), self._now, [])
        request.user = self._user
        assert stamps.find_fault(stamp, 310, CHANNEL, self._now) is None
        self._gate.note(request)

    def decide(self, frames: list[bytes]) -> list[tuple[bool, bool, str]]:
        """Of each frame: whether it is admitted, may send to Orders, and whose it is."""
        decided = []
        for data in frames:
            self._gate.begin(CHANNEL, self._now)
            self._frames.receive(data)
            while self._frames.advance():
                is_admitted = self._gate.admits(self._frames)
                if is_admitted:
                    self._gate.took()
                may_send = self._gate.may_send(b"Orders")
                decided.append((is_admitted, may_send, self._gate.last_name()))
        return decided


def framed(
    code: int, name: str, stamp: str, more: dict[str, str], place: int, spoilt: int, form: str
) -> bytes:
    said, body = signed(code, name, stamp, more)
    if form == "unsigned":
        del said["Signature"]
    if form == "binary" and code < 2**15:
        header, serializer = wire.binary_header(code, said), 1
    else:
        header, serializer = wire.java_header(code, said), 0
    if form == "spoilt":
        at = place % len(header)
        header = header[:at] + bytes((spoilt,)) + header[at + 1 :]
    return wire.frame(header, body, serializer)


STAMPS = st.sampled_from(
    ["", "", f"310.{WALL_MS}.7.2", f"310.{WALL_MS}.7.1", f"200050.{WALL_MS}.7.3", "310.1.7.9", "x"]
)
MORE = st.dictionaries(
    st.sampled_from(["late", "é", "order", "__ZONE_NAME", "_UNIQUE_KEY_QUERY"]),
    st.sampled_from(["", "1", 'é\\"', "\x7f"]),
    max_size=2,
)
FRAMES = st.builds(
    framed,
    st.sampled_from(CODES),
    st.sampled_from(["alice", "alice", "bob"]),
    STAMPS,
    MORE,
    st.integers(0, 999),
    st.integers(0, 255),
    st.sampled_from(["plain", "plain", "binary", "spoilt", "unsigned"]),
)


def test_requests_of_every_code_are_admitted_by_both() -> None:
    frames = [framed(code, "alice", "", {}, 0, 0, "plain") for code in CODES]
    for rig in (SignedRig(), SignedRig(pure)):
        assert rig.decide(frames) == [(True, True, "alice")] * len(CODES)


@settings(max_examples=200, deadline=None)
@given(st.lists(FRAMES, min_size=1, max_size=8))
def test_both_admit_and_leave_the_same(frames: list[bytes]) -> None:
    assert SignedRig().decide(frames) == SignedRig(pure).decide(frames)
