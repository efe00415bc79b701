"""One figure of a broker's statistics over the last minute, hour and day ⇄ JSON.

{"statsDay":{"avgpt":1.0,"sum":8,"tps":0.1},"statsHour":{…},"statsMinute":{…}}
"""

from typing import NamedTuple

from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import parse, write_compact


class StretchData(NamedTuple):
    sum: int
    tps: float
    """Per second."""
    average: float
    """Of what is counted, for each time that it was."""


class StatsData(NamedTuple):
    minute: StretchData
    hour: StretchData
    day: StretchData


def encode_stats_data(minute: StretchData, hour: StretchData, day: StretchData) -> bytes:
    return write_compact(
        {
            name: {"avgpt": one.average, "sum": one.sum, "tps": one.tps}
            for name, one in (("statsDay", day), ("statsHour", hour), ("statsMinute", minute))
        }
    )


def decode_stats_data(body: bytes) -> StatsData:
    members = Members(parse(body), "the figure")
    stretches = (members.object(name) for name in ("statsMinute", "statsHour", "statsDay"))
    return StatsData(
        *(
            StretchData(one.int64("sum", 0), one.real("tps", 0.0), one.real("avgpt", 0.0))
            for one in stretches
        )
    )
