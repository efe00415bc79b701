"""Tests of what peers can make a server remember: there is an end to all of it, and it is said."""

import json
from collections.abc import Callable

import pytest

from aerobee.model.topic import QUEUES_MAX as TOPIC_QUEUES_MAX
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from aerobee.service.broker.clients.client_calls import CALLS_MAX
from aerobee.service.broker.clients.consumers import LIMITS
from aerobee.service.broker.clients.queue_locks import LOCKS_MAX
from aerobee.service.broker.pull.held_pulls import HeldPullLimits
from aerobee.service.broker.state.groups import GROUPS_MAX
from aerobee.service.broker.state.topics import TOPICS_MAX
from aerobee.storage.index.consume_queues import QUEUES_MAX
from tests.hostile.cases import Case
from tests.hostile.raw import connect, rest_of
from tests.hostile.server import (
    MIB,
    Citizen,
    Server,
    heartbeat,
    pull_fields,
    send_fields,
    undisturbed,
)
from tests.hostile.sweep import ask_all
from tests.wire_client import WireClient

PER_CHANNEL = HeldPullLimits().per_channel
HELD = {"sysFlag": 6, "suspendTimeoutMillis": 20_000}


def frame(code: int, fields: dict[str, str], body: bytes = b"", opaque: int = 1) -> bytes:
    return b"".join(encode(RemotingCommand(code, opaque=opaque, ext_fields=fields, body=body)))


def answers(client: WireClient, count: int) -> list[RemotingCommand]:
    """The next of these; news does not count."""
    found: list[RemotingCommand] = []
    while len(found) < count:
        command = client.read()
        assert command is not None, f"closed after {len(found)} answers"
        if command.is_response:
            found.append(command)
    return found


def ask(client: WireClient, code: int, fields: dict[str, str], body: bytes) -> RemotingCommand:
    client.write(frame(code, fields, body))
    return answers(client, 1)[0]


def groups_beat(first: int, count: int) -> bytes:
    consumers = [{"groupName": f"many-{n}"} for n in range(first, first + count)]
    return json.dumps({"clientID": "many", "consumerDataSet": consumers}).encode()


def test_a_connection_is_a_member_of_so_many_groups(server: Server) -> None:
    with (
        undisturbed(server, grown_bytes_max=32 * MIB),
        WireClient(server.broker) as client,
    ):
        for first in range(0, LIMITS.groups_max, 500):
            assert ask(client, 34, {}, groups_beat(first, 500)).code == 0
        refused = ask(client, 34, {}, groups_beat(LIMITS.groups_max, 1))
        assert (refused.code, "1000 groups already" in refused.remark) == (1, True)
        assert ask(client, 34, {}, groups_beat(0, 10)).code == 0


def test_a_heartbeat_of_tags_is_refused(server: Server) -> None:
    many = "||".join(f"t{n}" for n in range(1001))
    with WireClient(server.broker) as client:
        refused = ask(client, 34, {}, heartbeat("tags", "tags", "Citizen", expression=many))
        assert (refused.code, "1001 tags" in refused.remark) == (1, True)
        pull = pull_fields("Citizen", "tags", 0, subscription=many)
        assert ask(client, 11, pull, b"").code == 23


def test_endless_topics_groups_and_offsets_are_made_in_peace(server: Server) -> None:
    sends = [Case(310, "", send_fields(f"Endless{n}"), b"x") for n in range(300)]
    commits = [
        Case(
            15,
            "",
            {
                "consumerGroup": f"endless-{n}",
                "topic": "Citizen",
                "queueId": "0",
                "commitOffset": "1",
            },
            b"",
        )
        for n in range(1000)
    ]
    with undisturbed(server, grown_bytes_max=32 * MIB):
        for one in ask_all(server.broker, sends + commits, 0):
            assert [answer.code for answer in one.answers] == [0], one


def test_pulls_are_held_up_to_a_bound_and_without_their_bodies(server: Server) -> None:
    """Each brings 64 KiB that nobody asked for: a quarter of a gigabyte, if it were kept."""
    more = 200
    with (
        undisturbed(server, grown_bytes_max=32 * MIB, peak_bytes_max=64 * MIB),
        WireClient(server.broker) as client,
    ):
        assert ask(client, 310, send_fields("Held"), b"x").code == 0
        for number in range(PER_CHANNEL + more):
            pull = pull_fields("Held", "held", 1, **HELD)
            client.write(frame(11, pull, bytes(65536), opaque=number))
        at_once = answers(client, more)
        assert {answer.code for answer in at_once} == {19}
        assert sorted(answer.opaque for answer in at_once) == list(
            range(PER_CHANNEL, PER_CHANNEL + more)
        )
        with WireClient(server.broker) as producer:
            assert producer.ask(310, send_fields("Held"), b"wakes them").code == 0
        woken = answers(client, PER_CHANNEL)
        assert {answer.code for answer in woken} == {0}


