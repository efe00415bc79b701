import asyncio
from collections.abc import AsyncIterator

import pytest

from aerobee.console.http.action import Event
from aerobee.console.http.event_text import event_bytes, json_bytes, pieces_until, with_pings
from aerobee.errors import Misuse


async def never() -> None:
    await asyncio.Event().wait()


def test_an_event_is_a_name_and_one_line_of_json() -> None:
    event = Event("sample", {"text": "a\nb", "n": 1})
    assert event_bytes(event) == b'event: sample\ndata: {"text":"a\\nb","n":1}\n\n'
    assert event_bytes(None) == b": ping\n\n"


def test_silence_is_filled_with_pings_and_the_source_is_closed_with_the_stream() -> None:
    async def live() -> tuple[list[Event | None], list[str]]:
        closed: list[str] = []
        more = asyncio.Event()

        async def source() -> AsyncIterator[Event]:
            try:
                yield Event("first", {})
                await more.wait()
                yield Event("second", {})
                await asyncio.Event().wait()
            finally:
                closed.append("source")

        stream = with_pings(source(), never, 0.001)
        told = [await anext(stream), await anext(stream)]
        more.set()
        while told[-1] is None:
            told.append(await anext(stream))
        await stream.aclose()  # type: ignore[attr-defined]
        return told, closed

    told, closed = asyncio.run(live())
    assert told[0] == Event("first", {})
    assert told[1] is None
    assert told[-1] == Event("second", {})
    assert closed == ["source"]


def test_an_error_of_the_source_is_the_last_event() -> None:
    async def source() -> AsyncIterator[Event]:
        yield Event("first", {})
        raise Misuse("it is closed")

    async def live() -> list[Event | None]:
        return [one async for one in with_pings(source(), never)]

    first, last = asyncio.run(live())
    assert first == Event("first", {})
    assert last is not None
    assert last.name == "failed"
    assert last.data["error"]["message"] == "it is closed"


def test_a_stream_ends_with_the_session_of_its_reader_and_its_source_is_closed() -> None:
    async def live() -> tuple[list[Event | None], list[str]]:
        over = asyncio.Event()
        closed: list[str] = []

        async def ending() -> None:
            await over.wait()

        async def source() -> AsyncIterator[Event]:
            try:
                yield Event("first", {})
                over.set()
                await asyncio.Event().wait()
            finally:
                closed.append("source")

        return [one async for one in with_pings(source(), ending)], closed

    told, closed = asyncio.run(live())
    assert [one.name for one in told if one is not None] == ["first", "ended"]
    assert closed == ["source"]


def test_a_file_is_cut_off_and_not_ended_when_the_session_is_over() -> None:
    got: list[bytes] = []

    async def live() -> None:
        over = asyncio.Event()

        ended = asyncio.Event()

        async def ending() -> None:
            await over.wait()
            ended.set()

        async def pieces() -> AsyncIterator[bytes]:
            yield b"first"
            over.set()
            await ended.wait()
            yield b"second"

        async for piece in pieces_until(pieces(), ending):
            got.append(piece)

    with pytest.raises(ConnectionAbortedError):
        asyncio.run(live())
    assert got == [b"first"]


def test_halves_of_characters_are_sent_as_question_marks() -> None:
    assert json_bytes({"body": "a\ud800b"}) == b'{"body":"a?b"}'
