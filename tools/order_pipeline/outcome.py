"""Comparison of the pipeline's result with its input: the table row by row, the windows one by one.

A difference is a line for people; no line means that everything is as it must be.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from tools.order_pipeline.shop import Sales

SHOWN_MAX = 5


def table_differences(
    source: list[dict[str, Any]], copied: list[dict[str, Any]], ours: str = "_sequence"
) -> list[str]:
    """Rows by id, column by column. `ours` is a column that only the copy has."""
    wanted = {row["id"]: row for row in source}
    found = {int(row["id"]): {**row, "id": int(row["id"])} for row in copied}
    told = [f"order {number} is missing" for number in sorted(wanted.keys() - found.keys())]
    told += [f"order {number} is too many" for number in sorted(found.keys() - wanted.keys())]
    for number in sorted(wanted.keys() & found.keys()):
        copy = {name: value for name, value in found[number].items() if name != ours}
        if copy != wanted[number]:
            told.append(f"order {number} is {copy}, and should be {wanted[number]}")
    if len(copied) != len(found):
        told.append(f"{len(copied) - len(found)} orders are there twice")
    return told


def sales_differences(
    wanted: Mapping[tuple[datetime, str], Sales], told: Mapping[tuple[datetime, str], Sales]
) -> list[str]:
    return [
        f"{city} from {begin:%H:%M:%S}: {told.get((begin, city))} instead of {sales}"
        for (begin, city), sales in sorted(wanted.items())
        if told.get((begin, city)) != sales
    ] + [f"{city} from {begin:%H:%M:%S} is too many" for begin, city in told.keys() - wanted.keys()]


def sales_told(bodies: Iterable[bytes]) -> dict[tuple[datetime, str], Sales]:
    """The last word on each window and city; bodies in the order in which they were sent."""
    found = {}
    for body in bodies:
        said = json.loads(body, parse_float=Decimal)
        begin = datetime.fromisoformat(said["window_start"]).astimezone(UTC)
        amount = Decimal(said["sum_amount"]).quantize(Decimal("0.01"))
        found[begin, said["city"]] = Sales(said["messages"], amount)
    return found


def shown(differences: list[str]) -> str:
    """The first few."""
    more = len(differences) - SHOWN_MAX
    lines = [f"  {line}" for line in differences[:SHOWN_MAX]]
    return "\n".join([*lines, f"  and {more} more"] if more > 0 else lines)
