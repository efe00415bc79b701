import pytest

from aerobee.protocol.text.json_text import (
    BadJson,
    ObjectKey,
    Value,
    by_number,
    parse,
    parse_tables,
    quoted,
    write_compact,
    write_pretty,
    write_standard,
)

QUEUE_KEY: ObjectKey = (("brokerName", "broker-a"), ("queueId", 0), ("topic", "T"))


def test_bare_integers_are_keys_and_stay_apart_from_quoted_ones() -> None:
    assert parse(b'{0:"a",-7:"b"}') == {0: "a", -7: "b"}
    assert parse(b'{"0":"a"}') == {"0": "a"}


def test_an_object_as_a_key_becomes_the_tuple_of_its_pairs() -> None:
    text = b'{"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"T"}:{"maxOffset":1}}}'
    found = parse(text)
    assert found == {"offsetTable": {QUEUE_KEY: {"maxOffset": 1}}}
    assert dict(QUEUE_KEY)["queueId"] == 0
    assert write_compact(found) == text


def test_a_map_by_number_takes_both_kinds_of_key() -> None:
    assert by_number({0: 1, "18": 2}) == {0: 1, 18: 2}


@pytest.mark.parametrize("key", ["", "x", "1.5", "1e3", "٣", " 1", "1_0", "9" * 5000, QUEUE_KEY])
def test_a_map_by_number_refuses_any_other_key(key: str) -> None:
    with pytest.raises(BadJson, match="where a number is the key"):
        by_number({key: 1})


def test_the_pretty_form_is_that_of_the_config_files() -> None:
    value: dict[str, Value] = {
        "empty": {},
        "list": ["a", 1],
        "none": [],
        "offsetTable": {"T@g": {0: 101, 1: 99}},
        "yes": True,
    }
    assert write_pretty(value).decode() == (
        "{\n"
        '\t"empty":{},\n'
        '\t"list":[\n\t\t"a",\n\t\t1\n\t],\n'
        '\t"none":[],\n'
        '\t"offsetTable":{\n\t\t"T@g":{\n\t\t\t0:101,\n\t\t\t1:99\n\t\t}\n\t},\n'
        '\t"yes":true\n'
        "}"
    )


def test_both_forms_are_read_back_as_they_were() -> None:
    value: dict[str, Value] = {
        "text": 'q"\\/\b\f\n\r\t\x00\x7f\x85\u2028 ü 订单 \U0001f680',
        "numbers": [0, -1, 2**63 - 1, -(2**63), 0.5, 1e300, 0.0],
        "words": [True, False, None],
        "keys": {3: {QUEUE_KEY: [[], {}]}},
    }
    assert parse(write_pretty(value)) == value
    assert parse(write_compact(value)) == value


def test_texts_are_escaped_as_apache_escapes_them() -> None:
    assert write_compact('a"\\/\b\x01\x1f\x7f\u2028é') == (
        '"a\\"\\\\/\\b\\u0001\\u001F\\u007F\\u2028é"'.encode()
    )


@pytest.mark.parametrize("text", ["", "orders", 'a"b', "a\\b", "a\x01b", "a\x7fb", "é", "\u2028"])
def test_a_text_by_itself_is_quoted_as_within_a_value(text: str) -> None:
    assert quoted(text).encode() == write_compact(text)


def test_space_between_tokens_means_nothing() -> None:
    assert parse(b' {\t"a" :\r\n[ 1 , {0 : 2 } ] }\n') == {"a": [1, {0: 2}]}


def test_escapes_of_every_kind_are_read() -> None:
    assert parse(rb'"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude80"') == '"\\/\b\f\n\r\té\U0001f680'


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b" ",
        b"{",
        b"}",
        b"[1,]",
        b"[,1]",
        b"[1 2]",
        b'{"a":1,}',
        b'{"a" 1}',
        b'{"a":}',
        b"{a:1}",
        b"{'a':1}",
        b"{true:1}",
        b"{1.5:1}",
        b"{[1]:1}",
        b'{{"a":[1]}:1}',
        b'{{"a":{}}:1}',
        b"{{0:1}:1}",
        b"[1] x",
        b"nul",
        b"nan",
        b"NaN",
        b"Infinity",
        b"-Infinity",
        b"1e400",
        b"-1e400",
        b"9223372036854775808",
        b"-9223372036854775809",
        b"9" * 100_000,
        b"01",
        b"+1",
        b".5",
        b"1.",
        b"0x10",
        b"-",
        b"1e",
        "１２".encode(),
        b'"a',
        b'"\x01"',
        b'"\n"',
        b'"\\x"',
        b'"\\u12"',
        b'"\\ud800"',
        b'"\\udc00\\ud800"',
        b"\xff",
        b'"\xc0\xaf"',
        b'"\xed\xa0\x80"',
        b"\xef\xbb\xbf{}",
        b"// c\n{}",
        b"{}{}",
        b"\x00",
    ],
)
def test_what_is_not_in_the_dialect_is_refused(text: bytes) -> None:
    with pytest.raises(BadJson):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [b'{"a":1,"a":1}', b"{0:1,0:1}", b'{0:1,"0":1}', b'{{"q":0}:1,{"q":0}:1}', b"{0:1,-0:1}"],
)
def test_a_key_may_not_appear_twice(text: bytes) -> None:
    with pytest.raises(BadJson, match="for the second time"):
        parse(text)


