// Messages found by the server: a search with progress and stop, and the live tail. Both are streams
// of server-sent events; to close the stream stops the work on the server.

import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, reasonOf } from "./api";
import type { MessageRow } from "./shapes";
import { openStream } from "./stream";

export interface Progress {
  scanned: number;
  total: number | null;
  found: number;
}

export interface Found {
  rows: MessageRow[];
  progress: Progress | null;
  dropped: number;
  state: "idle" | "running" | "done" | "stopped" | "failed";
  /** Why a search ended before it had seen everything. */
  why: string;
  error: ApiError | null;
  stop: () => void;
}

type Picture = Omit<Found, "stop">;

const TAIL_ROWS_MAX = 500;
const NOTHING: Picture = {
  rows: [],
  progress: null,
  dropped: 0,
  state: "idle",
  why: "",
  error: null,
};

/** `path` null: nothing is looked for. `run` starts the same search anew. */
export function useFoundMessages(path: string | null, isTail: boolean, run: number): Found {
  const [picture, setPicture] = useState<Picture>(NOTHING);
  const source = useRef<EventSource | null>(null);
  const stop = () => {
    source.current?.close();
    source.current = null;
    setPicture((old) => (old.state === "running" ? { ...old, state: "stopped" } : old));
  };
  useEffect(() => {
    if (path === null) {
      setPicture(NOTHING);
      return;
    }
    setPicture({ ...NOTHING, state: "running" });
    const stream = openStream(path);
    source.current = stream;
    const unhook = follow(stream, isTail, setPicture);
    return () => {
      unhook();
      stream.close();
    };
  }, [path, isTail, run]);
  return { ...picture, stop };
}

/** Queues are read one after the other: their messages are put in the order of their times here. */
function newestFirst(rows: MessageRow[], isTail: boolean): MessageRow[] {
  const sorted = rows.sort((one, other) => other.stored - one.stored || other.offset - one.offset);
  return isTail ? sorted.slice(0, TAIL_ROWS_MAX) : sorted;
}

function follow(
  stream: EventSource,
  isTail: boolean,
  set: (change: (old: Picture) => Picture) => void,
): () => void {
  // Rows come by the hundred: they are shown together, ten times a second.
  let waiting: MessageRow[] = [];
  const show = () => {
    if (waiting.length === 0) return;
    const fresh = waiting;
    waiting = [];
    set((old) => ({ ...old, rows: newestFirst([...old.rows, ...fresh], isTail) }));
  };
  const timer = setInterval(show, 100);
  const on = <Data>(name: string, take: (data: Data) => void) =>
    stream.addEventListener(name, (event) =>
      take(JSON.parse((event as MessageEvent<string>).data) as Data),
    );
  on<MessageRow>("message", (row) => waiting.push(row));
  on<Progress>("progress", (progress) => set((old) => ({ ...old, progress })));
  on<{ count: number }>("dropped", ({ count }) =>
    set((old) => ({ ...old, dropped: old.dropped + count })),
  );
  on<Progress & { complete: boolean; why: string }>("done", (end) => {
    stream.close();
    show();
    const why = end.complete ? "" : end.why;
    set((old) => ({ ...old, state: "done", progress: { ...end, total: end.scanned }, why }));
  });
  on<{ error: { code: string; message: string; hint: string } }>("failed", ({ error }) => {
    stream.close();
    const failed = new ApiError(0, error.code, error.message, error.hint);
    set((old) => ({ ...old, state: "failed", error: failed }));
  });
  stream.onerror = () => {
    if (stream.readyState !== EventSource.CLOSED) return;
    // A stream tells no reason for which it was refused: the same call does.
    reasonOf(stream.url).then((error) => set((old) => ({ ...old, state: "failed", error })));
  };
  return () => clearInterval(timer);
}
