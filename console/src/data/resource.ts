// Answers of the API that a page shows, asked again while the page is looked at.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { t } from "../words";
import { ApiError, call, pathOf } from "./api";
import type { List, Unknown } from "./shapes";

export interface Resource<Value> {
  value: Value | null;
  error: ApiError | null;
  reload: () => void;
  /** Waits for no answer any more. */
  stop: () => void;
}

const PAGE_ROWS = 200;

export function asError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(0, "internal", String(error), "");
}

/** Runs now and then every so often, but never while nobody looks at the page. */
export function useEvery(run: () => void, everyMs: number): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    if (everyMs <= 0) return;
    const timer = setInterval(() => {
      if (!document.hidden) latest.current();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}

/** The answer of a GET; the former one stays while the next is on its way. `path` null: not yet. */
export function useResource<Value>(path: string | null, everyMs = 0): Resource<Value> {
  const [state, setState] = useState<{
    path: string;
    value: Value | null;
    error: ApiError | null;
  }>();
  const abort = useRef<AbortController | null>(null);
  const load = useCallback(() => {
    if (path === null) return;
    abort.current?.abort();
    const own = new AbortController();
    abort.current = own;
    call<Value>("GET", path, undefined, own.signal)
      .then((value) => setState({ path, value, error: null }))
      .catch((error) => {
        if (own.signal.aborted) return;
        setState((old) => ({
          path,
          value: old?.path === path ? old.value : null,
          error: asError(error),
        }));
      })
      .finally(() => {
        if (abort.current === own) abort.current = null;
      });
  }, [path]);
  // An answer that takes longer than the pause is waited for: asked for anew, it would never come.
  const loadAgain = useCallback(() => {
    if (abort.current === null) load();
  }, [load]);
  useEffect(() => {
    load();
    return () => abort.current?.abort();
  }, [load]);
  useEvery(loadAgain, everyMs);
  const own = state?.path === path ? state : undefined;
  const stop = () => {
    abort.current?.abort();
    const error = new ApiError(0, "stopped", t("Stopped"), "");
    if (path !== null) setState({ path, value: own?.value ?? null, error });
  };
  return { value: own?.value ?? null, error: own?.error ?? null, reload: load, stop };
}

export interface Rows<Row> {
  count: number;
  total: number;
  rowAt: (index: number) => Row | undefined;
  /** Tells which rows are seen, so that these are loaded. */
  show: (start: number, end: number) => void;
  isLoaded: boolean;
  error: ApiError | null;
  unknown: Unknown;
  reload: () => void;
}

type Asked = Record<string, string | number | null | undefined>;

/** A list of any length: only the pages that are seen are asked for, and only these again. */
export function useList<Row>(path: string, asked: Asked, everyMs = 5000): Rows<Row> {
  const key = pathOf(path, {}, asked);
  const pages = useRef(new Map<number, Row[]>());
  const seen = useRef<[number, number]>([0, PAGE_ROWS]);
  const shownKey = useRef(key);
  const [state, setState] = useState<{
    key: string;
    list: List<Row> | null;
    error: ApiError | null;
  }>();
  const [, redraw] = useState(0);

  const loadPage = useCallback(
    (page: number) => {
      const limits = { offset: page * PAGE_ROWS, limit: PAGE_ROWS };
      call<List<Row>>("GET", pathOf(path, {}, { ...asked, ...limits }))
        .then((list) => {
          if (shownKey.current !== key) return;
          pages.current.set(page, list.rows);
          setState({ key, list, error: null });
          redraw((count) => count + 1);
        })
        .catch((error) => {
          if (shownKey.current !== key) return;
          setState((old) => ({ key, list: old?.list ?? null, error: asError(error) }));
        });
    },
    [key],
  );
  const loadSeen = useCallback(() => {
    const [start, end] = seen.current;
    for (let page = Math.floor(start / PAGE_ROWS); page * PAGE_ROWS < end; page++) loadPage(page);
  }, [loadPage]);
  useEffect(() => {
    shownKey.current = key;
    pages.current = new Map();
    seen.current = [0, PAGE_ROWS];
    loadPage(0);
  }, [key]);
  useEvery(loadSeen, everyMs);

  const show = useCallback(
    (start: number, end: number) => {
      seen.current = [start, Math.max(end, start + 1)];
      for (let page = Math.floor(start / PAGE_ROWS); page * PAGE_ROWS < end; page++) {
        if (!pages.current.has(page)) {
          pages.current.set(page, []);
          loadPage(page);
        }
      }
    },
    [loadPage],
  );
  const own = state?.key === key ? state : undefined;
  return {
    count: own?.list?.found ?? 0,
    total: own?.list?.total ?? 0,
    rowAt: (index) => pages.current.get(Math.floor(index / PAGE_ROWS))?.[index % PAGE_ROWS],
    show,
    isLoaded: own !== undefined,
    error: own?.error ?? null,
    unknown: own?.list?.unknown ?? {},
    reload: loadSeen,
  };
}

/** Rows that came in one answer, as a list. */
export function rowsOf<Row>(rows: readonly Row[]): Rows<Row> {
  return {
    count: rows.length,
    total: rows.length,
    rowAt: (index) => rows[index],
    show: () => {},
    isLoaded: true,
    error: null,
    unknown: {},
    reload: () => {},
  };
}
