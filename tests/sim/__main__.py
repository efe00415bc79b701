"""python -m tests.sim SEED [--trace]      one seed
python -m tests.sim --seeds 5000 [--from 0]   many, on all cores
python -m tests.sim --replicas …          the same of the stories of replication
python -m tests.sim --static …            the same of the stories of static topics
"""

import argparse
import logging
import multiprocessing
import os
import sys
from collections import Counter
from typing import Protocol

from tests.sim.runner import Told, run_replica_seed, run_seed
from tests.sim.static_topic_story import run_static_topic_seed


class Run(Protocol):
    """Tells the story of a seed."""

    def __call__(self, seed: int, *, is_traced: bool = False) -> Told: ...


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.sim", description=__doc__)
    parser.add_argument("seed", type=int, nargs="?", help="one seed to replay")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--replicas", action="store_true", help="a master and its slaves")
    kinds.add_argument("--static", action="store_true", help="a static topic that is moved")
    parser.add_argument("--trace", action="store_true", help="say what happens")
    parser.add_argument("--seeds", type=int, default=200, help="how many to run")
    parser.add_argument("--from", dest="first", type=int, default=0, help="the first of them")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    told = parser.parse_args()
    run: Run = run_seed
    if told.replicas:
        run = run_replica_seed
    elif told.static:
        run = run_static_topic_seed
    if told.seed is not None:
        logging.basicConfig(level=logging.WARNING)
        return _show(run(told.seed, is_traced=told.trace))
    return _run_many(run, range(told.first, told.first + told.seeds), told.jobs)


def _show(told: Told) -> int:
    for line in told.trace:
        print(line)
    print(", ".join(f"{count:,} {what}" for what, count in told.counts.items()))
    if told.breaches:
        print(told.explain())
        return 1
    print(f"seed {told.seed}: nothing wrong, {told.cpu_s:.2f} s")
    return 0


def _run_many(run: Run, seeds: range, jobs: int) -> int:
    counts: Counter[str] = Counter()
    failed: list[int] = []
    cpu_s = 0.0
    with multiprocessing.Pool(jobs) as pool:
        for told in pool.imap_unordered(run, seeds, chunksize=5):
            counts.update(told.counts)
            cpu_s += told.cpu_s
            if told.breaches:
                failed.append(told.seed)
                print(told.explain(), flush=True)
    print(", ".join(f"{count:,} {what}" for what, count in counts.items()))
    print(f"{len(seeds):,} seeds, {len(failed)} failed, {cpu_s / len(seeds):.2f} s of CPU each")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
