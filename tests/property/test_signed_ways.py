"""With authentication on, the fast paths and the general path decide alike: on any header, any
signature, any stamp, and whatever users and rules are changed in between.

Both brokers get the same frames. One handles them as they come from a connection, the other has
every frame decoded and served by its general handlers.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from aerobee.model.access import Credentials, Rule, User
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.access import encode_user
from aerobee.protocol.remoting.signature import sign_fields
from tests import wire
from tests.access_kit import ACCESS, ask_as, guarded_broker, make_user, secret_of, set_rules
from tests.broker_kit import CLIENT, OTHER, BrokerKit, create_fields, pull_fields

TOPICS = (TopicConfig("Orders", 2, 2), TopicConfig("Bills", 2, 2))
NAMES = ("alice", "bob")
USERS = st.sampled_from(("alice", "alice", "alice", "bob", "root", "nobody"))
RULES = (
    Rule("Topic:Orders", ("Pub", "Sub")),
    Rule("Topic:*", ("Pub",)),
    Rule("Topic:Bills", ("All",), "Deny"),
    Rule("Group:g", ("Sub",)),
    Rule("Topic:*", ("Sub",), sources=("10.0.0.9",)),
    Rule("Topic:Orders", ("Pub",), sources=("10.1.0.0/16",)),
)
Step: TypeAlias = Callable[[BrokerKit, bool], None]


def framed(code: int, fields: dict[str, str], body: bytes, *, is_binary: bool) -> bytes:
    if is_binary:
        return wire.frame(wire.binary_header(code, fields), body, 1)
    return wire.frame(wire.java_header(code, fields), body)


def request(
    name: str,
    what: tuple[int, dict[str, str], bytes],
    form: str,
    stamp: str,
    times: int,
) -> Step:
    code, fields, body = what
    said = dict(fields)

    def act(kit: BrokerKit, is_short: bool) -> None:
        mine = dict(said)
        if stamp:
            mine["RequestStamp"] = stamp.format(now=kit.clock.now().wall_ms)
        if form == "zone":
            mine["__ZONE_NAME"] = "z"
        if form != "unsigned":
            sign_fields(mine, body, Credentials(name, secret_of(name)))
        if form == "wrong":
            mine["Signature"] = mine["Signature"][::-1]
        elif form == "late":
            mine["late"] = "field"
        data = framed(code, mine, body, is_binary=form == "binary" and code < 2**15)
        for _ in range(times):
            (kit.send_frames if is_short else kit.handle_frames)(data)

    return act


def ruled(name: str, rules: list[Rule]) -> Step:
    def act(kit: BrokerKit, is_short: bool) -> None:
        set_rules(kit, name, *{rule.resource: rule for rule in rules}.values())

    return act


def changed(name: str, user: User) -> Step:
    def act(kit: BrokerKit, is_short: bool) -> None:
        ask_as(kit, "root", 3002, {"username": name}, encode_user(replace(user, name=name)))

    return act


def waited(ms: int) -> Step:
    return lambda kit, is_short: kit.tick(ms)


sends = st.builds(
    lambda topic, code, queue_id: (
        code,
        {
            (wire.LONG_NAMES[letter] if code == 10 else letter): text
            for letter, text in {**wire.JAVA_FIELDS, "b": topic, "e": queue_id}.items()
        },
        b"body",
    ),
    st.sampled_from(("Orders", "Orders", "Bills", "%RETRY%g")),
    st.sampled_from((310, 310, 10)),
    st.sampled_from(("0", "1")),
)
pulls = st.builds(
    lambda topic, group, offset: (
        11,
        pull_fields(topic=topic, consumerGroup=group, queueOffset=offset, sysFlag=4),
        b"",
    ),
    st.sampled_from(("Orders", "Orders", "Bills")),
    st.sampled_from(("g", "g", "h")),
    st.integers(0, 2),
)
requests = st.builds(
    request,
    USERS,
    st.one_of(sends, pulls),
    st.sampled_from(("plain", "plain", "plain", "binary", "wrong", "unsigned", "late", "zone")),
    st.sampled_from(
        ("", "", "310.{now}.7.1", "310.{now}.7.2", "11.{now}.7.3", "310.{now}.8.9", "310.1.7.9")
    ),
    st.integers(1, 2),
)
changes = st.one_of(
    st.builds(ruled, st.sampled_from(NAMES), st.lists(st.sampled_from(RULES), max_size=4)),
    st.builds(
        changed,
        st.sampled_from(NAMES),
        st.sampled_from(
            (
                User("", "other-secret"),
                User("", secret_of("alice")),
                User("", is_enabled=False),
                User("", is_enabled=True),
            )
        ),
    ),
    st.sampled_from([1, 15_000]).map(waited),
)
stories = st.lists(st.tuples(st.lists(requests, min_size=1, max_size=6), changes), max_size=8)


@given(stories, st.booleans(), st.booleans())
def test_both_ways_decide_the_same(
    story: list[tuple[list[Step], Step]], is_stateful: bool, authorizes: bool
) -> None:
    access = replace(ACCESS, trusts_connections=is_stateful, trust_ms=10_000, authorizes=authorizes)
    kits = guarded_broker(access=access), guarded_broker(access=access)
    for kit in kits:
        for topic in TOPICS:
            ask_as(kit, "root", 17, create_fields(topic))
        for name in NAMES:
            make_user(kit, name, *RULES[:4])
        kit.close(OTHER)
    for act in (one for bout in story for one in (*bout[0], bout[1])):
        heard = []
        for kit in kits:
            act(kit, kit is kits[0])
            kit.finish()
            heard.append(
                [
                    (one.code, one.remark, one.ext_fields, bytes(one.body))
                    for one in kit.heard(CLIENT)
                ]
            )
        assert heard[0] == heard[1]
    assert kits[0].bodies("Bills") == kits[1].bodies("Bills")
