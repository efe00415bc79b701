"""The units of one queue as administrators are shown them → JSON.

{"filterData":"null","maxQueueIndex":2,"minQueueIndex":0,
 "queueData":[{"eval":false,"physicOffset":510,"physicSize":256,"tagsCode":2598920}],
 "subscriptionData":{…}}

`filterData` and `subscriptionData` are there if a group was named. `eval` is of extended units, of
which there are none.
"""

from collections.abc import Iterable
from typing import NamedTuple

from aerobee.model.subscription import Subscription
from aerobee.protocol.bodies.subscription import subscription_json
from aerobee.protocol.json_text import Value, write_compact

NO_FILTER = "null"


class GroupView(NamedTuple):
    """What a group makes of a queue."""

    filter_data: str
    subscription: Subscription | None


def encode_queue_units(
    min_offset: int,
    max_offset: int,
    units: Iterable[tuple[int, int, int]],
    group: GroupView | None,
) -> bytes:
    """`units`: log offset, record size and tag code of each."""
    body: dict[str, Value] = {}
    if group is not None:
        body["filterData"] = group.filter_data
    body["maxQueueIndex"] = max_offset
    body["minQueueIndex"] = min_offset
    body["queueData"] = [
        {"eval": False, "physicOffset": log_offset, "physicSize": size, "tagsCode": tag_code}
        for log_offset, size, tag_code in units
    ]
    if group is not None and group.subscription is not None:
        body["subscriptionData"] = subscription_json(group.subscription)
    return write_compact(body)
