"""Conversations recorded between real clients and Apache's broker 5.5.0, played to ours by the
client's side (`tests/broker_replay.py`). Ours answers the same, but for

    what                                       why
    times, places in the log, ids made of them they are another broker's
    revive queues                              counted by runs of pops, of which ours needs fewer
    wording of remarks                         ours say what to do; those of pulls are the same
    NO_MATCHED_LOGIC_QUEUE                     Apache makes a queue when it is pulled, and says that
                                               it is empty
    the checksum in a record's properties      ours has one, Apache's is off unless configured
    lists whose order means nothing            Apache's come out of hash tables
    25, subscription not latest                not answered: a pull that overtakes its heartbeat is
                                               served without a filter, which the client has, too
    queueOffset of a delayed send              counts what waits in the schedule topic, of which
                                               a conversation does not tell
    CLUSTER in a reply that is pushed          ours has it, as every message; nobody looks
    the time in a handle for a delayed message it counts from a broker's clock
    two properties of a half that is checked   ours names the first copy; Apache's says WAIT=false
    a poll whose time is over                  answered then; Apache's some seconds later, when a
                                               client may be gone
    binary headers                             answered in kind, where Apache answers in JSON

`tools/broker_vectors.py` picked them.
"""

import pytest

from tests.answer_meaning import body_of, fields_of, own_words
from tests.broker_replay import Exchange, Replay
from tests.conversation import conversations

SUBSCRIPTION_NOT_LATEST = 25
PULLS = (11, 361)
PULL_CODES = (0, 19, 20, 21)
POLL_OVER = {11: (19,), 200050: (210,)}
NO_QUEUE, EMPTY_QUEUE = "NO_MATCHED_LOGIC_QUEUE", "NO_MESSAGE_IN_QUEUE"
JAVA = [name for name in conversations() if name.startswith("java-")]


def compare(exchange: Exchange) -> None:
    request, recorded, ours = exchange
    if recorded is not None and recorded.code == SUBSCRIPTION_NOT_LATEST:
        return
    if recorded is None and ours is not None and ours.code in POLL_OVER.get(request.code, ()):
        return
    if recorded is None or ours is None:
        assert recorded is ours, "one answers and one does not"
        return
    assert (ours.code, ours.flag, ours.version) == (recorded.code, recorded.flag, recorded.version)
    assert fields_of(request, ours) == fields_of(request, recorded)
    assert body_of(request, ours) == body_of(request, recorded)
    if request.code in PULLS and recorded.code in PULL_CODES:
        assert ours.remark.replace(NO_QUEUE, EMPTY_QUEUE) == recorded.remark
    assert ours.serialize_type == request.serialize_type


@pytest.mark.parametrize("name", JAVA)
def test_a_client_is_answered_as_apache_does(name: str) -> None:
    replay = Replay(conversations()[name])
    for exchange in replay.exchanges():
        compare(exchange)
    recorded, ours = replay.own()
    assert own_words(ours) == own_words(recorded)


def test_every_conversation_of_a_client_is_played() -> None:
    assert len(JAVA) == 64
