// The load test that is under way, as the server tells it: a point each second, until it is over.

import { useEffect, useState } from "preact/hooks";
import type { LoadPoint, LoadRun } from "./shapes";
import { openStream } from "./stream";

export interface WatchedRun {
  run: LoadRun;
  points: LoadPoint[];
  /** When its first point was heard: points say only how far they are from the start. */
  begun: number;
}

/** `name` null: none is under way. `onEnd` is called when it is over. */
export function useLoadRun(name: string | null, onEnd: () => void): WatchedRun | null {
  const [watched, setWatched] = useState<WatchedRun | null>(null);
  useEffect(() => {
    if (name === null) return;
    setWatched(null);
    const stream = openStream("/api/bench/live");
    stream.addEventListener("run", (event) => {
      const told = JSON.parse((event as MessageEvent<string>).data) as LoadRun & {
        new: LoadPoint[];
      };
      setWatched((old) => {
        const points = [...(old?.points ?? []), ...told.new];
        const last = points.at(-1)?.second ?? 0;
        return { run: told, points, begun: old?.begun ?? Date.now() - last * 1000 };
      });
    });
    stream.addEventListener("end", () => {
      stream.close();
      onEnd();
    });
    return () => stream.close();
  }, [name]);
  return watched;
}
