from typing import Any

import pytest

from aerobee.errors import Misuse
from aerobee.pipeline.values.value_json import JsonDecoder

ALL = (
    "i int, l long, d double, f float, b boolean, s string, a array<long>, "
    "m map<string, double>, o struct<s: string, l: long>"
)


def test_json_is_read_by_the_fields_that_are_named() -> None:
    decoder = JsonDecoder("id long, tags array<string>, x struct<y: boolean>")
    body = b' {"id": 1, "other": 2, "tags": ["a", null], "x": {"y": true, "z": 1}} '
    assert decoder.decode(body) == {"id": 1, "tags": ["a", None], "x": {"y": True}}
    assert decoder.decode(b'{"x": null}') == {"id": None, "tags": None, "x": None}
    for wrong in (b"[1]", b"{", b"\xff", b'{"id": 1} 2', b"null", '{"id": 1}'.encode("utf-16")):
        with pytest.raises(ValueError, match=r".*"):
            decoder.decode(wrong)


@pytest.mark.parametrize("kind", ["timestamp", "date", "binary", "decimal(5,1)"])
def test_what_json_does_not_have_is_refused(kind: str) -> None:
    with pytest.raises(Misuse, match="take it as string"):
        JsonDecoder(f"a struct<x: {kind}>")


@pytest.mark.parametrize(
    ("member", "said"),
    [
        ('"l": 1.5', "1.5 is not a whole number"),
        ('"i": 1.0', "1.0 is not a whole number"),
        ('"l": true', "true is not a whole number"),
        ('"l": "1"', '"1" is not a whole number'),
        ('"d": true', "true is not a number"),
        ('"d": "1.5"', "is not a number"),
        ('"b": 1', "1 is not true or false"),
        ('"a": "12"', "is not an array"),
        ('"a": {}', "is not an array"),
        ('"a": [1.5]', "1.5 is not a whole number"),
        ('"m": []', "is not an object"),
        ('"o": []', "is not an object"),
        ('"o": {"l": 2.5}', "2.5 is not a whole number"),
    ],
)
def test_nothing_is_rounded_or_taken_for_what_it_is_not(member: str, said: str) -> None:
    decoder = JsonDecoder(ALL)
    for more in ("", ', "s": 7'):
        with pytest.raises(ValueError, match=said):
            decoder.decode(f"{{{member}{more}}}".encode())


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("12.50", "12.50"),
        ("1E+2", "1E+2"),
        ("9007199254740993", "9007199254740993"),
        ("true", "true"),
        ('{"b": [1.50, "\\u00e9", null], "c": {}}', '{"b":[1.50,"é",null],"c":{}}'),
        ('"12.50"', "12.50"),
    ],
)
def test_where_text_is_wanted_anything_is_its_json(written: str, text: str) -> None:
    body = f'{{"o": {{"s": {written}, "l": 3}}, "d": 2.50, "m": {{"x": 1}}, "a": [4]}}'
    found = JsonDecoder(ALL).decode(body.encode())
    assert found["o"] == {"s": text, "l": 3}
    assert (found["d"], found["m"], found["a"]) == (2.5, {"x": 1.0}, [4])


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_number_of_json_is_taken_as_spark_and_python_write_it(word: str) -> None:
    for written in (word, f'"{word}"'):
        for more in ("", ', "s": 7'):
            body = f'{{"d": {written}, "m": {{"x": {written}}}{more}}}'
            found = JsonDecoder(ALL).decode(body.encode())
            assert str(found["d"]) == str(found["m"]["x"]) == str(float(word))
    assert JsonDecoder("s string").decode(f'{{"s": "{word}"}}'.encode()) == {"s": word}
    for wrong in (f'"l": {word}', f'"l": "{word}"', f'"d": " {word}"'):
        with pytest.raises(ValueError, match="is not a"):
            JsonDecoder(ALL).decode(f"{{{wrong}}}".encode())


@pytest.mark.parametrize("number", ["1152921504606846977", "1180591620717411303424", "NaN", "3"])
def test_a_number_that_is_whole_is_a_number(number: str) -> None:
    for more in ("", ', "s": 7'):
        found: Any = JsonDecoder(ALL).decode(f'{{"d": {number}{more}}}'.encode())["d"]
        assert str(found) == str(float(number))