def test_one_message_for_thousands_of_pulls_that_nobody_reads_is_not_kept_for_all(
    server: Server,
) -> None:
    """4 GiB of answers become due at once, to a peer that reads none of them."""
    with (
        undisturbed(server, grown_bytes_max=32 * MIB, peak_bytes_max=192 * MIB),
        WireClient(server.broker) as producer,
        connect(server.broker) as deaf,
    ):
        assert producer.ask(310, send_fields("Loud"), b"x").code == 0
        pull = pull_fields("Loud", "loud", 1, **HELD)
        deaf.sendall(frame(11, pull) * PER_CHANNEL)
        deaf.sendall(frame(11, pull_fields("Loud", "loud", 0)))
        assert deaf.recv(4)  # all the others are held now
        assert producer.ask(310, send_fields("Loud"), bytes(MIB)).code == 0
        rest_of(deaf)  # it is closed: this ends
    assert "dropping a peer that does not read" in server.log()


def test_large_messages_for_topics_that_are_not_there_yet_are_bounded(server: Server) -> None:
    sends = [Case(310, "", send_fields(f"Heavy{n}"), bytes(3 * MIB)) for n in range(40)]
    with (
        undisturbed(server, grown_bytes_max=64 * MIB, peak_bytes_max=256 * MIB),
        WireClient(server.broker) as client,
    ):
        for number, one in enumerate(sends):
            client.write(frame(one.code, dict(one.fields), one.body, opaque=number))
        codes = [answer.code for answer in answers(client, len(sends))]
        assert set(codes) <= {0, 2}  # stored, or busy
        assert 0 in codes


def test_questions_to_a_client_that_does_not_answer_are_bounded(server: Server) -> None:
    asked = {"consumerGroup": "mute", "clientId": "mute", "jstackEnable": "false"}
    more = 100
    with (
        undisturbed(server, grown_bytes_max=32 * MIB),
        WireClient(server.broker) as tool,
    ):
        with WireClient(server.broker) as mute:
            assert ask(mute, 34, {}, heartbeat("mute", "mute", "Citizen")).code == 0
            for number in range(CALLS_MAX + more):
                tool.write(frame(307, asked, opaque=number))
            refused = answers(tool, more)
            assert {answer.code for answer in refused} == {207}
            assert min(answer.opaque for answer in refused) == CALLS_MAX
        assert len(answers(tool, CALLS_MAX)) == CALLS_MAX  # it is gone: nobody waits in vain


def test_locks_of_queues_are_bounded(server: Server) -> None:
    def locked(client: WireClient, first: int) -> int:
        queues = [{"topic": "T", "brokerName": "b", "queueId": first + n} for n in range(10_000)]
        body = {"clientId": "c", "consumerGroup": "locks", "mqSet": queues}
        answer = ask(client, 41, {}, json.dumps(body).encode())
        assert answer.code == 0, answer.remark
        return len(json.loads(bytes(answer.body))["lockOKMQSet"])

    with (
        undisturbed(server, grown_bytes_max=96 * MIB),
        WireClient(server.broker) as client,
    ):
        counts = [locked(client, first) for first in range(0, LOCKS_MAX + 20_000, 10_000)]
        assert sum(counts) == LOCKS_MAX
        assert counts[-1] == 0


@pytest.mark.night
@pytest.mark.timeout(3600)
def test_queues_are_bounded_by_what_the_system_lets_a_process_map(server: Server) -> None:
    topics = [f"Wide{n}" for n in range(QUEUES_MAX // TOPIC_QUEUES_MAX + 1)]
    made = {"perm": "6", "readQueueNums": "4096", "writeQueueNums": "4096"}
    sends = [
        Case(310, "", send_fields(topic, e=queue_id), b"x")
        for topic in topics
        for queue_id in range(TOPIC_QUEUES_MAX)
    ]
    with undisturbed(server, grown_bytes_max=256 * MIB, is_disk_busy=True):
        with WireClient(server.broker) as client:
            for topic in topics:
                assert client.ask(17, made | {"topic": topic}).code == 0
        answers = [one.answers[0] for one in ask_all(server.broker, sends, 0, together=500)]
        assert {answer.code for answer in answers} == {0, 2}
        assert "queues already (delete topics" in answers[-1].remark


@pytest.mark.night
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("case", "count", "code", "remark"),
    [
        (
            lambda n: Case(310, "", send_fields(f"Topic{n}", d=1), b"x"),
            TOPICS_MAX,
            1,
            "more than 100000 topics: delete some",
        ),
        (
            lambda n: Case(11, "", pull_fields("Citizen", f"group-{n}", 0), b""),
            GROUPS_MAX,
            26,
            "does not exist",
        ),
    ],
    ids=["topics", "groups"],
)
def test_tables_are_full_at_their_bound(
    server: Server, case: Callable[[int], Case], count: int, code: int, remark: str
) -> None:
    with undisturbed(server, grown_bytes_max=512 * MIB, is_disk_busy=True):
        outcomes = list(ask_all(server.broker, map(case, range(count + 100)), 0, together=500))
        (last,) = outcomes[-1].answers
        assert last.code == code
        assert remark in last.remark
        with WireClient(server.nameserver) as client:
            assert client.ask(105, {"topic": Citizen.TOPIC}).code == 0  # it is still known
