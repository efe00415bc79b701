// Charts of one load test: what was sent and received, and how long it took.

import type { Board } from "../../data/series";
import type { LoadPoint } from "../../data/shapes";
import { Chart } from "../../parts/Chart";
import { t } from "../../words";
import { milliseconds, rate } from "../../words/figures";

export function LoadCharts({ points, begun }: { points: LoadPoint[]; begun: number }) {
  const board = boardOf(points, begun);
  return (
    <div class="charts">
      <Chart
        title={t("Messages a second")}
        board={board}
        format={rate}
        lines={[
          { name: "sent", label: t("sent") },
          { name: "received", label: t("received") },
        ]}
      />
      <Chart
        title={t("Latency")}
        board={board}
        format={milliseconds}
        lines={[
          { name: "p50_ms", label: "p50" },
          { name: "p99_ms", label: "p99" },
          { name: "max_ms", label: "max" },
        ]}
      />
    </div>
  );
}

const LINES = ["sent", "received", "p50_ms", "p99_ms", "max_ms"] as const;

function boardOf(points: LoadPoint[], begun: number): Board {
  const times = points.map((point) => begun + point.second * 1000);
  const series = Object.fromEntries(
    LINES.map((name) => [name, points.map((point) => point[name])]),
  );
  const span = { name: null, from: begun, to: Math.max(begun + 1000, times.at(-1) ?? 0) };
  return { span, times, series, marks: [], source: "console" };
}
