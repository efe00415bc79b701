"""Unit tests of the audit trail, as a broker and a name server tell it."""

from dataclasses import replace

from aerobee.model.access import Rights, Rule, User
from aerobee.model.topic import TopicConfig
from aerobee.ports.audit import AuditEvent
from aerobee.ports.service import ChannelId, CloseLink, LinkId, Peer
from aerobee.protocol.bodies.access import encode_rights, encode_user
from aerobee.protocol.remoting.command_header import ONEWAY_FLAG
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.access.audit import CHANGES, REFUSALS_PER_SECOND
from aerobee.service.access.request_rights import RIGHTS
from tests.access_kit import ACCESS, ask_as, guarded_broker, make_user, secret_of, signed
from tests.broker_kit import IDENTITY, BrokerKit, create_fields, pull_fields
from tests.nameserver_kit import NameServerKit

ORDERS = TopicConfig("Orders", 4, 4)
SEND = {"a": "p", "b": "Orders", "e": "0", "f": "0", "g": "1", "h": "0", "i": "UNIQ_KEY\1id"}


def audited(*topics: TopicConfig) -> tuple[BrokerKit, list[AuditEvent]]:
    trail: list[AuditEvent] = []
    kit = guarded_broker(*topics, audit=trail.append)
    trail.clear()
    return kit, trail


def test_a_change_is_told_with_its_user_and_what_became_of_it() -> None:
    kit, trail = audited()
    assert ask_as(kit, "root", 17, create_fields(ORDERS)).code == 0
    assert ask_as(kit, "root", 17, create_fields(TopicConfig("no/topic"))).code != 0
    assert [event._replace(wall_ms=0) for event in trail] == [
        AuditEvent(
            *(0, "broker-a", "root", "10.0.0.9", "UPDATE_AND_CREATE_TOPIC", ("Topic:Orders",)),
            *("allow", "SUCCESS"),
        ),
        AuditEvent(
            *(0, "broker-a", "root", "10.0.0.9", "UPDATE_AND_CREATE_TOPIC", ("Topic:no/topic",)),
            *("allow", trail[1].answer),
        ),
    ]
    assert trail[1].answer != "SUCCESS"
    assert trail[0].wall_ms == kit.clock.now().wall_ms


def test_a_change_is_told_once_it_is_saved() -> None:
    kit, trail = audited()
    kit.tell(17, signed("root", create_fields(ORDERS)))
    assert trail == []
    kit.finish()
    assert [event.answer for event in trail] == ["SUCCESS"]


def test_messages_and_questions_that_are_allowed_are_not_told() -> None:
    kit, trail = audited(ORDERS)
    assert ask_as(kit, "root", 310, SEND, b"x").code == 0
    assert ask_as(kit, "root", 310, SEND, b"x").code == 0
    assert ask_as(kit, "root", 11, pull_fields(topic="Orders")).code == 0
    assert ask_as(kit, "root", 28).code == 0
    assert trail == []


def test_refusals_say_who_it_was_and_why() -> None:
    kit, trail = audited(ORDERS)
    make_user(kit, "alice")
    trail.clear()
    assert kit.ask(310, SEND, b"x").code == 16
    assert ask_as(kit, "alice", 310, SEND, b"x").code == 16
    wrong = {**signed("alice", SEND), "Signature": "wrong"}
    assert kit.ask(310, wrong, b"x").code == 16
    assert ask_as(kit, "bob", 17, create_fields(ORDERS)).code == 16
    assert [(event.user, event.on, event.decision, event.reason) for event in trail] == [
        ("", (), "deny", "username cannot be null."),
        (
            *("alice", ("Topic:Orders",), "deny"),
            "User:alice has no permission to access Topic:Orders from 10.0.0.9, "
            "no matched policies.",
        ),
        ("alice", (), "deny", "check signature failed."),
        ("bob", ("Topic:Orders",), "deny", "check signature failed."),
    ]
    assert {event.answer for event in trail} == {"NO_PERMISSION"}


def test_users_and_rules_are_told_by_name_and_settings_without_their_values() -> None:
    kit, trail = audited()
    make_user(kit, "alice", Rule("Topic:Orders", ("Pub",)))
    body = b"transactionTimeOut=2000\nautoCreateTopicEnable=false\n"
    assert ask_as(kit, "root", 25, {}, body).code == 0
    assert [(event.request, event.on) for event in trail] == [
        ("AUTH_CREATE_USER", ("Cluster:DefaultCluster", "User:alice")),
        ("AUTH_DELETE_ACL", ("Cluster:DefaultCluster", "User:alice")),
        ("AUTH_CREATE_ACL", ("Cluster:DefaultCluster", "User:alice")),
        (
            "UPDATE_BROKER_CONFIG",
            (
                "Cluster:DefaultCluster",
                "Setting:transactionTimeOut",
                "Setting:autoCreateTopicEnable",
            ),
        ),
    ]
    assert "2000" not in str(trail)


