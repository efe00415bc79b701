from collections.abc import Iterator
from contextlib import contextmanager

from tests.cli_kit import Said, aerobee
from tests.group_script import GroupBook
from tests.replica_script import ReplicaScript, lone_master
from tests.server_kit import Server


@contextmanager
def grouped(book: GroupBook) -> Iterator[Server]:
    leader = lone_master()
    leader.group = book
    with ReplicaScript(leader).running() as running:
        yield Server(running.name_server)


def members(server: Server, *words: str) -> Said:
    return aerobee(server, "broker", "members", *words)


def test_members_are_listed_with_or_without_the_word() -> None:
    with grouped(GroupBook(0, 1, leader=1)) as server:
        found = members(server, "broker-a", "-o", "json")
        assert found.status == 0, found.error
        assert found.records == members(server, "list", "broker-a", "-o", "json").records
    first, second = found.records
    assert (first["member"], first["role"], second["role"]) == ("n0", "voter", "leader")
    assert (second["address"], second["broker"]) == ("h1:40911", "h1:10911")
    assert (second["lag_bytes"], second["answers"], second["why"]) == (0, True, None)


def test_a_member_is_added_removed_and_replaced() -> None:
    book = GroupBook(0, 1, 2)
    with grouped(book) as server:
        said = members(server, "add", "broker-a", "n3-h3:40911")
        assert said.status == 0, said.error
        assert "n3 is a member of broker-a now; n0, n1, n2, n3 vote, 3 of 4 must" in said.out
        said = members(server, "remove", "broker-a", "n1", "--yes")
        assert said.status == 0, said.error
        assert "n1 is no member of broker-a any more, stop it if it runs" in said.out
        said = members(server, "replace", "broker-a", "n2", "n4-h4:40911", "--yes")
        assert said.status == 0, said.error
        assert "n4 is a member of broker-a in the place of n2" in said.out
    assert sorted(book.members) == [0, 3, 4]


def test_nothing_is_removed_before_somebody_agrees() -> None:
    book = GroupBook(0, 1)
    with grouped(book) as server:
        dry = members(server, "remove", "broker-a", "n1", "--dry-run")
        assert (dry.status, dry.out) == (
            0,
            "would remove n1 from broker-a, of which n0 would be left to vote\n",
        )
        dry = members(server, "replace", "broker-a", "n1", "n2-h2:40911", "--dry-run")
        assert "would add n2 at h2:40911 to broker-a, and remove n1 after that" in dry.out
        refused = aerobee(server, "broker", "members", "remove", "broker-a", "n1", stdin="")
        assert (refused.status, "--yes or --dry-run" in refused.error) == (2, True)
    assert book.asked == []


def test_names_that_are_none_are_refused_with_an_example() -> None:
    with grouped(GroupBook(0, 1)) as server:
        said = members(server, "add", "broker-a", "n3")
        assert (said.status, "such as n3-10.0.0.4:40911" in said.error) == (2, True)
        said = members(server, "remove", "broker-a", "broker-b", "--yes")
        assert (said.status, "say its name, such as n1" in said.error) == (2, True)
        said = members(server, "replace", "broker-a", "n1", "n1-h9:40911", "--yes")
        assert (said.status, "cannot replace itself" in said.error) == (2, True)
        said = members(server, "remove", "broker-a", "n7", "--yes")
        assert (said.status, "there are: n0, n1" in said.error) == (3, True)
