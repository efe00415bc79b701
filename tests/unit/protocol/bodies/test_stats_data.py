import json

from aerobee.protocol.bodies.stats_data import StretchData, encode_stats_data
from tests.captured import captured


def test_a_figure_is_written_as_apache_does() -> None:
    recorded = next(one for one in captured("VIEW_BROKER_STATS_DATA", "response") if one.body)
    apaches = json.loads(bytes(recorded.body))
    said = [
        StretchData(one["sum"], one["tps"], one["avgpt"])
        for one in (apaches["statsMinute"], apaches["statsHour"], apaches["statsDay"])
    ]
    assert encode_stats_data(*said) == bytes(recorded.body)


def test_a_rate_is_a_number_with_a_point_even_if_it_is_whole() -> None:
    one = StretchData(6, 1.0, 1.0)
    assert b'"statsMinute":{"avgpt":1.0,"sum":6,"tps":1.0}' in encode_stats_data(one, one, one)