def test_no_secret_is_in_a_trail() -> None:
    kit, trail = audited(ORDERS)
    make_user(kit, "alice", Rule("Topic:Orders", ("Pub",)))
    for name in ("root", "alice", "nobody", None):
        for code in sorted({*RIGHTS, 9999}):
            bodies = (
                encode_user(User("eve", secret_of("eve"), "Normal")),
                encode_rights(Rights("User:eve", (Rule("Topic:x", ("Pub",)),))),
                b"x=planted-value\n",
            )
            for body in bodies:
                kit.tell(code, signed(name, {**SEND, "username": "eve"}, body), body)
                kit.finish()
    assert len(trail) > len(RIGHTS)
    signatures = [signed(name, SEND).get("Signature", "") for name in ("root", "alice")]
    for hidden in ("root-secret", "alice-secret", "eve-secret", "planted-value", *signatures):
        assert hidden not in str(trail)


def test_a_flood_of_refusals_is_counted_and_others_are_heard() -> None:
    kit, trail = audited(ORDERS)
    kit.open(ChannelId(3), Peer("10.0.0.8", 1))
    for _ in range(REFUSALS_PER_SECOND + 30):
        assert kit.ask(310, SEND, b"x").code == 16
    assert len(trail) == REFUSALS_PER_SECOND
    kit.ask(310, SEND, b"x", ChannelId(3))
    assert (trail[-1].source, trail[-1].left_out) == ("10.0.0.8", 0)
    kit.tick(1000)
    kit.ask(310, SEND, b"x")
    kit.ask(310, SEND, b"x")
    assert [event.left_out for event in trail[-2:]] == [30, 0]


def test_without_authentication_changes_are_told_with_their_address() -> None:
    trail: list[AuditEvent] = []
    kit = BrokerKit(identity=replace(IDENTITY, audit=trail.append))
    kit.make_topic(ORDERS)
    kit.ask(310, SEND, b"x")
    (event,) = trail
    assert (event.user, event.source, event.on) == ("", "10.0.0.9", ("Topic:Orders",))


def test_a_one_way_change_is_told_at_once() -> None:
    kit, trail = audited()
    kit.tell(17, signed("root", create_fields(ORDERS)), flag=ONEWAY_FLAG)
    assert [(event.decision, event.answer) for event in trail] == [("allow", "")]


def test_a_body_that_cannot_be_read_is_told_all_the_same() -> None:
    kit, trail = audited()
    make_user(kit, "alice")
    trail.clear()
    assert ask_as(kit, "alice", 18, {}, b"no json").code == 16
    assert [(event.user, event.on) for event in trail] == [("alice", ())]


def test_a_slave_that_proves_nothing_is_told() -> None:
    kit, trail = audited()
    now = kit.clock.now()
    kit.broker.on_link_open(LinkId(1), Peer("10.0.0.7", 5), False, now)
    effects = kit.broker.on_link_bytes(LinkId(1), b"\0" * 8, now)
    assert any(isinstance(effect, CloseLink) for effect in effects)
    (event,) = trail
    assert (event.source, event.request, event.decision) == ("10.0.0.7", "HA link", "deny")


def test_a_name_server_tells_of_changes_and_refusals() -> None:
    trail: list[AuditEvent] = []
    kit = NameServerKit(audit=trail.append)
    assert kit.ask(100, {"namespace": "n", "key": "k", "value": "planted"}).code == 0
    assert (trail[0].server, trail[0].on) == (
        "nameserver",
        ("Cluster:*", "Namespace:n", "Key:k"),
    )
    guarded = NameServerKit(access=ACCESS, audit=trail.append)
    assert guarded.ask(100, {"namespace": "n", "key": "k", "value": "planted"}).code == 16
    assert [event.decision for event in trail] == ["allow", "deny"]
    assert "planted" not in str(trail)


_VERBS = {
    *("UPDATE", "DELETE", "CREATE", "CLEAN", "SET", "RESET", "WIPE", "ADD", "PUT", "REMOVE"),
    *("SWITCH", "CLONE", "ELECT", "ROLLBACK", "TRIGGER", "RESUME"),
}
_OF_CLIENTS = {"UPDATE_CONSUMER_OFFSET"}


def test_every_request_whose_name_says_that_it_changes_something_is_told() -> None:
    changing = {
        code
        for code in RequestCode
        if code in RIGHTS and _VERBS & {*code.name.split("_")} and code.name not in _OF_CLIENTS
    }
    assert changing - CHANGES == set()
    assert set(RIGHTS) >= CHANGES
