"""`python -m bench`: every case, compiled and pure, at stores of growing size; one table.

python -m bench                      # ten thousand to ten million messages, about ten minutes
python -m bench --levels 10000       # a first look
python -m bench --root /mnt/disk/x   # on another disk (a folder of its own, emptied)
"""

import argparse
import json
import mmap
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent.parent
PURE = HERE / "build" / "pure"
LEVELS = (10_000, 100_000, 1_000_000, 10_000_000)
ROUNDS = 3
CLEAN_GIB = 10
PURE_SCAN_MAX = 100_000  # messages that the interpreter is made to look at one by one


class Case(NamedTuple):
    title: str
    arguments: tuple[str, ...]
    unit: str
    compiled_count: int
    """Messages of one measurement; 0: the whole store."""
    pure_count: int
    goal: int = 0
    """Of the compiled figure, per second."""


# Those that look at the whole store come first: the sends make it larger.
CASES = (
    Case("recovery scan", ("recover",), "bytes/s", 0, 0),
    Case("rebuild queues and index", ("rebuild",), "messages/s", 0, 0, 1_000_000),
    Case("read, every record checked", ("read-checked",), "messages/s", 100_000, 6_000),
    Case("read as slices", ("read",), "messages/s", 200_000, 6_000, 3_000_000),
    Case("send 100 B, singly", ("single",), "messages/s", 300_000, 6_000, 600_000),
    Case("send 100 B, batches of 32", ("batch",), "messages/s", 640_000, 9_600, 2_000_000),
    Case("send 1 KiB, singly", ("single", "--body", "1024"), "messages/s", 150_000, 6_000, 600_000),
    Case("send 1 KiB, batches of 32", ("batch", "--body", "1024"), "messages/s", 320_000, 9_600),
)


def measure(arguments: list[str], *, pure: bool) -> dict[str, float]:
    """One case in a process of its own."""
    environment = dict(os.environ)
    environment["PYTHONPATH"] = f"{PURE}{os.pathsep}{HERE}" if pure else str(HERE)
    done = subprocess.run(
        [sys.executable, "-m", "bench.cases", *arguments],
        env=environment,
        cwd=HERE,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    figure: dict[str, float] = json.loads(done.stdout)
    if bool(figure["compiled"]) == pure:
        raise SystemExit("measured the wrong package: run `make install` first")
    return figure


def rate(case: Case, root: str, level: int, *, pure: bool) -> float:
    """Of one measurement, which must not make the store much larger than its level."""
    arguments = [case.arguments[0], root, *case.arguments[1:]]
    count = min(case.pure_count if pure else case.compiled_count, max(level, 19_200))
    if count:
        arguments += ["--count", str(count)]
    touch_memory()
    figure = measure(arguments, pure=pure)
    return figure["count"] / figure["seconds"]


def make_pure_copy() -> None:
    shutil.rmtree(PURE, ignore_errors=True)
    shutil.copytree(
        HERE / "src" / "aerobee", PURE / "aerobee", ignore=shutil.ignore_patterns("*.so")
    )


def touch_memory() -> None:
    """Have the memory of one measurement at hand before it begins.

    A virtual machine gets it from its host page by page at the first touch, at ten times the cost
    of the page fault that a figure should contain, and the host takes idle memory back within
    minutes.
    """
    os.sync()  # and no writes of the measurement before it under way
    size = min(2 * 2**30, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4)
    with mmap.mmap(-1, size) as memory:
        for position in range(0, size, 4096):
            memory[position] = 1


def show(*cells: object) -> None:
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def run_level(root: Path, level: int) -> None:
    store = str(root / str(level))
    measure(["fill", store, "--count", str(level)], pure=False)
    for case in CASES:
        looks_at_all = case.compiled_count == 0
        compiled, pure = [], []
        for _ in range(ROUNDS):
            compiled.append(rate(case, store, level, pure=False))
            if not looks_at_all or level <= PURE_SCAN_MAX:
                pure.append(rate(case, store, level, pure=True))
        top = max(compiled)
        scale, unit = (2**20, "MiB/s") if case.unit == "bytes/s" else (1, case.unit)
        show(
            case.title,
            f"{level:,}",
            f"{top / scale:,.0f} {unit}",
            f"{max(pure) / scale:,.0f}" if pure else "–",
            f"{top / max(pure):.1f}" if pure else "–",
            f"{top / case.goal:.2f}" if case.goal else "–",
        )
    shutil.rmtree(store)


def run_sync(root: Path) -> None:
    """Group commit: many who wait share one sync."""
    print("\n| waiting at a time | compiled | pure |\n|---|---|---|")
    figures = {}
    for waiting, count in ((1, 300), (256, 30_000)):
        cells = []
        for pure in (False, True):
            store = str(root / "sync")
            arguments = ["sync", store, "--count", str(count), "--waiting", str(waiting)]
            figure = measure(arguments, pure=pure)
            shutil.rmtree(store)
            figures[waiting, pure] = figure["count"] / figure["seconds"]
            cells.append(f"{figures[waiting, pure]:,.0f} appends/s")
        show(waiting, *cells)
    show("ratio", *(f"{figures[256, p] / figures[1, p]:.0f}" for p in (False, True)))


def run_clean_open(root: Path) -> None:
    store = str(root / "clean")
    count = CLEAN_GIB * 2**30 // 1300
    measure(["fill", store, "--count", str(count), "--body", "1024"], pure=False)
    seconds = [measure(["open", store], pure=False)["seconds"] for _ in range(ROUNDS)]
    size = sum(file.stat().st_blocks * 512 for file in Path(store, "commitlog").iterdir()) / 2**30
    print(f"\nOpening a clean store of {size:.1f} GiB, {count:,} messages: {min(seconds):.3f} s")
    shutil.rmtree(store)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--levels", type=int, nargs="*", default=LEVELS)
    parser.add_argument("--root", help="where to write (default: the system's temporary folder)")
    options = parser.parse_args()
    make_pure_copy()
    touch_memory()
    root = Path(options.root or tempfile.mkdtemp(prefix="aerobee-bench-", dir="/var/tmp"))
    root.mkdir(parents=True, exist_ok=True)
    try:
        print("| case | messages stored | compiled | pure | ratio | of the goal |")
        print("|---|---|---|---|---|---|")
        for level in options.levels:
            run_level(root, level)
        run_sync(root)
        if max(options.levels) >= LEVELS[-1]:
            run_clean_open(root)
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
