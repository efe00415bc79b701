"""`python -m bench.client`: clients for Python beside each other, one table in Markdown, one plot.

python -m bench.client                       # everything that can be had
python -m bench.client --quick               # a tenth of the messages
python -m bench.client --packages DIR        # where other clients were installed: pip --target DIR
python -m bench.client --plot sends.svg      # the rates as bars

Ours and the C++ one (`rocketmq` 0.4.4) send to one broker of ours; Redis gets its own server. Each
client is a process of its own; they take turns, three rounds, and the median counts. CPU is that of
the client's process: the figure that a busy machine blurs least.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.broker_servers import Aerobee, NameServer, Redis, Server, ServerError

ROUNDS = 3
LIMIT_SECONDS = 180
CASES: Sequence[tuple[str, str, int, Sequence[str]]] = (
    ("awaited sends, 256 in flight", "flood", 200_000, ("aerobee", "asyncio", "cpp", "redis")),
    ("sends one after the other", "one", 10_000, ("aerobee", "asyncio", "cpp", "redis")),
    ("batches of 256", "batch", 1_000_000, ("aerobee", "asyncio", "redis")),
    ("a producer's send_nowait", "producer", 500_000, ("aerobee", "asyncio")),
    ("received", "receive", 300_000, ("aerobee", "asyncio")),
)
TITLES = {
    "aerobee": "aerobee (uvloop)",
    "asyncio": "aerobee (asyncio)",
    "cpp": "rocketmq 0.4.4 (C++)",
    "redis": "redis",
}


def run(client: str, case: str, address: str, count: int, packages: str) -> dict[str, float] | None:
    """What one client did; None if it is not there or did not end well."""
    name = f"{'aerobee' if client == 'asyncio' else client}_{case}"
    environment = {**os.environ, "BENCH_LOOP": client}
    if packages:
        environment["PYTHONPATH"] = os.pathsep.join(
            part for part in (environment.get("PYTHONPATH", ""), packages) if part
        )
    command = [sys.executable, "-m", "bench.client.programs", name, address, str(count)]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=LIMIT_SECONDS
        )
    except subprocess.TimeoutExpired:
        print(f"{TITLES[client]}, {case}: not within {LIMIT_SECONDS} s", file=sys.stderr)
        return None
    lines = done.stdout.strip().splitlines()
    if not lines or not lines[-1].startswith("{"):
        print(f"{TITLES[client]}, {case}: {done.stderr.strip()[-300:]}", file=sys.stderr)
        return None
    said: dict[str, float] = json.loads(lines[-1])
    return said


def cell(runs: Sequence[Mapping[str, float]]) -> str:
    rate = statistics.median(one["count"] / one["seconds"] for one in runs)
    cpu = statistics.median(one["cpu"] / one["count"] for one in runs) * 1e6
    text = f"{rate:,.0f}/s, {cpu:.2f} µs CPU"
    if "p50" in runs[0]:
        p50 = statistics.median(one["p50"] for one in runs) * 1e3
        p99 = statistics.median(one["p99"] for one in runs) * 1e3
        text += f", p50 {p50:.2f} ms, p99 {p99:.2f} ms"
    return text


def plot(rows: Sequence[tuple[str, str, float]]) -> str:
    """Bars: what, whose, and how many a second for one core of the client."""
    top = max(rate for _, _, rate in rows)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="900" height="{24 * len(rows) + 40}" '
        'font-family="sans-serif" font-size="13">',
        '<text x="10" y="20">messages for each second of the client\'s CPU</text>',
    ]
    for number, (case, client, rate) in enumerate(rows):
        y = 34 + 24 * number
        lines.append(f'<text x="10" y="{y + 14}">{case}: {client}</text>')
        width = max(1, round(380 * rate / top))
        lines.append(f'<rect x="400" y="{y}" width="{width}" height="18" fill="#3b7dd8"/>')
        lines.append(f'<text x="{408 + width}" y="{y + 14}">{rate:,.0f}</text>')
    return "\n".join([*lines, "</svg>"])


def measure(addresses: Mapping[str, str], share: float, packages: str, plot_to: str) -> None:
    print("| measured | " + " | ".join(TITLES.values()) + " |")
    print("|---" * (len(TITLES) + 1) + "|")
    bars: list[tuple[str, str, float]] = []
    for title, case, count, clients in CASES:
        runs: dict[str, list[dict[str, float]]] = {client: [] for client in clients}
        for _ in range(ROUNDS):
            for client in clients:
                if client not in addresses:
                    continue
                scale = share * (0.1 if client in ("cpp", "redis") else 1.0)
                said = run(client, case, addresses[client], int(count * scale), packages)
                if said is not None:
                    runs[client].append(said)
        cells = [cell(runs[name]) if runs.get(name) else "–" for name in TITLES]
        print("| " + " | ".join([title, *cells]) + " |", flush=True)
        for name, found in runs.items():
            if found:
                cpu = statistics.median(one["cpu"] / one["count"] for one in found)
                bars.append((title, TITLES[name], 1 / cpu))
    if plot_to and bars:
        Path(plot_to).write_text(plot(bars))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.client")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--packages", default="")
    parser.add_argument("--plot", default="")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        servers: list[Server] = [NameServer(root / "namesrv", {})]
        name_server = f"127.0.0.1:{servers[0].port}"
        addresses = dict.fromkeys(("aerobee", "asyncio", "cpp"), name_server)
        try:
            settings = {"namesrvAddr": name_server, "autoCreateTopicEnable": "true"}
            servers.append(Aerobee(root / "broker", settings))
            try:
                servers.append(Redis(root / "redis", {}))
                addresses["redis"] = f"127.0.0.1:{servers[-1].port}"
            except ServerError as error:
                print(f"no Redis: {error}", file=sys.stderr)
            share = 0.1 if chosen.quick else 1.0
            measure(addresses, share, chosen.packages, chosen.plot)
        finally:
            for server in reversed(servers):
                server.stop()


if __name__ == "__main__":
    main()
