"""`python -m bench.client`: clients for Python beside each other, tables in Markdown and a picture.

python -m bench.client                         # everything that can be had, twelve minutes
python -m bench.client --quick                 # one round, a second each: does it work?
python -m bench.client --sides aerobee nats    # some of them
python -m bench.client --cases flood receive   # some cases
python -m bench.client --plot clients.svg      # where the picture goes

Each client is a process of its own and has the machine to itself with its server, the others are
frozen; clients take turns, round by round, and the median counts. Clients come from PyPI, Kafka and
Apache's proxy from Maven, nats-server from Go, Redis from Debian, once; what cannot be had is said.
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.broker_servers import ServerError
from bench.client import results
from bench.client.hosts import Hosts, ServerFigures
from bench.client.packages import BUILD, PackageError, installed
from bench.client.picture import draw
from bench.client.programs import PROGRAMS
from bench.client.sides import CASES, SIDES, Side

ROUNDS, SECONDS = 3, 2.0
QUICK_SECONDS = 0.5
FILL_SIDES = {
    "aerobee": "aerobee",
    "apache": "aerobee-apache",
    "kafka": "confluent",
    "nats": "nats",
    "redis": "redis",
}
"""Whose program fills the topic of a host."""
FILL_COUNTS = {"aerobee": 1_000_000, "apache": 600_000, "kafka": 1_500_000, "nats": 150_000}
FILL_COUNT_ELSE = 400_000
JAVA_HOSTS = ("apache", "kafka")
JAVA_WARM_SECONDS = 8.0
"""How long each client sends to a server in a JVM before the first round."""
LIMIT_SECONDS = 120


class Comparison:
    """What is measured, what was found, and why not."""

    def __init__(self, folder: Path, seconds: float, share: float) -> None:
        self._folder = folder
        self._hosts = Hosts(folder)
        self._seconds = seconds
        self._share = share
        self._packages: dict[str, str] = {}
        self._absent: dict[str, str] = {}
        self.found: dict[str, dict[str, list[results.Run]]] = {}
        self.reasons: dict[tuple[str, str], str] = {}

    def prepare(self, sides: Sequence[str]) -> None:
        """Fetch clients, start and fill servers; remember what is not there."""
        for name in sides:
            _say(f"client: {SIDES[name].title}")
            self._fetch(name)
        for host in dict.fromkeys(SIDES[name].host for name in sides):
            _say(f"server: {host}, and its topics")
            here = [name for name in sides if SIDES[name].host == host]
            try:
                self._open(host)
            except (ServerError, results.Unmeasured) as error:
                _say(f"no {host}: {error}")
                for name in here:
                    self._absent.setdefault(name, f"no server: {results.reason(str(error))}")
            if host in JAVA_HOSTS:
                self._warm(here)

    def _open(self, host: str) -> None:
        """Start it, and fill the topic that is received from."""
        filler = FILL_SIDES[host]
        if filler not in self._packages:
            self._fetch(filler)
        self._hosts.start(host)
        self._run(filler, "fill", self._seconds)

    def _warm(self, sides: Sequence[str]) -> None:
        """Each has its own way through the server, which is compiled on the way."""
        for name in sides:
            if name not in self._absent:
                _say(f"warming up: {SIDES[name].title}")
                with contextlib.suppress(results.Unmeasured):  # will be said when it is measured
                    self._run(name, "flood", JAVA_WARM_SECONDS * self._share)

    def measure(self, cases: Sequence[str], sides: Sequence[str], rounds: int) -> None:
        runs = [
            (case, name)
            for case in cases
            for _ in range(rounds)
            for name in sides
            if self._can(case, name)
        ]
        for number, (case, name) in enumerate(runs, 1):
            what = f"[{number:3}/{len(runs)}] {CASES[case].title}, {SIDES[name].title}"
            try:
                run = self._run(name, case, self._seconds)
            except results.Unmeasured as error:
                _say(f"{what}: {error}")
                self.reasons[case, name] = str(error)
                continue
            self.found.setdefault(case, {}).setdefault(name, []).append(run)
            _say(f"{what}: {results.rate([run]):,.0f}/s, {results.cpu_us([run]):.2f} µs CPU")

    def servers(self) -> list[ServerFigures]:
        return self._hosts.figures()

    def stop(self) -> None:
        self._hosts.stop()

    def _fetch(self, name: str) -> None:
        side = SIDES[name]
        try:
            self._packages[name] = str(installed(name, side.packages)) if side.packages else ""
        except PackageError as error:
            _say(f"no {side.title}: {error}")
            self._absent[name] = str(error)

    def _can(self, case: str, name: str) -> bool:
        if case not in PROGRAMS[SIDES[name].program]:
            self.reasons[case, name] = "not offered"
            return False
        if name in self._absent:
            self.reasons[case, name] = self._absent[name]
            return False
        return True

    def _run(self, name: str, case: str, seconds: float) -> dict[str, float]:
        """Twice if need be: a disk that was behind has caught up by then."""
        if name in self._absent:
            raise results.Unmeasured(self._absent[name])
        try:
            return self._run_once(name, case, seconds)
        except results.Unmeasured as error:
            _say(f"once more: {SIDES[name].title}, {case}: {error}")
            return self._run_once(name, case, seconds)

    def _run_once(self, name: str, case: str, seconds: float) -> dict[str, float]:
        side = SIDES[name]
        filled = round(FILL_COUNTS.get(side.host, FILL_COUNT_ELSE) * self._share)
        with self._hosts.awake(side.host) as address:
            told = [_address(side, address), str(seconds), str(filled)]
            command = [sys.executable, "-m", "bench.client.programs", side.program, case, side.loop]
            try:
                done = subprocess.run(
                    [*command, *told],
                    env=self._environment(name),
                    capture_output=True,
                    text=True,
                    timeout=LIMIT_SECONDS,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                raise results.Unmeasured(f"not within {LIMIT_SECONDS} s") from None
        return results.read(done.stdout, done.stderr)

    def _environment(self, name: str) -> dict[str, str]:
        """With the client's own packages; what it logs at home goes with the servers' folders."""
        paths = [os.environ.get("PYTHONPATH", ""), self._packages[name]]
        path = os.pathsep.join(part for part in paths if part)
        return {**os.environ, "PYTHONPATH": path, "HOME": str(self._folder)}


def _address(side: Side, address: str) -> str:
    """Our client knows no proxy: it asks the name server."""
    return address.rpartition(",")[2] if side.is_ours else address


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.client",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="one round of half a second")
    parser.add_argument("--rounds", type=int, help=f"({ROUNDS})")
    parser.add_argument("--seconds", type=float, help=f"that count of each run ({SECONDS})")
    parser.add_argument("--sides", nargs="+", default=list(SIDES), choices=list(SIDES))
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--plot", type=Path, default=BUILD / "clients.svg")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # no server is left behind
    seconds = given.seconds or (QUICK_SECONDS if given.quick else SECONDS)
    rounds = given.rounds or (1 if given.quick else ROUNDS)
    with tempfile.TemporaryDirectory(prefix="bench-client-") as folder:
        comparison = Comparison(Path(folder), seconds, 0.3 if given.quick else 1.0)
        try:
            comparison.prepare(given.sides)
            comparison.measure(given.cases, given.sides, rounds)
            print(results.server_table(comparison.servers()), end="\n\n")
        finally:
            comparison.stop()
    print(results.tables(comparison.found, comparison.reasons))
    given.plot.parent.mkdir(parents=True, exist_ok=True)
    given.plot.write_text(draw(comparison.found))
    (BUILD / "clients.json").write_text(json.dumps(comparison.found, indent=1))
    _say(str(given.plot))
    return 0


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
