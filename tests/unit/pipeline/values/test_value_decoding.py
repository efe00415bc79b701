from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.pipeline.values.value_decoding import DeadLetter, NotDecoded, ValueDecoding
from aerobee.pipeline.values.value_format import value_format

QUEUE = MessageQueue("orders", "broker-a", QueueId(3))


def decoded(
    bodies: list[bytes], on_error: str = "fail", schema: str = "n int, m map<string,long>"
) -> tuple[list[Any], Sequence[DeadLetter]]:
    letters: list[DeadLetter] = []
    made = value_format("json", schema, on_error, "dead" if on_error == "dlq" else "")
    batch = pa.record_batch(
        {"value": pa.array(bodies, pa.binary()), "offset": pa.array(range(10, 10 + len(bodies)))}
    )
    found = ValueDecoding(made, letters.extend).decoded(batch, QUEUE)
    return [(row["offset"], row["value"]) for row in found.to_pylist()], letters


def test_good_bodies_become_structs_in_place() -> None:
    rows, letters = decoded([b'{"n": 1, "m": {"a": 5}}', b"{}"])
    assert rows == [(10, {"n": 1, "m": [("a", 5)]}), (11, {"n": None, "m": None})]
    assert letters == []
    assert decoded([]) == ([], [])


@pytest.mark.parametrize("bad", [b"no json", b'{"n": "text"}', b'{"n": 99999999999}', b'{"m": 1}'])
def test_a_bad_body_fails_is_null_or_is_a_dead_letter(bad: bytes) -> None:
    bodies = [b'{"n": 1}', bad, b'{"n": 3}']
    with pytest.raises(NotDecoded, match=r"orders.* at 11 is no json"):
        decoded(bodies)
    good = {"n": 1, "m": None}, {"n": 3, "m": None}
    rows, letters = decoded(bodies, "null")
    assert (rows, letters) == ([(10, good[0]), (11, None), (12, good[1])], [])
    rows, letters = decoded(bodies, "dlq")
    assert rows == [(10, good[0]), (12, good[1])]
    (letter,) = letters
    assert letter.body == bad
    reason = letter.headers.pop("decodeError")
    assert reason.isprintable()
    assert letter.headers == {
        "sourceTopic": "orders",
        "sourceBroker": "broker-a",
        "sourceQueueId": "3",
        "sourceOffset": "11",
    }
