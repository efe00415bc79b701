"""What mqadmin 5.5.0 asked Apache's broker, asked of ours (see `test_broker_conversations.py`).

Ours answers the same, but for what is of one broker (times, addresses, rates, places in the log),
the order of lists and tables, and

    what                                     why
    topics of RocksDB and of checkpoints     every broker of Apache has them, ours has no use for it
    figures and settings (26, 28)            ours are among Apache's: those that mean something here
    pulled offsets of 317                    left at 0 by Apache, which then counts below 0
    25 with fileReservedTime                 refused: what the store is told at its start stays
    requests that are not served             answered with 3; listed below
"""

import json
from typing import Any

import pytest

from aerobee.protocol.java_properties import parse_properties
from aerobee.protocol.remoting_command import RemotingCommand
from tests.answer_meaning import body_of, fields_of, in_any_order, own_words
from tests.broker_replay import Exchange, Replay
from tests.conversation import conversations

NOT_SERVED = {
    315: "statistics by name",
    321: "the units of a queue",
    401: "pop consumption",
    513: "static topics",
    907: "replication",
    **dict.fromkeys((2001, 2002, 2003, 2004), "flow control of old messages"),
    **dict.fromkeys(range(3001, 3011), "users and rights"),
    5001: "timer messages",
    **dict.fromkeys((200074, 200075, 200078, 200079), "light topics"),
}
LEFT_OUT = {
    "remappingStaticTopic": "static topics",
    "updateStaticTopic": "static topics",
}
NOT_SUPPORTED = 3
UPDATE_CONFIG, SHOW_CONFIG, SHOW_FIGURES, ALL_TOPICS, ALL_GROUPS = 25, 26, 28, 21, 201
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


def compare(exchange: Exchange) -> None:
    request, recorded, ours = exchange
    if recorded is None or ours is None:
        assert recorded is ours, "one answers and one does not"
        return
    if request.code in NOT_SERVED:
        assert ours.code == NOT_SUPPORTED
        return
    if request.code == UPDATE_CONFIG and b"fileReservedTime" in bytes(request.body):
        assert ours.code == 16
        return
    assert (ours.code, ours.flag, ours.version) == (recorded.code, recorded.flag, recorded.version)
    if request.code in (SHOW_CONFIG, SHOW_FIGURES):
        # 4.9's spelling of one figure is ours alone: its tools look for it.
        more = names_in(ours, request.code) - names_in(recorded, request.code)
        assert more <= {"getTransferedTps"}
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
    assert sorted((conn, own_words(one)) for conn, one in ours) == sorted(
        (conn, own_words(one)) for conn, one in recorded
    )


def test_what_is_not_served_is_asked_for_somewhere() -> None:
    asked: set[Any] = {
        request.code for name in ADMIN for _, request in conversations()[name].said()
    }
    assert asked >= NOT_SERVED.keys() - {513}
