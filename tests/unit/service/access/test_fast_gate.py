"""Unit tests of the gate of the fast paths: requests that it admits, and those that it leaves."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from aerobee.model.access import Credentials, Rule, User
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.access import encode_user
from aerobee.protocol.remoting.signature import sign_fields
from aerobee.service.access.fast_gate import TOPICS_MAX, USERS_MAX
from tests import wire
from tests.access_kit import ACCESS, ask_as, guarded_broker, make_user, secret_of, set_rules, signed
from tests.broker_kit import CLIENT, OTHER, BrokerKit, create_fields, pull_fields
from tests.send_rig import is_taken

ORDERS = TopicConfig("Orders", 4, 4)
PUB = Rule("Topic:Orders", ("Pub",))
SUB = (Rule("Topic:Orders", ("Pub", "Sub")), Rule("Group:g", ("Sub",)))
STATEFUL = replace(ACCESS, trusts_connections=True, trust_ms=10_000)


def send(name: str = "alice", body: bytes = b"x", **fields: str) -> bytes:
    said = signed(name, {**wire.JAVA_FIELDS, **fields}, body)
    return wire.frame(wire.java_header(310, said), body)


def binary_send(name: str = "alice", body: bytes = b"x") -> bytes:
    return wire.frame(wire.binary_header(310, signed(name, wire.JAVA_FIELDS, body)), body, 1)


def pull(name: str = "alice", offset: int = 0) -> bytes:
    fields = signed(name, pull_fields(queueId=1, queueOffset=offset))
    return wire.frame(wire.java_header(11, fields))


def stamped(code: int, fields: Mapping[str, str], stamp: str, body: bytes = b"") -> bytes:
    said = {**fields, "RequestStamp": stamp}
    sign_fields(said, body, Credentials("alice", secret_of("alice")))
    said["RequestStamp"] = stamp  # an empty one, too, which adds nothing to what is signed
    return wire.frame(wire.java_header(code, said), body)


def known_broker(*rules: Rule, access: object = ACCESS) -> BrokerKit:
    """A broker that has taken a send of alice."""
    kit = guarded_broker(ORDERS, access=ACCESS if access is ACCESS else STATEFUL)
    make_user(kit, "alice", *(rules or (PUB,)))
    answered(kit, send())
    return kit


def answered(kit: BrokerKit, data: bytes, code: int = 0) -> None:
    kit.send_frames(data)
    kit.finish()
    (answer,) = kit.heard()
    assert answer.code == code, answer.remark


def test_the_first_send_of_a_connection_is_decided_by_the_gate() -> None:
    kit = guarded_broker(ORDERS)
    make_user(kit, "alice", PUB)
    assert not is_taken(kit, send())
    answered(kit, send())
    assert is_taken(kit, send())
    assert is_taken(kit, binary_send())


def test_a_wrong_signature_is_left_to_the_gate() -> None:
    kit = known_broker()
    for data in (
        send().replace(b'Signature":"', b'Signature":"x')[:-1],
        send(body=b"x")[:-1] + b"y",
        send().replace(b'"e":"1"', b'"e":"2"'),
        send("bob"),
    ):
        assert not is_taken(kit, data)
    answered(kit, send(body=b"x")[:-1] + b"y", 16)


def test_a_topic_that_was_not_decided_is_left_to_the_gate() -> None:
    kit = known_broker()
    assert ask_as(kit, "root", 17, create_fields(TopicConfig("Bills", 4, 4))).code == 0
    assert not is_taken(kit, send(b="Bills"))
    answered(kit, send(b="Bills"), 16)
    assert is_taken(kit, send())


def test_a_user_is_known_on_one_connection() -> None:
    kit = known_broker()
    kit.send_frames(send(), OTHER)
    kit.close(CLIENT)
    kit.open(CLIENT)
    assert not is_taken(kit, send())


@pytest.mark.parametrize("access", [ACCESS, STATEFUL], ids=["each request", "each connection"])
def test_a_change_of_users_or_rules_is_decided_anew(access: object) -> None:
    kit = known_broker(access=access)
    assert is_taken(kit, send())
    set_rules(kit, "alice")
    assert not is_taken(kit, send())
    answered(kit, send(), 16)
    set_rules(kit, "alice", PUB)
    assert not is_taken(kit, send())
    answered(kit, send())
    assert is_taken(kit, send())
    body = encode_user(User("alice", "another secret"))
    assert ask_as(kit, "root", 3002, {"username": "alice"}, body).code == 0
    assert not is_taken(kit, send())
    answered(kit, send(), 16)


def test_a_pull_that_was_decided_by_other_rules_is_decided_anew() -> None:
    kit = known_broker(*SUB)
    answered(kit, pull())
    assert is_taken(kit, pull())
    set_rules(kit, "alice", *SUB[:1])
    answered(kit, send())
    assert is_taken(kit, send())
    assert not is_taken(kit, pull())
    answered(kit, pull(), 16)


def test_a_pull_with_a_wrong_signature_is_left_to_the_gate() -> None:
    kit = known_broker(*SUB)
    answered(kit, pull())
    data = pull()
    assert is_taken(kit, data)
    place = data.index(b'"Signature":"') + len(b'"Signature":"')
    other = b"A" if data[place : place + 1] != b"A" else b"B"
    wrong = data[:place] + other + data[place + 1 :]
    assert not is_taken(kit, wrong)
    answered(kit, wrong, 16)


def test_a_trusted_connection_needs_no_further_signature_for_a_while() -> None:
    kit = known_broker(access=STATEFUL)
    unsigned = send(body=b"x")[:-1] + b"y"
    assert is_taken(kit, unsigned)
    assert not is_taken(kit, send("bob"))
    kit.tick(STATEFUL.trust_ms)
    assert not is_taken(kit, unsigned)
    answered(kit, unsigned, 16)


def test_many_users_and_topics_of_a_connection_are_forgotten_not_refused() -> None:
    kit = known_broker()
    for number in range(USERS_MAX):
        make_user(kit, f"user{number}", PUB)
        answered(kit, send(f"user{number}"))
    answered(kit, send())
    assert is_taken(kit, send())
    gate = kit.broker.reception.fast_gate
    assert gate is not None
    for number in range(TOPICS_MAX + 1):
        ask_as(kit, "root", 310, {**wire.JAVA_FIELDS, "b": f"T{number}"})
    assert is_taken(kit, send())


def test_a_stamp_is_taken_once_on_the_fast_path() -> None:
    kit = known_broker()
    now = kit.clock.now().wall_ms
    answered(kit, stamped(310, wire.JAVA_FIELDS, f"310.{now}.5.1"))
    second = stamped(310, wire.JAVA_FIELDS, f"310.{now}.5.2")
    assert is_taken(kit, second)
    assert not is_taken(kit, second)
    answered(kit, second, 16)
    for wrong in (f"11.{now}.5.3", f"310.{now - 300_001}.5.3", f"310.{now}.6.1", "310.x", ""):
        assert not is_taken(kit, stamped(310, wire.JAVA_FIELDS, wrong))
    assert is_taken(kit, stamped(310, wire.JAVA_FIELDS, f"310.{now}.5.3"))
    assert is_taken(kit, send())


def test_a_request_that_the_fast_path_left_keeps_its_stamp() -> None:
    kit = known_broker(*SUB)
    now = kit.clock.now().wall_ms
    for count in range(1, 5):
        # The second one finds nothing, and waits on the general path.
        fields = pull_fields(queueId=1, queueOffset=0 if count != 2 else 99)
        data = stamped(11, fields, f"11.{now}.5.{count}")
        kit.send_frames(data)
        kit.finish()
        (answer,) = kit.heard()
        assert answer.code in (0, 19, 20, 21), answer.remark
        kit.send_frames(data)
        kit.finish()
        assert [one.code for one in kit.heard()] == [16]


def pop(name: str, kit: BrokerKit) -> bytes:
    fields = {
        "consumerGroup": "g",
        "topic": "Orders",
        "queueId": "1",
        "maxMsgNums": "1",
        "invisibleTime": "60000",
        "pollTime": "0",
        "bornTime": str(kit.clock.now().wall_ms),
        "initMode": "0",
        "expType": "TAG",
        "exp": "*",
        "order": "false",
    }
    return wire.frame(wire.java_header(200050, signed(name, fields)))


def acknowledge(name: str, kit: BrokerKit) -> bytes:
    receipt = f"0 {kit.clock.now().wall_ms} 60000 0 0 broker-a 1 0"
    fields = {"consumerGroup": "g", "topic": "Orders", "queueId": "1", "offset": "0"}
    said = signed(name, {**fields, "extraInfo": receipt})
    return wire.frame(wire.java_header(200051, said))


@pytest.mark.parametrize("made", [pop, acknowledge], ids=["pop", "acknowledgement"])
def test_pops_and_acknowledgements_are_decided_as_on_the_general_path(
    made: Callable[[str, BrokerKit], bytes],
) -> None:
    kit = known_broker(*SUB)
    make_user(kit, "bob", *SUB)
    for _ in range(20):
        answered(kit, send())
    assert not is_taken(kit, made("alice", kit))
    answered(kit, made("alice", kit))
    assert is_taken(kit, made("alice", kit))
    right = made("alice", kit)
    at = right.index(b'Signature":"') + 12
    wrong = right[:at] + bytes((right[at] ^ 1,)) + right[at + 1 :]
    unsigned = made("bob", kit).replace(b'"bob"', b'"eve"')
    for data in (wrong, unsigned, made("bob", kit)):  # bob was not seen on this connection
        assert not is_taken(kit, data)
    answered(kit, wrong, 16)
    answered(kit, unsigned, 16)
    set_rules(kit, "alice", PUB)
    answered(kit, send())  # she is known again, to send
    assert not is_taken(kit, made("alice", kit))
    answered(kit, made("alice", kit), 16)
