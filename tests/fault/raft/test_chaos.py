"""`aerobee chaos` for minutes, as a person would run it: all faults in turn, on groups of three and
of five members, under its own load, which counts what clients saw.

CHAOS_MINUTES=60   for longer, each
CHAOS_SEED=7       the same faults again
"""

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.score import show

MINUTES = float(os.environ.get("CHAOS_MINUTES", "5"))
SEED = os.environ.get("CHAOS_SEED") or str(random.SystemRandom().randrange(1 << 32))
_MORE_SECONDS_MAX = 600
"""For the start, the last fault and the last read."""


@pytest.mark.night
@pytest.mark.timeout(int(60 * MINUTES) + _MORE_SECONDS_MAX + 60)
@pytest.mark.parametrize("nodes", [3, 5])
def test_chaos_loses_nothing_and_leaves_every_queue_in_order(tmp_path: Path, nodes: int) -> None:
    words = ["chaos", "--duration", f"{60 * MINUTES:g}s", "--nodes", str(nodes), "--seed", SEED]
    said = subprocess.run(
        [sys.executable, "-m", "aerobee.cli.main", *words, "-o", "json"],
        capture_output=True,
        text=True,
        timeout=60 * MINUTES + _MORE_SECONDS_MAX,
        check=False,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    told = json.loads(said.stdout) if said.stdout else {}
    assert said.returncode == 0, f"seed {SEED}: {told.get('anomalies')}\n{said.stderr[-3000:]}"
    show(f"chaos of {nodes} members, seed {SEED}: {_summary(told)}")
    assert told["is_sound"]
    assert told["acknowledged"] > 0
    assert told["events"]


def _summary(told: dict[str, Any]) -> str:
    longest = max((one["gap_ms"] for one in told["events"]), default=0)
    return (
        f"{len(told['events'])} faults, {told['acknowledged']:,} acknowledged, {told['lost']} lost,"
        f" {told['out_of_order']} out of order, {told['unknown']} failed at the client, longest gap"
        f" {longest:,.0f} ms"
    )
