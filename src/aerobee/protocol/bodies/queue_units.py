"""The units of one queue as administrators are shown them ⇄ JSON.

{"filterData":"null","maxQueueIndex":2,"minQueueIndex":0,
 "queueData":[{"eval":false,"physicOffset":510,"physicSize":256,"tagsCode":2598920}],
 "subscriptionData":{…}}

`filterData` and `subscriptionData` are there if a group was named. `eval` is of extended units, of
which there are none.
"""

from collections.abc import Iterable
from typing import NamedTuple

from aerobee.model.subscription import Subscription
from aerobee.protocol.bodies.subscription import subscription_from, subscription_json
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Value, parse, write_compact

NO_FILTER = "null"


class QueueUnit(NamedTuple):
    log_offset: int
    size: int
    tag_code: int


class QueueUnits(NamedTuple):
    min_offset: int
    max_offset: int
    units: list[QueueUnit]
    subscription: Subscription | None
    """Of the group that was named, if it is online."""


class GroupView(NamedTuple):
    """Subscription and filter of a group for a queue."""

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


def decode_queue_units(body: bytes) -> QueueUnits:
    members = Members(parse(body), "the units")
    rows = [Members(row, "a unit") for row in members.array("queueData")]
    return QueueUnits(
        members.int64("minQueueIndex"),
        members.int64("maxQueueIndex"),
        [
            QueueUnit(row.int64("physicOffset"), row.int32("physicSize"), row.int64("tagsCode"))
            for row in rows
        ],
        subscription_from(members.object("subscriptionData"))
        if members.has("subscriptionData")
        else None,
    )
