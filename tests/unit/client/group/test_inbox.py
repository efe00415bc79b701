import asyncio
from collections.abc import Hashable

from aerobee.client.api.message import Message
from aerobee.client.group.inbox import FAIR_TURN, Inbox
from tests.client_kit import turn
from tests.net_kit import in_loop
from tests.received_kit import received


def by_tag(message: Message) -> tuple[object, Hashable] | None:
    return (message.holder, message.tag) if message.tag else None


def test_messages_come_out_as_they_went_in() -> None:
    async def test() -> None:
        inbox = Inbox(10)
        messages = received(0, 1, 2)
        inbox.put(messages)
        assert [await inbox.take() for _ in range(3)] == messages
        assert inbox.take_nowait() is None

    in_loop(test)


def test_only_so_many_are_out_at_once() -> None:
    async def test() -> None:
        inbox = Inbox(2)
        first, second, third = received(0, 1, 2)
        inbox.put([first, second, third])
        await inbox.take()
        await inbox.take()
        waiting = asyncio.ensure_future(inbox.take())
        await turn()
        assert not waiting.done()
        inbox.done(first)
        assert await waiting is third

    in_loop(test)


def test_a_lane_goes_on_when_the_one_before_is_done() -> None:
    async def test() -> None:
        inbox = Inbox(10, by_tag)
        a1, a2 = received(0, 1, TAGS="a")
        (b1,) = received(2, TAGS="b")
        (free,) = received(3)
        inbox.put([a1, a2, b1, free])
        assert [inbox.take_nowait() for _ in range(4)] == [a1, b1, free, None]
        inbox.done(a1)
        assert inbox.take_nowait() is a2

    in_loop(test)


def test_what_was_withdrawn_is_not_taken_and_its_lane_is_as_new() -> None:
    async def test() -> None:
        inbox = Inbox(10, by_tag)
        mine = received(0, 1, holder="me", TAGS="a")
        theirs = received(2, holder="you", TAGS="a")
        inbox.put([*mine, *theirs])
        assert inbox.withdraw("me") == mine
        assert inbox.take_nowait() is theirs[0]
        assert inbox.take_nowait() is None

    in_loop(test)


def test_what_is_paused_waits_and_then_comes_first() -> None:
    async def test() -> None:
        inbox = Inbox(10)
        mine, theirs = received(0, 1, holder="me"), received(2, 3, holder="you")
        inbox.pause("me")
        inbox.put([*mine, *theirs])
        assert inbox.take_nowait() is theirs[0]
        inbox.resume("me")
        assert inbox.take_nowait() is mine[0]
        inbox.pause()
        assert inbox.take_nowait() is None
        inbox.resume()
        assert inbox.take_nowait() is mine[1]

    in_loop(test)


def test_one_who_gives_up_waiting_takes_nobodys_turn() -> None:
    async def test() -> None:
        inbox = Inbox(10)
        first, second = asyncio.ensure_future(inbox.take()), asyncio.ensure_future(inbox.take())
        await turn()
        messages = received(0)
        inbox.put(messages)
        first.cancel()  # after it was woken, before it ran
        assert await second is messages[0]

    in_loop(test)


def test_whoever_waits_is_told_that_it_is_closed() -> None:
    async def test() -> None:
        inbox = Inbox(10)
        waiting = [asyncio.ensure_future(inbox.take()) for _ in range(3)]
        await turn()
        inbox.close()
        assert await asyncio.gather(*waiting) == [None] * 3
        inbox.put(received(0))
        assert await inbox.take() is None

    in_loop(test)


def test_idle_is_when_nothing_is_out() -> None:
    async def test() -> None:
        inbox = Inbox(10)
        messages = received(0)
        assert await inbox.idle(0)
        inbox.put(messages)
        await inbox.take()
        assert not await inbox.idle(0.001)
        idle = asyncio.ensure_future(inbox.idle(10))
        await turn()
        inbox.done(messages[0])
        assert await idle

    in_loop(test)


def test_others_have_a_turn_while_messages_never_end() -> None:
    async def test() -> None:
        inbox = Inbox(10_000)
        inbox.put(received(*range(FAIR_TURN + 1)))
        turns: list[str] = []
        asyncio.get_running_loop().call_soon(turns.append, "heartbeat")
        for _ in range(FAIR_TURN + 1):
            await inbox.take()
        assert turns == ["heartbeat"]

    in_loop(test)


def test_many_are_taken_as_there_are_and_as_they_went_in() -> None:
    async def test() -> None:
        inbox = Inbox(10)
        messages = received(*range(5))
        inbox.put(messages)
        assert await inbox.take_many(3) == messages[:3]
        assert await inbox.take_many(9) == messages[3:]
        assert (inbox.out, len(inbox)) == (5, 0)
        waiting = asyncio.ensure_future(inbox.take_many(9))
        await turn()
        assert not waiting.done()
        later = received(5, 6)
        inbox.put(later)
        assert await waiting == later
        waiting = asyncio.ensure_future(inbox.take_many(9))
        await turn()
        inbox.close()
        assert await waiting == []
        assert inbox.take_some(9) == []

    in_loop(test)


def test_of_many_only_so_many_are_out_at_once() -> None:
    async def test() -> None:
        inbox = Inbox(4)
        messages = received(*range(7))
        inbox.put(messages)
        first = await inbox.take_many(9)
        assert first == messages[:4]
        assert inbox.take_some(9) == []
        waiting = asyncio.ensure_future(inbox.take_many(9))
        await turn()
        assert not waiting.done()
        inbox.done_all(first[:3])
        assert await waiting == messages[4:]
        idle = asyncio.ensure_future(inbox.idle(10))
        await turn()
        inbox.done_all([first[3], *messages[4:]])
        assert await idle
        assert inbox.out == 0

    in_loop(test)


def test_of_many_those_of_one_who_is_paused_wait() -> None:
    async def test() -> None:
        inbox = Inbox(10)
        mine, theirs = received(0, 1, holder="me"), received(2, 3, 4, holder="you")
        inbox.pause("me")
        inbox.put([mine[0], theirs[0], mine[1], *theirs[1:]])
        assert inbox.take_some(2) == theirs[:2]
        assert inbox.out == 2
        inbox.pause()
        assert inbox.take_some(9) == []
        inbox.resume()
        inbox.resume("me")
        assert inbox.take_some(9) == [*mine, theirs[2]]

    in_loop(test)


def test_of_many_there_is_one_of_each_lane_and_then_the_next_ones() -> None:
    async def test() -> None:
        inbox = Inbox(10, by_tag)
        a1, a2 = received(0, 1, TAGS="a")
        b1, b2 = received(2, 3, TAGS="b")
        inbox.put([a1, a2, b1, b2])
        first = await inbox.take_many(9)
        assert first == [a1, b1]
        inbox.done_all(first)
        assert await inbox.take_many(9) == [a2, b2]

    in_loop(test)


def test_others_have_a_turn_while_batches_never_end() -> None:
    async def test() -> None:
        inbox = Inbox(10_000)
        inbox.put(received(*range(2 * FAIR_TURN)))
        turns: list[str] = []
        asyncio.get_running_loop().call_soon(turns.append, "heartbeat")
        await inbox.take_many(FAIR_TURN)
        assert turns == []
        await inbox.take_many(FAIR_TURN)
        assert turns == ["heartbeat"]

    in_loop(test)
