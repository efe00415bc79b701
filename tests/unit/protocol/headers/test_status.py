from aerobee.protocol.headers.status import QueueUnitsHeader, StatsDataHeader
from aerobee.protocol.remoting.declared_header import read_header, write_header
from tests.captured import captured


def test_captured_questions_about_units_are_read_whole() -> None:
    for command in captured("QUERY_CONSUME_QUEUE", "request"):
        written = write_header(read_header(QueueUnitsHeader, command.ext_fields))
        assert {**written, **command.ext_fields} == written


def test_captured_questions_about_statistics_are_read_whole() -> None:
    for command in captured("VIEW_BROKER_STATS_DATA", "request"):
        header = read_header(StatsDataHeader, command.ext_fields)
        assert write_header(header) == command.ext_fields
