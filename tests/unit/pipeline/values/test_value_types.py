import pyarrow as pa
import pytest
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from aerobee.errors import Misuse
from aerobee.pipeline.values.value_types import fields_of, leaves, shaping, words_of

TEXT = (
    "id long, `na me` string, ok boolean, at timestamp, price decimal(10,2), "
    "lines array<struct<sku: string, n: int>>, extra map<string, array<double>>"
)


def test_types_are_those_that_spark_makes_of_the_same_words() -> None:
    line = StructType([StructField("sku", StringType()), StructField("n", IntegerType())])
    spark = StructType(
        [
            StructField("id", LongType()),
            StructField("na me", StringType()),
            StructField("ok", BooleanType()),
            StructField("at", TimestampType()),
            StructField("price", DecimalType(10, 2)),
            StructField("lines", ArrayType(line)),
            StructField("extra", MapType(StringType(), ArrayType(DoubleType()))),
        ]
    )
    assert fields_of(TEXT) == to_arrow_type(spark, timezone="UTC")


def test_words_and_types_are_the_same_both_ways() -> None:
    made = fields_of(TEXT)
    words = words_of(made)
    assert words.startswith("struct<`id`:long,`na me`:string,")
    assert fields_of(words.removeprefix("struct<").removesuffix(">")) == made
    assert fields_of("a integer, b bigint") == fields_of("a int, b long")
    assert leaves(made).count(pa.string()) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a name is expected"),
        ("id", "there is no type ''"),
        ("id number", "no type 'number'"),
        ("id long name string", "cannot be read"),
        ("a array<long", "'>' is expected"),
        ("a map<int, long>", "'string' is expected"),
        ("a long, a int", "twice"),
        ("a decimal(99,1)", "up to 38"),
        ("a struct<>", "a name is expected"),
    ],
)
def test_what_cannot_be_read_is_named(text: str, said: str) -> None:
    with pytest.raises(Misuse, match=said):
        fields_of(text)


def test_maps_become_pairs_wherever_they_are_and_the_rest_is_left_alone() -> None:
    assert shaping(fields_of("a long, b array<string>")) is None
    shape = shaping(fields_of("m map<string,long>, l array<struct<m: map<string,int>>>, x int"))
    assert shape is not None
    assert shape({"m": {"a": 1}, "l": [{"m": {"b": 2}}, {"m": None}, None], "x": 3}) == {
        "m": [("a", 1)],
        "l": [{"m": [("b", 2)]}, {"m": None}, None],
        "x": 3,
    }
    assert shape({}) == {"m": None, "l": None}
    assert shape(None) is None
