"""The short way of a pull and the general one are two programs with one meaning: whatever happens
in between, the same pulls are answered the same, byte for byte.

Both brokers get the same frames. One handles them as they come from a connection, the other has
every frame decoded and served by its general handlers.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from aerobee.model.topic import TopicConfig
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from tests.broker_kit import CLIENT, OTHER, BrokerKit, create_fields, pull_fields
from tests.send_rig import send_frame

ORDERS = TopicConfig("Orders", 2, 2)
QUEUES = st.integers(0, 2)
GROUPS = st.sampled_from(["g", "g", "h"])

Action: TypeAlias = Callable[[BrokerKit, bool], None]
"""Given a broker, and whether its pulls may take the short way."""


def pulled(said: dict[str, str], opaque: int, flag: int, times: int) -> Action:
    command = RemotingCommand(11, flag=flag, opaque=opaque, ext_fields=said)
    data = b"".join(encode(command))

    def act(kit: BrokerKit, is_short: bool) -> None:
        for _ in range(times):
            (kit.send_frames if is_short else kit.handle_frames)(data)

    return act


def sent(queue_id: int, tag: str, count: int) -> Action:
    data = send_frame({"e": str(queue_id), "i": f"UNIQ_KEY\x01i\x02TAGS\x01{tag}\x02"}) * count

    def act(kit: BrokerKit, is_short: bool) -> None:
        kit.send_frames(data, OTHER)
        kit.heard(OTHER)

    return act


def beaten(group: str, expression: str, version: int) -> Action:
    def act(kit: BrokerKit, is_short: bool) -> None:
        kit.beat("c", group, {"Orders": expression}, channel=OTHER, version=version)
        kit.heard(OTHER)

    return act


def asked(code: int, fields: dict[str, str], body: bytes = b"") -> Action:
    def act(kit: BrokerKit, is_short: bool) -> None:
        kit.ask(code, fields, body, OTHER)

    return act


def waited(ms: int) -> Action:
    return lambda kit, is_short: kit.tick(ms)


OPAQUES = st.sampled_from([1, 7, 2**31 - 1, -1])
OFFSETS = st.sampled_from([0, 0, 0, 1, 2, 3, 5, -1])
COMMITS = st.integers(-1, 9)
# One mould, so that most pulls have been learned from before.
same_pulls = st.builds(
    pulled,
    st.builds(
        pull_fields,
        queueId=st.sampled_from([0, 0, 0, 1, 2]),
        queueOffset=OFFSETS,
        sysFlag=st.just(1),
        commitOffset=COMMITS,
        subVersion=st.just(3),
    ),
    OPAQUES,
    st.just(0),
    st.just(1),
)
other_pulls = st.builds(
    pulled,
    st.builds(
        pull_fields,
        consumerGroup=GROUPS,
        queueId=QUEUES,
        queueOffset=OFFSETS,
        maxMsgNums=st.sampled_from([32, 2]),
        sysFlag=st.sampled_from([5, 1, 6]),
        commitOffset=COMMITS,
        subscription=st.sampled_from(["*", "A"]),
        subVersion=st.sampled_from([3, 5]),
    ),
    OPAQUES,
    st.sampled_from([0, 0, 2]),
    st.integers(1, 3),
)
pulls = st.sampled_from([same_pulls, same_pulls, other_pulls]).flatmap(lambda one: one)
topics = st.sampled_from([ORDERS, replace(ORDERS, read_queues=1), replace(ORDERS, permission=2)])
changes = st.one_of(
    st.builds(sent, QUEUES, st.sampled_from("AB"), st.integers(1, 4)),
    st.builds(beaten, GROUPS, st.sampled_from(["*", "A"]), st.integers(0, 6)),
    topics.map(lambda topic: asked(17, create_fields(topic))),
    st.sampled_from([b"brokerPermission=6\n", b"brokerPermission=2\n"]).map(
        lambda text: asked(25, {}, text)
    ),
    st.builds(
        lambda group, queue_id, offset: asked(
            222,
            {
                "topic": "Orders",
                "group": group,
                "timestamp": "0",
                "isForce": "true",
                "queueId": str(queue_id),
                "offset": str(offset),
            },
        ),
        GROUPS,
        QUEUES,
        st.integers(0, 4),
    ),
    st.sampled_from([1, 5_000, 20_000]).map(waited),
)


def offsets(kit: BrokerKit) -> bytes:
    """How far every group is."""
    return bytes(kit.ask(43, channel=OTHER).body)


stories = st.lists(st.tuples(st.lists(pulls, min_size=1, max_size=6), changes), max_size=8)


@given(stories)
def test_both_ways_answer_and_commit_the_same(story: list[tuple[list[Action], Action]]) -> None:
    as_it_comes, generally = BrokerKit(ORDERS), BrokerKit(ORDERS)
    begin = [sent(0, "A", 3), sent(1, "B", 2), beaten("g", "*", 4), beaten("h", "A", 4)]
    for act in (*begin, *(one for bout in story for one in (*bout[0], bout[1]))):
        heard = []
        for kit in (as_it_comes, generally):
            act(kit, kit is as_it_comes)
            kit.finish()
            heard.append([(one, bytes(one.body)) for one in kit.heard(CLIENT)])
        assert heard[0] == heard[1]
        assert offsets(as_it_comes) == offsets(generally)
