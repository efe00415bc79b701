import pytest

from aerobee.errors import Misuse
from aerobee.pipeline.arrow.schema import COLUMN_NAMES
from aerobee.pipeline.log_table.log_options import LOG_OPTIONS, NO_END, log_options
from aerobee.pipeline.log_table.log_walk import ALWAYS_MS


def test_nothing_but_a_path_means_all_of_a_log() -> None:
    options = log_options({"path": "/store"})
    assert (options.path, options.topics) == ("/store", frozenset())
    assert (options.start, options.end) == (0, NO_END)
    assert (options.time_start_ms, options.time_end_ms) == (0, ALWAYS_MS)
    assert options.schema.names == (*COLUMN_NAMES, "logOffset")
    assert not options.reports_damage
    assert options.ddl().endswith("properties string, logOffset long")


def test_every_option_says_something() -> None:
    options = log_options(
        {
            "PATH": "/store",
            "topics": "a, b,",
            "startingLogOffset": "5",
            "endingLogOffset": "0",
            "startingTimestamp": "7",
            "endingTimestamp": "9",
            "columns": "value,logOffset",
            "brokerName": "broker-x",
            "maxPartitionBytes": "1000",
            "minPartitions": "3",
            "batchSize": "10",
            "onDamage": "report",
        }
    )
    assert options.topics == {b"a", b"b"}
    assert (options.start, options.end) == (5, 0)
    assert (options.time_start_ms, options.time_end_ms) == (7, 9)
    assert options.ddl() == "value binary, logOffset long, damagedBytes long, damage string"
    assert (options.broker_name, options.reports_damage) == ("broker-x", True)
    assert (options.partition_bytes, options.partitions_min, options.rows_max) == (1000, 3, 10)
    assert log_options({"path": "/s", "topic": "a"}).topics == {b"a"}
    assert "properties" not in log_options({"path": "/s", "properties": "none"}).schema.names
    assert len(LOG_OPTIONS) == 14


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "path is missing"),
        ({"path": "/s", "topic": "a", "topics": "b"}, "exclude each other"),
        ({"path": "/s", "startLogOffset": "1"}, "was startingLogOffset meant"),
        ({"path": "/s", "nameServer": "x:1"}, "the option path"),
        ({"path": "/s", "startingOffsets": "earliest"}, "startingTimestamp"),
        ({"path": "/s", "onDamage": "skip"}, "fail, report"),
        ({"path": "/s", "columns": "nothing"}, "no column 'nothing'"),
        ({"path": "/s", "minPartitions": "0"}, "from 1 on"),
    ],
)
def test_what_is_wrong_names_what_is_right(given: dict[str, str], said: str) -> None:
    with pytest.raises(Misuse, match=said):
        log_options(given)
