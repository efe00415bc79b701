import csv
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from aerobee.model.replica_status import ReplicaLag
from aerobee.model.topic import DataVersion
from aerobee.protocol.headers.replication import ChangeRoleHeader
from tests.cli_kit import OnTerminal, Said, aerobee
from tests.replica_script import Replica, ReplicaScript, lone_master, master, slave
from tests.server_kit import Server

LINK, OTHER = "127.0.0.1:7", "127.0.0.1:8"


@contextmanager
def script(*brokers: Replica) -> Iterator[Server]:
    with ReplicaScript(*brokers).running() as running:
        yield Server(running.name_server)


def silent(broker: Replica) -> Replica:
    broker.is_silent = True
    return broker


def promoted(server: Server, *words: str) -> Said:
    return aerobee(server, "broker", "promote", "broker-a", *words)


def test_every_broker_is_listed_with_its_lag_and_whether_it_is_in_sync() -> None:
    lags = (
        ReplicaLag(LINK, 510, 0, 0, True),
        ReplicaLag(OTHER, 200, 310, 4_000, False, "310 bytes behind, more than 256"),
    )
    brokers = (master(*lags, copies=2), slave(1, link=LINK), slave(2, 200, link=OTHER))
    with script(*brokers, silent(slave(3))) as server:
        said = aerobee(server, "broker", "replicas", "-o", "json")
        found = said.records
        assert said.status == 0
        assert [one["id"] for one in found] == [0, 1, 2, 3]
        assert [one["role"] for one in found] == ["SYNC_MASTER", "SLAVE", "SLAVE", None]
        assert [one["offset"] for one in found] == [510, 510, 200, None]
        assert [one["lag_bytes"] for one in found] == [None, 0, 310, None]
        assert [one["lag_ms"] for one in found] == [None, 0, 4_000, None]
        assert [one["in_sync"] for one in found] == [None, True, False, False]
        assert [one["why"] for one in found[:3]] == [None, None, lags[1].why]
        assert "no connection" in found[3]["why"]
        assert [one["address"] for one in found] == [one.address for one in brokers] + [
            found[3]["address"]
        ]


def test_a_master_without_enough_copies_says_so() -> None:
    with script(master(copies=2), slave(1)) as server:
        first, second = aerobee(server, "broker", "replicas", "broker-a", "-o", "json").records
        assert first["why"] == "1 of 2 copies: sends are refused"
        assert second["why"] == "it is not connected to its master"


def test_all_forms_of_output_say_the_same() -> None:
    with script(master(ReplicaLag(LINK, 510, 0, 0, True)), slave(1, link=LINK)) as server:
        out = {
            form: aerobee(server, "broker", "replicas", "-o", form).out
            for form in ("table", "json", "yaml", "ndjson", "csv")
        }
    records = json.loads(out["json"])
    assert [json.loads(line) for line in out["ndjson"].splitlines()] == records
    rows = list(csv.DictReader(io.StringIO(out["csv"])))
    assert [row["address"] for row in rows] == [one["address"] for one in records]
    assert f'address: "{records[1]["address"]}"' in out["yaml"]
    heading, first, second = out["table"].splitlines()
    titles = " ".join(heading.split())
    assert titles == "BROKER ID ADDRESS ROLE OFFSET LAG BYTES LAG MS IN SYNC WHY"
    assert first.split()[3:] == ["ASYNC_MASTER", "510", "-", "-", "-", "-"]
    assert second.split()[3:] == ["SLAVE", "510", "0", "0", "yes", "-"]


def test_one_broker_or_cluster_is_shown_and_no_other_name() -> None:
    with script(lone_master()) as server:
        for place in ("broker-a", "DefaultCluster"):
            assert len(aerobee(server, "broker", "replicas", place, "-o", "json").records) == 1
        missing = aerobee(server, "broker", "replicas", "broker-z")
        assert (missing.status, "there are: broker-a" in missing.error) == (3, True)


def test_the_longest_slave_becomes_the_master() -> None:
    shorter, longest = slave(1, 400), slave(2, 500)
    with script(shorter, longest) as server:
        dry = promoted(server, "--dry-run")
        assert (dry.status, longest.changes) == (0, [])
        assert (
            f"would make {longest.address} (id 2, its log ends at 500) the ASYNC_MASTER" in dry.out
        )
        said = promoted(server, "--yes")
        assert said.status == 0, said.error
        assert f"{longest.address} is the master of broker-a now" in said.out
        assert "aerobee broker demote" in said.out
        assert (shorter.changes, longest.changes) == ([], [ChangeRoleHeader("ASYNC_MASTER", 0)])


def test_the_new_master_begins_a_term_that_name_servers_have_not_seen() -> None:
    old, new = lone_master(600), slave(1, 600)
    with ReplicaScript(old, new).running() as script:
        script.version = DataVersion(4, 0, 0)  # RocketMQ's name server tells that of a master
        assert promoted(Server(script.name_server), "--yes", "--beside-master").status == 0
        assert [one.above_term for one in new.changes] == [4]
    new = slave(1)
    with ReplicaScript(new).running() as script:
        script.term = 6
        assert promoted(Server(script.name_server), "--yes").status == 0
        assert [one.above_term for one in new.changes] == [6]


def test_nothing_is_changed_before_somebody_agrees() -> None:
    one = slave(1)
    with script(one) as server:
        refused = aerobee(server, "broker", "promote", "broker-a", stdin="")
        assert (refused.status, "--yes or --dry-run" in refused.error) == (2, True)
        terminal = OnTerminal("broker", "promote", "broker-a", "-n", server.name_server)
        terminal.wait_for("Go on? [y/N]")
        terminal.type("n\n")
        status, lines = terminal.end()
        assert (status, lines[-1]) == (1, "nothing was done")
        assert one.changes == []


