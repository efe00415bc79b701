"""Every fuzz target for some seconds each; any finding fails the run.

    python fuzz/run.py [--seconds 30] [--jobs N] [target ...]     (or: python -m fuzz)
    python fuzz/run.py --replay FILE target                       one input again

A target is a module `fuzz_NAME.py` here with `check(data: bytes)`, whose docstring's first line is
the law that it checks; any exception out of `check` is a finding. Seeds are in `corpus/NAME/`.
What a run finds, and the inputs by which it reached new code, go to `build/fuzz/NAME/`.

Only interpreted code can be watched by the fuzzer, so the twins of the hot modules (`tests.pure`)
and everything cold are instrumented; a target calls the compiled module on the same bytes and
compares.
"""

import argparse
import importlib
import logging
import os
import re
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FUZZ = ROOT / "fuzz"
BUILD = ROOT / "build" / "fuzz"

# An input is small: what a parser does with many bytes it does with few of them already.
INPUT_BYTES_MAX = 4096
# A target that needs longer than this for one small input hangs, however busy the machine is.
INPUT_SECONDS_MAX = 10
RSS_MIB_MAX = 2048


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the fuzz targets.")
    parser.add_argument("targets", nargs="*", help="names without fuzz_; all when left out")
    parser.add_argument("--seconds", type=int, default=30, help="for each target")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="targets at once")
    parser.add_argument("--replay", type=Path, help="check one input and nothing else")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    targets = options.targets or target_names()
    if unknown := sorted(set(targets) - set(target_names())):
        parser.error(f"no such target: {', '.join(unknown)}; there are {', '.join(target_names())}")
    if options.replay:
        check_of(targets[0])(options.replay.read_bytes())
        return 0
    if options.inside:
        return fuzz_inside(targets[0], options.seconds)
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda name: fuzz(name, options.seconds), targets))
    failed = [name for name, is_clean in zip(targets, results, strict=True) if not is_clean]
    print(f"{len(targets)} targets, findings in: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


def target_names() -> list[str]:
    return sorted(path.stem.removeprefix("fuzz_") for path in FUZZ.glob("fuzz_*.py"))


def check_of(name: str) -> Callable[[bytes], None]:
    check: Callable[[bytes], None] = importlib.import_module(f"fuzz.fuzz_{name}").check
    return check


def law_of(name: str) -> str:
    first = (FUZZ / f"fuzz_{name}.py").read_text(encoding="utf-8").splitlines()[0]
    return first.strip('" ')


def seeds_of(name: str) -> list[Path]:
    return sorted(path for path in (FUZZ / "corpus" / name).glob("*") if path.is_file())


def fuzz(name: str, seconds: int) -> bool:
    """Run one target in a process of its own; whether it found nothing."""
    (BUILD / name / "reached").mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [sys.executable, __file__, "--inside", "--seconds", str(seconds), name],
        capture_output=True,
        text=True,
        errors="replace",
        cwd=ROOT,
        check=False,
    )
    output = done.stdout + done.stderr
    (BUILD / name / "log").write_text(output, encoding="utf-8")
    executed = re.search(r"stat::number_of_executed_units:\s*(\d+)", output)
    count = int(executed.group(1)) if executed else 0
    is_clean = done.returncode == 0 and count > 0
    verdict = "clean" if is_clean else f"FINDING, see build/fuzz/{name}/"
    print(
        f"{name:16} {count:>9,} executions {count // max(seconds, 1):>7,}/s  {verdict}\n"
        f"{'':16} {law_of(name)}",
        flush=True,
    )
    if not is_clean:
        print(output[-4000:], flush=True)
    return is_clean


def fuzz_inside(name: str, seconds: int) -> int:
    """The process of one target. The fuzzer ends it, with a status of its own on a finding."""
    import atheris  # type: ignore[import-untyped, import-not-found, unused-ignore]

    logging.disable()  # a warning for each input would be all that the fuzzer does
    check = check_of(name)
    for function in instrumentable():
        atheris.instrument_func(function)
    atheris.Setup(
        [
            sys.argv[0],
            f"-max_total_time={seconds}",
            f"-max_len={INPUT_BYTES_MAX}",
            f"-timeout={INPUT_SECONDS_MAX}",
            f"-rss_limit_mb={RSS_MIB_MAX}",
            f"-artifact_prefix={BUILD / name}/finding-",
            "-print_final_stats=1",
            str(BUILD / name / "reached"),
            *([str(FUZZ / "corpus" / name)] if seeds_of(name) else []),
        ],
        check,
    )
    atheris.Fuzz()
    return 0


def instrumentable() -> Iterator[types.FunctionType]:
    """The functions of the package that are interpreted: cold modules, twins, and the targets."""
    from tests.pure import HOT_MODULES, pure

    modules = [pure(name) for name in HOT_MODULES]
    modules += [
        module
        for name, module in list(sys.modules.items())
        if name.split(".")[0] in ("aerobee", "fuzz")
    ]
    seen: set[int] = set()
    for module in modules:
        for owner in (module, *(v for v in vars(module).values() if isinstance(v, type))):
            if getattr(owner, "__module__", module.__name__) != module.__name__:
                continue
            for value in list(vars(owner).values()):
                function = value.fget if isinstance(value, property) else value
                if isinstance(function, types.FunctionType) and id(function.__code__) not in seen:
                    seen.add(id(function.__code__))
                    if function.__module__ == module.__name__:
                        yield function


if __name__ == "__main__":
    sys.exit(main())
