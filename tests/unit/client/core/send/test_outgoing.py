import math
from typing import Any

import pytest

from aerobee.client.core.send.outgoing import (
    Draft,
    Outgoing,
    body_bytes,
    check_body_size,
    properties_of,
    set_delivery,
    set_identity,
    set_priority,
    use_delay_level,
)
from aerobee.errors import Misuse
from aerobee.model.flags import CompressionType, compression_type
from aerobee.protocol.message.compression import decompress


@pytest.mark.parametrize(
    ("body", "encoded"),
    [
        (b"x", b"x"),
        (bytearray(b"x"), b"x"),
        (memoryview(b"xy")[1:], b"y"),
        ("ü", b"\xc3\xbc"),
        ({"id": 2, "n": "ü"}, '{"id":2,"n":"ü"}'.encode()),
        ([1], b"[1]"),
        (None, b"null"),
    ],
)
def test_a_body_is_bytes_text_or_json(body: object, encoded: bytes) -> None:
    assert body_bytes(body) == encoded


def test_a_codec_of_the_application_is_used_for_what_is_neither_bytes_nor_text() -> None:
    assert body_bytes({"a"}, lambda body: repr(body).encode()) == b"{'a'}"
    assert body_bytes(b"raw", lambda body: b"never") == b"raw"
    wrong: Any = str
    with pytest.raises(Misuse, match="not bytes"):
        body_bytes(1, wrong)


@pytest.mark.parametrize("body", [b"", ""])
def test_an_empty_body_is_refused(body: object) -> None:
    with pytest.raises(Misuse, match="empty"):
        body_bytes(body)


def test_what_is_no_json_is_refused_with_what_to_do() -> None:
    with pytest.raises(Misuse) as caught:
        body_bytes({1, 2})
    assert "codec=" in caught.value.hint


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (math.nan, "body is nan"),
        ({"x": math.nan}, "body['x'] is nan"),
        ({"x": [1.5, {"y": (2, -math.inf)}]}, "body['x'][1]['y'][1] is -inf"),
        ({"x": {math.inf: 1}}, "a key of body['x'] is inf"),
    ],
)
def test_a_number_that_json_does_not_have_is_refused_with_its_place(
    body: object, place: str
) -> None:
    with pytest.raises(Misuse) as caught:
        body_bytes(body)
    assert caught.value.message == f"{place}, which JSON does not have"
    assert "None" in caught.value.hint
    assert "codec=" in caught.value.hint
    assert body_bytes(body, lambda body: repr(body).encode()) == repr(body).encode()


def test_a_body_that_is_in_itself_is_refused() -> None:
    body: list[object] = [1.5]
    body.append({"again": body})
    with pytest.raises(Misuse, match="Circular"):
        body_bytes(body)


def test_a_body_over_the_limit_is_refused() -> None:
    check_body_size(b"12345", 5)
    with pytest.raises(Misuse, match="6 bytes; at most 5"):
        check_body_size(b"123456", 5)


def test_what_an_application_says_is_in_the_properties() -> None:
    assert properties_of("paid", ["o-1", "o-2"], {"v": "1"}, "user-7") == {
        "v": "1",
        "TAGS": "paid",
        "KEYS": "o-1 o-2",
        "__SHARDINGKEY": "user-7",
    }
    assert properties_of("", "one", None, None) == {"KEYS": "one"}
    assert properties_of("", iter(["a", "b"]), None, None) == {"KEYS": "a b"}
    empty: list[Any] = ["", (), [], iter(())]
    for keys in empty:
        assert properties_of("", keys, None, None) == {}


