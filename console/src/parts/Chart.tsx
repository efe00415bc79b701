// A chart over time. All charts of a page have one time axis and one cursor; dragging zooms all of
// them. Each line has a colour and a pattern, and its value stands in the legend: no colour is needed
// to read it.

import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { repaint } from "../data/preferences";
import { type Board, zoomTo } from "../data/series";
import type { Mark } from "../data/shapes";
import { t } from "../words";
import { bytes, bytesRate, clock } from "../words/figures";
import { colours, drawLimits, drawMarks, type Limit, PATTERNS } from "./chart_paint";

export interface Line {
  name: string;
  label: string;
  /** Lines of one kind share a colour, and differ by their patterns. */
  hue?: number;
}

interface ChartProps {
  title: string;
  board: Board;
  lines: Line[];
  format: (value: number | null | undefined) => string;
  limits?: Limit[];
  /** The axis reaches at least to this value, so that a quiet line does not look wild. */
  least?: number;
  height?: number;
  isWide?: boolean;
  /** Events that are drawn over the lines. */
  marks?: Mark[];
}

const CURSORS = uPlot.sync("page");
const LINES_IN_LEGEND_MAX = 16;
const POWERS_OF_TWO = Array.from({ length: 50 }, (_, power) => 2 ** power);

const isOfBytes = (format: ChartProps["format"]) => format === bytes || format === bytesRate;
const hueOf = (line: Line, index: number) => (line.hue ?? index) % PATTERNS.length;

export function Chart(props: ChartProps) {
  const { title, board, lines, format, height = 150 } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latestProps = useRef(props);
  latestProps.current = props;
  const [at, setAt] = useState<number | null>(null);
  const shape = `${lines.map((line) => line.name).join(",")}|${repaint.value}`;

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const options = optionsOf(latestProps, element.clientWidth, height, setAt);
    const made = new uPlot(options, dataOf(latestProps.current), element);
    plot.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [shape, height]);
  useEffect(() => plot.current?.setData(dataOf(props)), [board, shape]);

  const index = at === null ? null : Math.min(at, board.times.length - 1);
  const shownOf = (line: Line) => {
    const values = board.series[line.name] ?? [];
    return index === null ? values.findLast((value) => value !== null) : values[index];
  };
  const moment = index === null ? undefined : board.times[index];
  const said = lines.map((line) => `${line.label} ${format(shownOf(line))}`).join(", ");
  return (
    <figure class={`chart ${props.isWide ? "wide" : ""}`}>
      <figcaption>
        <span class="chart-title">{title}</span>
        <span class="chart-time">{moment === undefined ? "" : clock(moment)}</span>
      </figcaption>
      <Legend lines={lines} shownOf={shownOf} format={format} />
      <div
        class="chart-box"
        ref={box}
        role="img"
        aria-label={`${title}: ${said || t("no samples yet")}`}
        style={{ height: `${height}px` }}
      />
    </figure>
  );
}

interface LegendProps {
  lines: Line[];
  shownOf: (line: Line) => number | null | undefined;
  format: (value: number | null | undefined) => string;
}

function Legend({ lines, shownOf, format }: LegendProps) {
  const more = lines.length - LINES_IN_LEGEND_MAX;
  return (
    <ul class="legend">
      {lines.slice(0, LINES_IN_LEGEND_MAX).map((line, index) => (
        <li key={line.name}>
          <svg width="22" height="8" aria-hidden="true" class={`line-${hueOf(line, index)}`}>
            <line
              x1="0"
              y1="4"
              x2="22"
              y2="4"
              stroke-dasharray={PATTERNS[index % PATTERNS.length]?.join(" ")}
            />
          </svg>
          <span class="legend-label">{line.label}</span>
          <b>{format(shownOf(line))}</b>
        </li>
      ))}
      {more > 0 && <li class="muted">{t("and {count} more", { count: more })}</li>}
    </ul>
  );
}

function dataOf({ board, lines }: ChartProps): uPlot.AlignedData {
  const times = board.times.map((time) => time / 1000);
  const nothing = () => board.times.map(() => null);
  return [times, ...lines.map((line) => board.series[line.name] ?? nothing())];
}

function optionsOf(
  props: { current: ChartProps },
  width: number,
  height: number,
  setAt: (index: number | null) => void,
): uPlot.Options {
  const paint = colours();
  const { lines, format } = props.current;
  const axis = { stroke: paint.muted, font: paint.font, ticks: { show: false } };
  return {
    width,
    height,
    padding: [8, 6, 0, 0],
    legend: { show: false },
    cursor: {
      sync: { key: CURSORS.key },
      drag: { x: true, y: false, setScale: false },
      points: { size: 6 },
    },
    scales: {
      x: {
        range: () => [props.current.board.span.from / 1000, props.current.board.span.to / 1000],
      },
      y: {
        range: (_, __, highest) => [0, Math.max((highest ?? 0) * 1.1, props.current.least ?? 1)],
      },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 24,
        space: (_, __, ___, ____, width) => (width > 600 ? 80 : 52),
        values: (_, ticks) => timeLabels(ticks),
      },
      {
        ...axis,
        grid: { stroke: paint.grid, width: 1 },
        size: 62,
        space: 26,
        ...(isOfBytes(format) ? { incrs: POWERS_OF_TWO } : {}),
        values: (_, ticks) => ticks.map((tick) => format(tick)),
      },
    ],
    series: [
      {},
      ...lines.map((line, index) => ({
        label: line.label,
        stroke: paint.lines[hueOf(line, index)] ?? paint.text,
        dash: PATTERNS[index % PATTERNS.length] ?? [],
        width: 1.5,
        spanGaps: true,
        points: { show: false },
        ...(lines.length === 1 ? { fill: paint.fill } : {}),
      })),
    ],
    hooks: {
      setCursor: [(plot) => setAt(plot.cursor.idx ?? null)],
      setSelect: [
        (plot) => {
          if (plot.select.width < 8) return;
          const from = plot.posToVal(plot.select.left, "x") * 1000;
          zoomTo(from, plot.posToVal(plot.select.left + plot.select.width, "x") * 1000);
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
      draw: [
        (plot) => drawLimits(plot, props.current.limits ?? [], paint),
        (plot) => drawMarks(plot, props.current.marks ?? [], paint),
      ],
    },
  };
}

function timeLabels(ticks: number[]): string[] {
  const step = (ticks[1] ?? 0) - (ticks[0] ?? 0);
  return ticks.map((tick) => {
    const date = new Date(tick * 1000);
    if (step >= 86400) return `${date.getMonth() + 1}-${String(date.getDate()).padStart(2, "0")}`;
    return step < 60 ? clock(tick * 1000) : clock(tick * 1000).slice(0, 5);
  });
}
