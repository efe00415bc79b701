"""The ten slowest tests of a run in several processes, out of the times that each process wrote.

    python tools/slowest_tests.py build/times-waiting.txt build/times-rest.txt

tests/run_report.py writes such a file. A process that did not come to its end has written none;
its tests are left out, and the other files are read.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

SHOWN = 10


def slowest(lines: Iterable[str]) -> list[tuple[float, str]]:
    """(seconds, test), the longest first."""
    split = (line.split(" ", 1) for line in lines)
    return sorted(((float(seconds), test) for seconds, test in split), reverse=True)


if __name__ == "__main__":
    places = [Path(place) for place in sys.argv[1:]]
    texts = [place.read_text("utf-8") for place in places if place.exists()]
    tests = slowest(line for text in texts for line in text.splitlines())
    total = sum(seconds for seconds, _ in tests)
    print(f"the slowest of {len(tests):,} tests, which took {total:,.0f} s:")
    for seconds, test in tests[:SHOWN]:
        print(f"{seconds:8.1f} s  {test}")
