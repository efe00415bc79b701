"""Any bytes are a batch or RemoteProtocolError, and both readers of batches say the same."""

from aerobee.errors import LocalProtocolError, RemoteProtocolError
from aerobee.protocol.message.message_batch import count_messages, decode_batch, encode_batch
from tests.pure import pure

_batch_cursor = pure("aerobee.protocol.message.batch_cursor")


def check(data: bytes) -> None:
    """Any bytes are a batch or RemoteProtocolError, and both readers of batches say the same."""
    bodies = _bodies_in_place(data)
    try:
        messages = decode_batch(data)
    except RemoteProtocolError:
        assert not bodies or len(bodies) > 32767
        return
    assert [message.body for message in messages] == bodies
    assert count_messages(data) == len(messages)
    try:
        again = encode_batch(messages)
    except LocalProtocolError:
        return  # a value with a separator in it
    assert decode_batch(again) == messages


def _bodies_in_place(data: bytes) -> list[bytes]:
    """What the cursor of the send path finds; nothing if it refuses the batch."""
    view = memoryview(data)
    cursor = _batch_cursor.BatchCursor()
    bodies = []
    while (found := cursor.advance(view, len(view))) == _batch_cursor.ENTRY:
        bodies.append(data[cursor.body_start : cursor.body_start + cursor.body_size])
    return bodies if found == _batch_cursor.END else []
