import pickle

import pytest

from aerobee.errors import Misuse
from aerobee.pipeline.source.spark_source import AerobeeSource
from aerobee.pipeline.tables import merged, register_table, table_source


def test_a_query_goes_before_its_table_in_whatever_case() -> None:
    given = {"TOPIC": "b", "owner": "me", "Provider": "x"}  # the catalog's words are no options
    assert merged({"topic": "a", "nameServer": "n"}, given) == {
        "nameServer": "n",
        "TOPIC": "b",
    }
    assert merged({"nameServer": "n"}, {"nameserver": "m"}) == {"nameserver": "m"}


def test_a_tables_source_knows_its_options_and_crosses_to_other_processes() -> None:
    from pyspark import cloudpickle

    made = table_source("aerobee_table_t", {"nameServer": "h:1", "topic": "t", "columns": "key"})
    there = pickle.loads(cloudpickle.dumps(made))  # type: ignore[no-untyped-call]
    assert issubclass(there, AerobeeSource)
    assert there.name() == "aerobee_table_t"
    assert there(options={}).schema() == "key binary"
    assert there(options={"Columns": "value"}).schema() == "value binary"


@pytest.mark.parametrize("name", ["", "a b", "a;b", "x.y.z", "`a`"])
def test_a_name_that_is_none_is_refused_before_anything_happens(name: str) -> None:
    with pytest.raises(Misuse, match="no name of a table"):
        register_table(None, name, nameServer="h:1", topic="t")  # type: ignore[arg-type]


def test_wrong_options_are_named_before_anything_happens() -> None:
    with pytest.raises(Misuse, match="was topic meant"):
        register_table(None, "t", nameServer="h:1", topik="t")  # type: ignore[arg-type]