def test_keys_can_be_read_as_often_as_one_likes() -> None:
    message = Outgoing(b"x", keys=iter(["a", "b"]))
    assert [tuple(message.keys), tuple(message.keys)] == [("a", "b")] * 2
    assert Outgoing(b"x", keys="one").keys == "one"
    wrong: Any = 7
    with pytest.raises(Misuse, match="the keys are 7"):
        Outgoing(b"x", keys=wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"tag": "a || b"},
        {"tag": " a"},
        {"keys": ["a b"]},
        {"keys": ["a", ""]},
        {"keys": [7]},
        {"headers": {"UNIQ_KEY": "x"}},
        {"headers": {"DELAY": "3"}},
        {"headers": {"a": ""}},
        {"headers": {"": "a"}},
        {"headers": {"a": 1}},
        {"order_by": ""},
        {"order_by": 7},
    ],
)
def test_what_would_be_lost_or_read_differently_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(Misuse):
        properties_of(**wrong)


def test_separators_in_a_header_are_refused_before_anything_is_sent() -> None:
    draft = Draft("t", b"x", properties_of("", (), {"a": "x\x02TAGS\x01evil"}))
    with pytest.raises(Misuse, match="separators"):
        draft.properties_text()


def test_a_delay_and_a_time_are_said_and_contradict_each_other() -> None:
    properties: dict[str, str] = {}
    set_delivery(properties, delay_ms=1500, deliver_ms=None)
    assert properties == {"TIMER_DELAY_MS": "1500"}
    properties = {}
    set_delivery(properties, delay_ms=None, deliver_ms=99)
    assert properties == {"TIMER_DELIVER_MS": "99"}
    with pytest.raises(Misuse, match="contradict"):
        set_delivery(properties, delay_ms=1, deliver_ms=2)


def test_a_priority_is_said_and_is_none_of_a_message_for_later_or_in_order() -> None:
    properties: dict[str, str] = {}
    set_priority(properties, 7)
    assert properties == {"_SYS_MSG_PRIORITY_": "7"}
    assert Draft("t", b"x", properties).priority == 7
    assert Draft("t", b"x", {}).priority is None
    for other in ("__SHARDINGKEY", "TIMER_DELAY_MS", "TIMER_DELIVER_MS"):
        with pytest.raises(Misuse, match="has no priority"):
            set_priority({other: "1"}, 0)


@pytest.mark.parametrize("wrong", [-1, 2**31, "7", True, 1.5])
def test_what_is_no_priority_is_refused(wrong: Any) -> None:
    with pytest.raises(Misuse, match="the priority"):
        set_priority({}, wrong)


def test_no_delay_at_all_is_a_plain_message() -> None:
    properties: dict[str, str] = {}
    set_delivery(properties, delay_ms=0, deliver_ms=None)
    assert properties == {}


def test_identity_is_the_unique_id_and_the_namespace() -> None:
    properties: dict[str, str] = {}
    set_identity(properties, "ID", "shop")
    assert Draft("t", b"x", properties).unique_id == "ID"
    assert properties["INSTANCE_ID"] == "shop"


def test_a_body_is_compressed_only_if_it_gets_smaller() -> None:
    large = Draft("t", b"a" * 5000, {})
    large.compress(CompressionType.ZLIB)
    assert compression_type(large.sys_flag) is CompressionType.ZLIB
    assert decompress(large.body, large.sys_flag) == b"a" * 5000
    dense = Draft("t", bytes(range(256)), {})
    dense.compress(CompressionType.ZLIB)
    assert (dense.body, dense.sys_flag) == (bytes(range(256)), 0)


@pytest.mark.parametrize(
    ("delay_ms", "level"), [(1_000, "1"), (30_000, "4"), (60_000, "5"), (7_200_000, "18")]
)
def test_a_delay_that_is_a_level_is_said_as_one_to_an_old_broker(delay_ms: int, level: str) -> None:
    properties: dict[str, str] = {}
    set_delivery(properties, delay_ms=delay_ms, deliver_ms=None)
    use_delay_level(properties)
    assert properties == {"DELAY": level}


@pytest.mark.parametrize("said", [{"TIMER_DELAY_MS": "1500"}, {"TIMER_DELIVER_MS": "1000"}])
def test_any_other_delay_is_refused_for_an_old_broker(said: dict[str, str]) -> None:
    with pytest.raises(Misuse, match="older than"):
        use_delay_level(said)
