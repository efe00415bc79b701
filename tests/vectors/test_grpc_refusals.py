"""Calls of gRPC that Apache's proxy refuses are refused here as there, but for what is listed."""

import json
import re
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent / "grpc_refusals.json"


def same_words(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two answers are the same but for numbers in their words."""
    return _worded(one) == _worded(other)


def _worded(answer: dict[str, Any]) -> str:
    return re.sub(r"[0-9]{4,}", "N", json.dumps(answer["statuses"]))