def test_brackets_may_be_sixteen_deep_and_no_deeper() -> None:
    assert parse(b"[" * 16 + b"]" * 16) is not None
    for text in (b"[" * 17, b'{"a":' * 17, b"{" * 17, b"[" * 1_000_000):
        with pytest.raises(BadJson, match="too deep"):
            parse(text)


def test_a_text_over_the_limit_is_not_even_decoded() -> None:
    assert parse(b"[1]", bytes_max=3) == [1]
    with pytest.raises(BadJson, match="at most 2"):
        parse(b"\xff\xff\xff", bytes_max=2)


def test_what_is_not_plain_json_has_a_limit_of_its_own() -> None:
    assert parse(b"[1,2]", dialect_bytes_max=4) == [1, 2]
    assert parse(b"{0:1}", dialect_bytes_max=5) == {0: 1}
    with pytest.raises(BadJson, match="not plain JSON"):
        parse(b"{0:1}", dialect_bytes_max=4)


def test_an_error_says_where() -> None:
    with pytest.raises(BadJson, match="at character 8") as caught:
        parse(b'{"a":[1,}')
    assert caught.value.position == 8


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**63, "\ud800", {"a": ["\udfff"]}])
def test_what_could_not_be_read_back_is_not_written(value: Value) -> None:
    with pytest.raises(BadJson):
        write_compact(value)


def test_the_standard_form_quotes_numbers_and_is_ascii() -> None:
    value: Value = {"t": {0: "é/", -1: [True, None, 1.5]}}
    assert write_standard(value) == b'{"t":{"0":"\\u00e9/","-1":[true,null,1.5]}}'
    assert parse(write_standard(value)) == {"t": {"0": "é/", "-1": [True, None, 1.5]}}


@pytest.mark.parametrize("value", [{QUEUE_KEY: 1}, float("nan")])
def test_the_standard_form_has_no_objects_as_keys_and_no_nan(value: Value) -> None:
    with pytest.raises(BadJson):
        write_standard(value)


def test_a_plain_text_is_read_the_same_with_a_dialect_key_beside_it() -> None:
    """One goes through the standard library, the other does not."""
    plain = b'{"a":[1,-0,2.5,1e3,"\\u00e9 x",true,null,{"b":{}}],"c":9223372036854775807}'
    found = parse(b"{0:" + plain + b"}")
    assert found == {0: parse(plain)}
    assert str(found) == str({0: parse(plain)})


@pytest.mark.parametrize(
    "text",
    [
        b'{"t@g":{0:12,1:-4},"u@g":{ 10 : 7 , 11:8}}',
        b'{"a":{"0":1},"b":[1,2,3],"c":"plain"}',
        b'{"in a text {1:2} and ,3:4":{5:6}}',
        b'{{"brokerName":"b","queueId":0}:7}',
    ],
)
def test_a_table_by_number_is_read_fast_and_by_number_the_same(text: bytes) -> None:
    fast, slow = parse_tables(text), parse(text)
    assert isinstance(fast, dict)
    assert isinstance(slow, dict)
    assert len(fast) == len(slow)
    for name, table in slow.items():
        found = fast[name]
        if isinstance(table, dict) and isinstance(found, dict):
            assert by_number(found) == by_number(table)
        else:
            assert found == table


@pytest.mark.parametrize("text", [b"{", b'{"a":{1:2,}}', b"\xff", b'{"a" 1:2}', b'{"\\ud800":1}'])
def test_a_table_that_is_no_json_is_refused(text: bytes) -> None:
    with pytest.raises(BadJson):
        parse_tables(text)


def test_a_table_over_the_limit_is_not_read() -> None:
    with pytest.raises(BadJson, match="at most 5"):
        parse_tables(b'{"a":1}', bytes_max=5)
