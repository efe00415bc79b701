from collections.abc import Awaitable, Callable

import pytest

from aerobee.client.admin.admin import Admin, admin
from aerobee.client.admin.raft_members import CannotJoin
from aerobee.errors import NotFound, Refused
from aerobee.model.replica_status import GroupMembers
from aerobee.protocol.response_codes import ResponseCode
from tests.group_script import LATER, GroupBook
from tests.net_kit import in_loop
from tests.replica_script import ReplicaScript, lone_master, slave

NAME = "broker-a"


def with_group(book: GroupBook | None, test: Callable[[Admin], Awaitable[None]]) -> None:
    leader, silent = lone_master(), slave(1)
    leader.group = book
    silent.is_silent = True

    async def run(script: ReplicaScript) -> None:
        async with admin(script.name_server, timeout=60, connect_timeout=60) as tool:
            await test(tool)

    with ReplicaScript(leader, silent).running() as script:
        in_loop(lambda: run(script))


def test_the_leader_of_a_group_tells_its_members_although_another_is_silent() -> None:
    book = GroupBook(0, 1)

    async def test(tool: Admin) -> None:
        assert await tool.replicas.raft.members(NAME) == book.view()
        with pytest.raises(NotFound, match="'b'"):
            await tool.replicas.raft.members("b")

    with_group(book, test)


def test_a_new_member_copies_and_then_votes() -> None:
    book = GroupBook(0, 1)
    book.lags = [900, 500, 0]
    looks: list[GroupMembers] = []

    async def test(tool: Admin) -> None:
        group = await tool.replicas.raft.add(NAME, 3, "h3:40911", told=looks.append)
        added = group.find(3)
        assert added is not None
        assert added.is_voter
        # Once more, as after a command that was ended: nothing is left to do.
        before = list(book.asked)
        assert await tool.replicas.raft.add(NAME, 3, "h3:40911") == group
        assert book.asked == before

    with_group(book, test)
    assert book.asked[0] == "add 3"
    assert book.asked[-1] == "promote 3"
    lags = [one.lag_bytes for look in looks for one in look.members if one.node == 3]
    assert lags[:2] == [900, 500]


def test_a_change_that_is_refused_for_a_moment_is_asked_for_again() -> None:
    book = GroupBook(0, 1)
    book.refusals = [(LATER, "the last change of members is not committed yet")]

    async def test(tool: Admin) -> None:
        assert (await tool.replicas.raft.remove(NAME, 1)).find(1) is None

    with_group(book, test)
    assert book.asked == ["remove 1", "remove 1"]


def test_a_change_that_cannot_be_made_is_an_error_at_once() -> None:
    book = GroupBook(0, 1)
    book.refusals = [(ResponseCode.CONTROLLER_INVALID_REQUEST, "1 of 2 voters would answer")]

    async def test(tool: Admin) -> None:
        with pytest.raises(Refused, match="1 of 2 voters would answer"):
            await tool.replicas.raft.remove(NAME, 1)
        with pytest.raises(NotFound, match="n7 is no member") as caught:
            await tool.replicas.raft.remove(NAME, 7)
        assert caught.value.hint == "there are: n0, n1"
        with pytest.raises(CannotJoin, match="n1 is a member at h1:40911"):
            await tool.replicas.raft.add(NAME, 1, "elsewhere:40911")

    with_group(book, test)
    assert book.asked == ["remove 1"]


def test_a_leader_hands_over_before_it_is_removed() -> None:
    book = GroupBook(0, 1, 2)

    async def test(tool: Admin) -> None:
        group = await tool.replicas.raft.remove(NAME, 0)
        assert [one.node for one in group.members] == [1, 2]

    with_group(book, test)
    assert book.asked == ["elect", "remove 0"]


def test_the_last_voter_is_not_asked_to_hand_over() -> None:
    book = GroupBook(0)
    book.refusals = [(ResponseCode.CONTROLLER_INVALID_REQUEST, "node 0 is the last voter")]

    async def test(tool: Admin) -> None:
        with pytest.raises(Refused, match="the last voter"):
            await tool.replicas.raft.remove(NAME, 0)

    with_group(book, test)
    assert book.asked == ["remove 0"]


def test_one_that_cannot_be_reached_is_taken_out_again() -> None:
    book = GroupBook(0, 1)
    book.unheard = {3}

    async def test(tool: Admin) -> None:
        with pytest.raises(CannotJoin, match="nobody listens there; it was not added") as caught:
            await tool.replicas.raft.add(NAME, 3, "h3:40911", reach_seconds=0.3)
        assert "raftJoin=true" in (caught.value.hint or "")

    with_group(book, test)
    assert book.asked == ["add 3", "remove 3"]
    assert 3 not in book.members


def test_the_old_member_goes_when_the_new_one_votes() -> None:
    book = GroupBook(0, 1, 2)

    async def test(tool: Admin) -> None:
        group = await tool.replicas.raft.replace(NAME, 1, 3, "h3:40911")
        assert [one.node for one in group.members] == [0, 2, 3]
        # Once more: all of it is done.
        assert await tool.replicas.raft.replace(NAME, 1, 3, "h3:40911") == group
        with pytest.raises(NotFound, match="n1 is no member"):
            await tool.replicas.raft.replace(NAME, 1, 4, "h4:40911")

    with_group(book, test)
    assert book.asked == ["add 3", "promote 3", "remove 1"]


def test_a_broker_that_is_no_member_says_so() -> None:
    async def test(tool: Admin) -> None:
        with pytest.raises(Refused, match="not in the script"):
            await tool.replicas.raft.members(NAME)

    with_group(None, test)
