"""Seeds of the Raft simulation, on all cores: `python -m tests.raft_sim --seeds 5000`, or one with
every event: `python -m tests.raft_sim 42 --trace`.
"""

import argparse
import multiprocessing
import os
import sys
import time
from collections import Counter

from tests.raft_sim.runner import run_seed


def main() -> int:
    parser = argparse.ArgumentParser(description="Run Raft groups on virtual time.")
    parser.add_argument("seed", nargs="?", type=int)
    parser.add_argument("--trace", action="store_true", help="print every event of the one seed")
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if options.seed is not None:
        told = run_seed(options.seed, is_traced=options.trace)
        print("\n".join(told.trace))
        print(told.explain() if told.breach else f"seed {told.seed}: nothing wrong, {told.counts}")
        return 1 if told.breach else 0
    return _run_many(range(options.first, options.first + options.seeds), options.jobs)


def _run_many(seeds: range, jobs: int) -> int:
    counts: Counter[str] = Counter()
    failed = 0
    began = time.perf_counter()
    with multiprocessing.Pool(jobs) as pool:
        for told in pool.imap_unordered(run_seed, seeds, chunksize=20):
            counts.update(told.counts)
            if told.breach:
                failed += 1
                print(told.explain(), flush=True)
    took = time.perf_counter() - began
    print(", ".join(f"{count:,} {what}" for what, count in sorted(counts.items())))
    print(f"{len(seeds):,} seeds, {failed} failed, {took:.1f} s with {jobs} processes")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
