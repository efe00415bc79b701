import pickle
from pathlib import Path

import pytest

from aerobee.errors import Misuse
from aerobee.pipeline.value_format import JsonDecoder, value_format


def test_json_is_read_by_the_fields_that_are_named() -> None:
    decoder = JsonDecoder("id long, tags array<string>")
    assert decoder.decode(b'{"id": 1, "other": 2}') == {"id": 1, "other": 2}
    for wrong in (b"[1]", b"{", b"\xff"):
        with pytest.raises(ValueError, match=r".*"):
            decoder.decode(wrong)


@pytest.mark.parametrize("kind", ["timestamp", "date", "binary", "decimal(5,1)"])
def test_what_json_does_not_have_is_refused(kind: str) -> None:
    with pytest.raises(Misuse, match="take it as string"):
        JsonDecoder(f"a struct<x: {kind}>")


def test_a_format_is_plain_values_that_cross_to_executors(tmp_path: Path) -> None:
    made = pickle.loads(pickle.dumps(value_format("json", "a long", "dlq", "dead")))
    assert made.decoder().decode(b'{"a": 1}') == {"a": 1}
    assert (made.on_error, made.dead_letter_topic) == ("dlq", "dead")
    avro = '{"type":"record","name":"R","fields":[{"name":"a","type":"long"}]}'
    assert value_format("avro", avro).decoder().decode(b"\x02") == {"a": 1}
    with pytest.raises(Misuse, match="cannot be read"):
        value_format("protobuf", f"{tmp_path}/none#a.B")
