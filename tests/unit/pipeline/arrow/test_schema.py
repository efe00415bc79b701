import pytest

from aerobee.errors import Misuse
from aerobee.pipeline.arrow import message_columns
from aerobee.pipeline.arrow.schema import COLUMN_NAMES, topic_schema


def test_without_a_choice_all_columns_are_there() -> None:
    schema = topic_schema()
    assert schema.names == COLUMN_NAMES
    assert schema.ddl().startswith("key binary, value binary, topic string, brokerName string")
    assert schema.wanted == message_columns.ALL & ~message_columns.LOG_OFFSET


def test_what_is_chosen_comes_in_that_order_and_nothing_else_is_built() -> None:
    schema = topic_schema(["offset", "value"])
    assert schema.ddl() == "offset long, value binary"
    assert schema.wanted == message_columns.OFFSET | message_columns.VALUE


def test_properties_come_as_text_as_a_map_or_not_at_all() -> None:
    assert topic_schema(["properties"]).ddl() == "properties string"
    assert topic_schema(["properties"], "map").ddl() == "properties map<string,string>"
    assert "properties" not in topic_schema((), "none").names


@pytest.mark.parametrize(
    ("chosen", "form", "named"),
    [
        (["offsets"], "raw", "'offsets'"),
        (["offset", "offset"], "raw", "twice"),
        (["properties"], "none", "left out"),
        ([], "json", "'json'"),
    ],
)
def test_a_wrong_choice_is_named(chosen: list[str], form: str, named: str) -> None:
    with pytest.raises(Misuse, match=named):
        topic_schema(chosen, form)
