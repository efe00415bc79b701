// A table of any length: only the rows that are seen exist. Sorted by its heads, walked by arrow keys.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { go } from "../data/address";
import type { Rows } from "../data/resource";
import { isNarrow } from "../shell/width";
import { t } from "../words";
import { Failure } from "./basics";

export interface Column<Row> {
  key: string;
  title: string;
  cell: (row: Row) => ComponentChildren;
  /** A size of a grid's track: "2fr", "90px". */
  width?: string;
  align?: "left" | "right";
  /** The name that the list is sorted by; without one, the column has no sorting. */
  sort?: string;
  /** Left out where there is little width. */
  isMinor?: boolean;
}

interface TableProps<Row> {
  label: string;
  rows: Rows<Row>;
  columns: Column<Row>[];
  keyOf: (row: Row) => string;
  hrefOf?: (row: Row) => string | null;
  sort?: string | undefined;
  onSort?: (sort: string) => void;
  empty: ComponentChildren;
  /** A table among other things has at most this many rows in sight. */
  rowsInSight?: number;
}

const ROW_PX = 34;
const OVERSCAN = 8;

export function Table<Row>(props: TableProps<Row>) {
  const { rows, label, rowsInSight } = props;
  const columns = props.columns.filter((column) => !(column.isMinor && isNarrow.value));
  const tracks = columns.map((column) => `minmax(0, ${column.width ?? "1fr"})`).join(" ");
  const { box, start, end, onScroll } = useWindow(rows.count);
  useEffect(() => rows.show(start, end), [start, end, rows.show]);

  if (rows.error && rows.count === 0) return <Failure error={rows.error} />;
  if (rows.isLoaded && rows.count === 0) return <>{props.empty}</>;
  const seen = [];
  for (let index = start; index < end; index++) {
    seen.push(
      <TableRow
        key={index}
        index={index}
        row={rows.rowAt(index)}
        table={props}
        columns={columns}
        tracks={tracks}
      />,
    );
  }
  const style = rowsInSight ? { maxHeight: `${(rowsInSight + 1) * ROW_PX + 2}px` } : {};
  return (
    // a <table> cannot leave out rows that are not seen
    <div
      class={`table ${rowsInSight ? "table-inner" : "table-page"}`}
      role="table"
      aria-label={label}
      aria-rowcount={rows.count + 1}
      aria-busy={!rows.isLoaded}
      // what scrolls must be reached by the keyboard
      tabIndex={0}
      ref={box}
      onScroll={onScroll}
      onKeyDown={walk}
      style={style}
    >
      <TableHead columns={columns} tracks={tracks} sort={props.sort} onSort={props.onSort} />
      <div role="rowgroup" class="table-body" style={{ height: `${rows.count * ROW_PX}px` }}>
        {seen}
      </div>
    </div>
  );
}

function useWindow(count: number) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const onScroll = () => {
    const element = box.current;
    if (element) setView({ top: element.scrollTop, height: element.clientHeight });
  };
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const watch = new ResizeObserver(onScroll);
    watch.observe(element);
    return () => watch.disconnect();
  }, [count === 0]);
  const start = Math.max(0, Math.floor(view.top / ROW_PX) - OVERSCAN);
  const end = Math.min(count, Math.ceil((view.top + view.height) / ROW_PX) + OVERSCAN);
  return { box, start: Math.min(start, end), end, onScroll };
}

interface HeadProps<Row> {
  columns: Column<Row>[];
  tracks: string;
  sort: string | undefined;
  onSort: ((sort: string) => void) | undefined;
}

function TableHead<Row>({ columns, tracks, sort, onSort }: HeadProps<Row>) {
  return (
    <div role="rowgroup" class="table-head">
      <div role="row" class="table-row" style={{ gridTemplateColumns: tracks }}>
        {columns.map((column) => {
          const isDown = sort === `-${column.sort}`;
          const isUp = sort !== undefined && sort === column.sort;
          const state = isDown ? "descending" : isUp ? "ascending" : "none";
          const sortable = column.sort && onSort;
          return (
            <div
              role="columnheader"
              key={column.key}
              class={`cell ${column.align ?? "left"}`}
              aria-sort={sortable ? state : undefined}
            >
              {sortable ? (
                <button
                  type="button"
                  class="sorter"
                  onClick={() => onSort(isDown ? (column.sort ?? "") : `-${column.sort}`)}
                >
                  {column.title}
                  <span aria-hidden="true">{isDown ? " ↓" : isUp ? " ↑" : ""}</span>
                </button>
              ) : (
                column.title
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

interface RowProps<Row> {
  index: number;
  row: Row | undefined;
  table: TableProps<Row>;
  columns: Column<Row>[];
  tracks: string;
}

function TableRow<Row>({ index, row, table, columns, tracks }: RowProps<Row>) {
  const place = { top: `${index * ROW_PX}px`, gridTemplateColumns: tracks };
  const href = row === undefined ? null : table.hrefOf?.(row);
  const open = (event: MouseEvent) => {
    const isOther = (event.target as Element).closest("a, button, input, label");
    if (href && !isOther && !getSelection()?.toString()) go(href);
  };
  return (
    // the link in the first cell does the same by keyboard
    <div
      role="row"
      class={`table-row ${href ? "opens" : ""}`}
      aria-rowindex={index + 2}
      style={place}
      onClick={open}
    >
      {columns.map((column, position) => (
        <div role="cell" key={column.key} class={`cell ${column.align ?? "left"}`}>
          {row === undefined ? (
            position === 0 && <span class="muted">{t("Loading…")}</span>
          ) : position === 0 && href ? (
            <a href={href} class="cell-link">
              {column.cell(row)}
            </a>
          ) : (
            column.cell(row)
          )}
        </div>
      ))}
    </div>
  );
}

/** The arrow keys move from row to row, over the links of their first cells. */
function walk(event: KeyboardEvent): void {
  const step =
    event.key === "ArrowDown" || event.key === "j"
      ? 1
      : event.key === "ArrowUp" || event.key === "k"
        ? -1
        : 0;
  if (step === 0 || event.ctrlKey || event.metaKey || event.altKey) return;
  const links = [
    ...(event.currentTarget as Element).querySelectorAll<HTMLElement>(".table-body .cell-link"),
  ];
  const at = links.indexOf(document.activeElement as HTMLElement);
  const next = links[at < 0 ? 0 : at + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

/** Rows of one answer, sorted here: `sort` is a key of the row, with a minus for the largest first. */
export function sorted<Row extends object>(rows: readonly Row[], sort: string | undefined): Row[] {
  if (!sort) return [...rows];
  const isDown = sort.startsWith("-");
  const key = (isDown ? sort.slice(1) : sort) as keyof Row;
  const compared = (one: Row, other: Row) => {
    const [a, b] = [one[key], other[key]];
    if (a === b) return 0;
    if (a === null || a === undefined) return -1;
    if (b === null || b === undefined) return 1;
    return a < b ? -1 : 1;
  };
  return rows.toSorted((one, other) => (isDown ? compared(other, one) : compared(one, other)));
}
