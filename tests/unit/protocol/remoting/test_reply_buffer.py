"""Unit tests of the reply buffer: what goes in comes out once, in order, however much."""

from aerobee.protocol.remoting.reply_buffer import START_BYTES, ReplyBuffer


def test_what_was_appended_is_taken_once() -> None:
    buffer = ReplyBuffer()
    buffer.append(b"one")
    buffer.append(b"two")
    assert buffer.take() == b"onetwo"
    assert buffer.take() == b""


def test_what_gathered_so_far_can_be_looked_at() -> None:
    buffer = ReplyBuffer()
    buffer.append(b"one")
    assert bytes(buffer.view()) == b"one"
    buffer.append(b"two")
    assert bytes(buffer.view()) == buffer.take() == b"onetwo"
    assert bytes(buffer.view()) == b""


def test_it_grows_and_keeps_what_it_has() -> None:
    buffer = ReplyBuffer()
    buffer.append(b"head")
    buffer.append(b"x" * (3 * START_BYTES))
    buffer.append(b"tail")
    assert buffer.take() == b"head" + b"x" * (3 * START_BYTES) + b"tail"
