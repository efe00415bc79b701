"""One figure of a broker's statistics over the last minute, hour and day → JSON.

{"statsDay":{"avgpt":1.0,"sum":8,"tps":0.1},"statsHour":{…},"statsMinute":{…}}
"""

from typing import NamedTuple

from aerobee.protocol.json_text import write_compact


class StretchData(NamedTuple):
    sum: int
    tps: float
    """Per second."""
    average: float
    """Of what is counted, for each time that it was."""


def encode_stats_data(minute: StretchData, hour: StretchData, day: StretchData) -> bytes:
    return write_compact(
        {
            name: {"avgpt": one.average, "sum": one.sum, "tps": one.tps}
            for name, one in (("statsDay", day), ("statsHour", hour), ("statsMinute", minute))
        }
    )