def test_a_shorter_slave_is_promoted_only_if_the_broker_is_named_once_more() -> None:
    shorter, longest = slave(1, 400), slave(2, 500)
    with script(shorter, longest) as server:
        said = promoted(server, "--slave", "1", "--yes")
        assert said.status == 1
        assert f"lacks 100 bytes that {longest.address} has" in said.error
        assert "--force-shorter broker-a" in said.error
        wrong = promoted(server, "--slave", "1", "--force-shorter", "broker-b", "--yes")
        assert (wrong.status, "is not the broker" in wrong.error) == (2, True)
        assert shorter.changes == []
        forced = ("--slave", shorter.address, "--force-shorter", "broker-a")
        assert "lose 100 bytes" in promoted(server, *forced, "--dry-run").out
        assert promoted(server, *forced, "--yes").status == 0
        assert shorter.changes == [ChangeRoleHeader("ASYNC_MASTER", 0, force=True)]


def test_a_slave_that_does_not_answer_stands_in_the_way() -> None:
    one, two = slave(1, 400), silent(slave(2))
    with script(one, two) as server:
        said = promoted(server, "--yes")
        assert (said.status, f"{two.address} did not answer" in said.error) == (1, True)
        forced = promoted(server, "--force-shorter", "broker-a", "--yes", "--role", "SYNC_MASTER")
        assert forced.status == 0
        assert one.changes == [ChangeRoleHeader("SYNC_MASTER", 0, force=True)]


def test_no_second_master_is_made_unless_that_is_said() -> None:
    old, one = master(ReplicaLag(LINK, 510, 0, 0, True)), slave(1, link=LINK)
    with script(old, one) as server:
        said = promoted(server, "--yes")
        assert said.status == 1
        assert f"registered and answers: {old.address}" in said.error
        assert "--beside-master" in said.error
        assert one.changes == []
        assert promoted(server, "--beside-master", "--yes").status == 0
        assert one.changes == [ChangeRoleHeader("ASYNC_MASTER", 0, force=True)]


def test_an_old_master_that_is_gone_or_silent_is_replaced() -> None:
    one = slave(1)
    with script(silent(lone_master()), one) as server:
        assert promoted(server, "--yes").status == 0
    assert one.changes == [ChangeRoleHeader("ASYNC_MASTER", 0)]


@pytest.mark.parametrize("words", [("broker-z",), ("broker-a", "--slave", "9")])
def test_a_broker_that_is_not_there_is_not_promoted(words: tuple[str, ...]) -> None:
    with script(slave(1)) as server:
        said = aerobee(server, "broker", "promote", *words, "--yes")
        assert (said.status, "hint: there" in said.error) == (3, True)


def test_an_old_master_that_nobody_has_registered_follows_the_new_one() -> None:
    old, new = lone_master(600), lone_master(510)
    old.is_registered, new.ha_address = False, "10.0.0.2:10912"
    with script(old, new, slave(1)) as server:
        dry = aerobee(server, "broker", "demote", old.address, "--dry-run")
        assert (dry.status, old.changes) == (0, [])
        assert f"would make {old.address} the slave 2 of {new.address}" in dry.out
        assert "ends at 600 and the master's at 510" in dry.out
        said = aerobee(server, "broker", "demote", old.address, "--yes")
        assert said.status == 0, said.error
        assert "aerobee broker replicas broker-a" in said.out
        assert old.changes == [ChangeRoleHeader("SLAVE", 2, new.address)]


def test_a_master_is_not_demoted_without_another_to_follow() -> None:
    old, other = lone_master(), slave(1)
    with script(old, other) as server:
        said = aerobee(server, "broker", "demote", old.address, "--yes")
        assert said.status == 1
        assert "promote a slave first: aerobee broker promote broker-a" in said.error
        follow = ("--master", other.address)
        slave_said = aerobee(server, "broker", "demote", old.address, *follow, "--yes")
        assert (slave_said.status, "it is a slave" in slave_said.error) == (1, True)
        assert old.changes == []
        nobody = aerobee(server, "broker", "demote", "127.0.0.1:1", "--yes")
        assert (nobody.status, "does not answer" in nobody.error) == (3, True)


def test_the_id_and_the_master_can_be_chosen() -> None:
    old, new = lone_master(600), lone_master(510)
    old.is_registered = new.is_registered = False
    new.ha_address = "10.0.0.2:10912"
    with script(old, new) as server:
        words = ("--master", new.address, "--id", "4", "--yes", "-o", "json")
        said = aerobee(server, "broker", "demote", old.address, *words)
        assert said.status == 0, said.error
        assert old.changes == [ChangeRoleHeader("SLAVE", 4, new.address)]
        assert "slave 4" in said.records[0]["done"]


def test_the_member_that_is_named_leads_next() -> None:
    leader = master(copies=2)
    leader.elects = True
    with script(leader, slave(2)) as server:
        said = aerobee(server, "broker", "transfer", "broker-a", "--to", "2")
        assert (said.status, said.error) == (0, "")
        assert "127.0.0.1:30921 leads broker-a in a moment, in a term after 7" in said.out


def test_a_broker_that_is_no_member_says_so() -> None:
    with script(master(), slave(1)) as server:
        said = aerobee(server, "broker", "transfer", "broker-a")
        assert said.status != 0
        assert "not in the script" in said.error


def test_a_name_without_a_broker_that_answers_cannot_be_led_by_another() -> None:
    with script(silent(master())) as server:
        said = aerobee(server, "broker", "transfer", "broker-a")
        assert said.status != 0
        assert "no broker of broker-a answers" in said.error
