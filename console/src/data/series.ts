// Time series of a page: the console's history, then a sample each second while the range is live.

import { useEffect, useRef, useState } from "preact/hooks";
import { query, setQuery } from "./address";
import { call, pathOf } from "./api";
import type { History, Mark } from "./shapes";
import { openStream } from "./stream";

export const RANGES = {
  "5m": 300,
  "1h": 3600,
  "6h": 21600,
  "1d": 86400,
  "7d": 604800,
  "30d": 2592000,
};
export type RangeName = keyof typeof RANGES;
const LIVE_SECONDS_MAX = RANGES["1h"];
const POINTS_MAX = 1200;

export interface Span {
  /** The range's name, or null where the reader has zoomed to `from` and `to`. */
  name: RangeName | null;
  from: number;
  to: number;
}

export interface Board {
  span: Span;
  times: number[];
  series: Record<string, (number | null)[]>;
  marks: Mark[];
  source: string;
}

/** A part of a series' name, with the characters encoded that separate parts and names. */
export function part(name: string): string {
  return name.replace(/[%.,]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

export function spanNow(): Span {
  const { range, from, to } = query.value;
  if (from && to && Number(to) > Number(from)) {
    return { name: null, from: Number(from), to: Number(to) };
  }
  const name = range !== undefined && range in RANGES ? (range as RangeName) : "5m";
  const now = Date.now();
  return { name, from: now - RANGES[name] * 1000, to: now };
}

export function chooseRange(name: RangeName): void {
  setQuery({ range: name === "5m" ? null : name, from: null, to: null });
}

export function zoomTo(from: number, to: number): void {
  setQuery({ from: String(Math.round(from)), to: String(Math.round(to)) });
}

/** The series of one page, all on the same time axis. */
export function useBoard(names: readonly string[]): Board {
  const { range, from, to } = query.value;
  const asked = names.join(",");
  const [board, setBoard] = useState<Board>(() => empty());
  const kept = useRef(board);
  const put = (next: Board) => {
    kept.current = next;
    setBoard(next);
  };
  useEffect(() => {
    if (asked === "") return;
    const span = spanNow();
    const isLive = span.name !== null && RANGES[span.name] <= LIVE_SECONDS_MAX;
    let source: EventSource | null = null;
    let isOver = false;
    const show = (history: History) => put({ ...history, span: spanNow() });
    const load = async () => {
      const history = await past(asked).catch(() => null);
      if (!isOver && history !== null) show(history);
    };
    if (isLive) {
      source = listen(asked, show, (at, values) => put(grown(kept.current, at, values)));
      source.addEventListener("mark", (event) => {
        const mark = JSON.parse((event as MessageEvent<string>).data) as Mark;
        put({ ...kept.current, marks: [...kept.current.marks, mark] });
      });
    } else {
      void load();
    }
    const timer = setInterval(() => {
      if (!isLive && span.name !== null && !document.hidden) void load();
    }, 10_000);
    return () => {
      isOver = true;
      source?.close();
      clearInterval(timer);
    };
  }, [asked, range, from, to]);
  return board;
}

function empty(): Board {
  return { span: spanNow(), times: [], series: {}, marks: [], source: "console" };
}

async function past(asked: string): Promise<History> {
  const { from, to } = spanNow();
  const limits = { from: Math.round(from), to: Math.round(to), points: POINTS_MAX };
  return call<History>("GET", pathOf("/api/history", {}, { series: asked, ...limits }));
}

/** One stream has both: the past of the span at first, then a sample each second. */
function listen(
  asked: string,
  show: (past: History) => void,
  sample: (at: number, values: Record<string, number>) => void,
): EventSource {
  const limits = { from: Math.round(spanNow().from), points: POINTS_MAX };
  const source = openStream(pathOf("/api/live", {}, { series: asked, ...limits }));
  source.addEventListener("past", (event) => {
    show(JSON.parse((event as MessageEvent<string>).data) as History);
  });
  source.addEventListener("sample", (event) => {
    const said = JSON.parse((event as MessageEvent<string>).data) as {
      at: number;
      values: Record<string, number>;
    };
    sample(said.at, said.values);
  });
  return source;
}

/** The board with one sample more, and without those that have left its span. */
function grown(board: Board, at: number, values: Record<string, number>): Board {
  const last = board.times.at(-1);
  if (last !== undefined && at <= last) return board;
  const span = spanNow();
  const first = board.times.findIndex((time) => time >= span.from);
  const cut = first < 0 ? board.times.length : first;
  const times = [...board.times.slice(cut), at];
  const series: Record<string, (number | null)[]> = {};
  for (const name of new Set([...Object.keys(board.series), ...Object.keys(values)])) {
    const before = board.series[name] ?? board.times.map(() => null);
    series[name] = [...before.slice(cut), values[name] ?? null];
  }
  return { ...board, span, times, series };
}

export function latest(board: Board, name: string): number | null {
  return board.series[name]?.findLast((value) => value !== null) ?? null;
}
