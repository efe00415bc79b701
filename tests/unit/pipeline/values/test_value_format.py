import pickle
from pathlib import Path

import pytest

from aerobee.errors import Misuse
from aerobee.pipeline.values.value_format import value_format


def test_a_format_is_plain_values_that_cross_to_executors(tmp_path: Path) -> None:
    made = pickle.loads(pickle.dumps(value_format("json", "a long", "dlq", "dead")))
    assert made.decoder().decode(b'{"a": 1}') == {"a": 1}
    assert (made.on_error, made.dead_letter_topic) == ("dlq", "dead")
    avro = '{"type":"record","name":"R","fields":[{"name":"a","type":"long"}]}'
    assert value_format("avro", avro).decoder().decode(b"\x02") == {"a": 1}
    with pytest.raises(Misuse, match="cannot be read"):
        value_format("protobuf", f"{tmp_path}/none#a.B")
