// Columns of tables of messages.

import type { MessageRow } from "../../data/shapes";
import { Pill } from "../../parts/basics";
import type { Column } from "../../parts/Table";
import { t } from "../../words";
import { bytes, clock, count, time } from "../../words/figures";

export function topicColumn<Row extends MessageRow>(): Column<Row> {
  return { key: "topic", title: t("Topic"), width: "1.5fr", cell: (row) => row.topic };
}

export function messageColumns<Row extends MessageRow>(): Column<Row>[] {
  return [
    {
      key: "stored",
      title: t("Stored"),
      width: "96px",
      cell: (row) => (
        <span title={time(row.stored)}>
          {clock(row.stored)}.{String(row.stored % 1000).padStart(3, "0")}
        </span>
      ),
    },
    {
      key: "body",
      title: t("Body"),
      width: "4fr",
      cell: (row) => <span class="mono">{row.preview || t("(empty)")}</span>,
    },
    {
      key: "tag",
      title: t("Tag"),
      width: "1fr",
      isMinor: true,
      cell: (row) => row.tag && <Pill>{row.tag}</Pill>,
    },
    {
      key: "keys",
      title: t("Keys"),
      width: "1.2fr",
      isMinor: true,
      cell: (row) => row.keys.join(" "),
    },
    {
      key: "place",
      title: t("Queue and offset"),
      width: "1.3fr",
      isMinor: true,
      cell: (row) => (
        <span class="muted">
          {row.broker}:{row.queue} {count(row.offset)}
        </span>
      ),
    },
    {
      key: "size",
      title: t("Size"),
      width: "80px",
      align: "right",
      cell: (row) => bytes(row.size),
    },
  ];
}
