"""Requests of mqadmin 5.5.0 to Apache's broker, sent to ours (`test_broker_conversations.py`).

Ours answers the same, but for what is of one broker (times, addresses, rates, places in the log),
the order of lists and tables, and

    what                                     why
    topics of RocksDB and of checkpoints     every broker of Apache has them, ours has no use for it
    figures and settings (26, 28)            ours are among Apache's: those that mean something here
    pulled offsets of 317                    left at 0 by Apache, which then counts below 0
    limits of cold reads (2003)              there are none, and nothing of RocketMQ's is shown
    sums of 315                              of a minute of one broker; a group that was not
                                             served since the start has none
    requests that are not served             answered with 3 and the reason; listed below
"""

import json
from typing import Any

import pytest

from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.text.java_properties import parse_properties
from tests.answer_meaning import body_of, fields_of, in_any_order, own_words
from tests.broker_replay import Exchange, Replay
from tests.conversation import conversations

NOT_SERVED = {
    **dict.fromkeys((2001, 2002, 2004), "limits of cold reads"),
    **dict.fromkeys(range(3001, 3011), "users and rights"),
    5001: "another engine of timers",
    **dict.fromkeys((200075, 200078, 200079), "light topics"),
}
LEFT_OUT = {
    "remappingStaticTopic": "begins with the topic that another conversation made",
}
NOT_COUNTED, NOT_SUPPORTED, NOT_PERMITTED = 1, 3, 16
SHOW_CONFIG, SHOW_FIGURES, ALL_TOPICS, ALL_GROUPS = 26, 28, 21, 201
STATISTICS, COLD_LIMITS, LIGHT_TOPICS = 315, 2003, 200074
ADMIN = [
    name
    for name in conversations()
    if name.startswith("mqadmin-") and not name.endswith(tuple(LEFT_OUT))
]


def names_in(answer: RemotingCommand, code: int) -> set[str]:
    text = bytes(answer.body).decode()
    if code == SHOW_FIGURES:
        return set(json.loads(text)["table"])
    return {key for _, key, _ in parse_properties(text)}


def compare_tables(code: int, recorded: RemotingCommand, ours: RemotingCommand) -> None:
    """Ours has a part of what Apache's has, and that is the same."""
    name = "topicConfigTable" if code == ALL_TOPICS else "subscriptionGroupTable"
    apaches, mine = (json.loads(bytes(answer.body)) for answer in (recorded, ours))
    assert mine.keys() == apaches.keys()
    missing = apaches[name].keys() - mine[name].keys()
    assert all("ROCKSDB" in one or "CHECKPOINT" in one for one in missing)
    assert in_any_order(mine[name]) == in_any_order(
        {key: row for key, row in apaches[name].items() if key not in missing}
    )


def compare_statistics(recorded: RemotingCommand, ours: RemotingCommand) -> None:
    """Both count, or ours was not asked for anything yet."""
    if recorded.code == 0 and ours.code == 0:
        apaches, mine = (json.loads(bytes(answer.body)) for answer in (recorded, ours))
        assert mine.keys() == apaches.keys()
        assert all(mine[name].keys() == apaches[name].keys() for name in mine)
    else:
        assert ours.code == NOT_COUNTED


def compare(exchange: Exchange) -> None:
    request, recorded, ours = exchange
    if recorded is None or ours is None:
        assert recorded is ours, "one answers and one does not"
        return
    if request.code in NOT_SERVED:
        assert ours.code in (NOT_PERMITTED, NOT_SUPPORTED)
        assert ours.remark, "the reason"
        return
    if request.code == STATISTICS:
        compare_statistics(recorded, ours)
        return
    assert (ours.code, ours.flag, ours.version) == (recorded.code, recorded.flag, recorded.version)
    if request.code in (SHOW_CONFIG, SHOW_FIGURES):
        # 4.9's spelling of a figure, for its tools; a setting of the proxy's, and ours: of timers,
        # of chaos, and limits of users, addresses and groups.
        added = names_in(ours, request.code) - names_in(recorded, request.code)
        more = {key for key in added if not key.startswith(("user", "address", "group"))}
        known = {
            "getTransferedTps",
            "putLatency50",
            "enableTopicMessageTypeCheck",
            "timerWheelSlots",
        }
        assert more <= known | {"testCluster"}
    elif request.code in (COLD_LIMITS, LIGHT_TOPICS):
        apaches, mine = (json.loads(bytes(answer.body)) for answer in (recorded, ours))
        assert mine.keys() <= apaches.keys()
    elif request.code in (ALL_TOPICS, ALL_GROUPS):
        compare_tables(request.code, recorded, ours)
    else:
        assert fields_of(request, ours) == fields_of(request, recorded)
        assert body_of(request, ours) == body_of(request, recorded)


@pytest.mark.parametrize("name", ADMIN)
def test_a_tool_is_answered_as_apache_does(name: str) -> None:
    replay = Replay(conversations()[name])
    for exchange in replay.exchanges():
        compare(exchange)
    recorded, ours = replay.own()
    assert own_words(ours) == own_words(recorded)


def test_what_is_not_served_is_asked_for_somewhere() -> None:
    asked: set[Any] = {
        request.code for name in ADMIN for _, request in conversations()[name].said()
    }
    assert asked >= NOT_SERVED.keys() - {513}
