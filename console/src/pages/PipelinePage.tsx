// The data pipeline: captures of databases, and Spark queries with their batches, offsets and lag.

import { linkTo } from "../data/address";
import { rowsOf, useResource } from "../data/resource";
import type { CaptureRow, Pipeline, QueryRow } from "../data/shapes";
import {
  Command,
  Empty,
  FailedPage,
  Failure,
  Loading,
  PageHead,
  Pill,
  Section,
  UnknownNotes,
} from "../parts/basics";
import { getOf } from "../parts/CopyAs";
import { Table } from "../parts/Table";
import { t } from "../words";
import { ago, count, duration, rate } from "../words/figures";

export function PipelinePage() {
  const { value, error } = useResource<Pipeline>("/api/pipeline", 2000);
  if (value === null) return error ? <FailedPage error={error} /> : <Loading />;
  const queues = value.queries.flatMap((query) =>
    query.queues.map((queue) => ({ ...queue, query: query.name })),
  );
  return (
    <>
      <PageHead title={t("Pipeline")} request={getOf("/api/pipeline")} />
      {error && <Failure error={error} />}
      <Section title={t("Captures")} note={t("changes of databases")}>
        <Captures rows={value.captures} />
      </Section>
      <Section title={t("Spark queries")}>
        <Queries rows={value.queries} why={value.unknown.queries} />
      </Section>
      {queues.length > 0 && (
        <Section title={t("Offsets of queries")}>
          <Table
            label={t("Offsets of queries")}
            rows={rowsOf(queues)}
            keyOf={(row) => `${row.query}/${row.topic}/${row.broker}/${row.queue}`}
            rowsInSight={12}
            columns={[
              { key: "query", title: t("Query"), width: "1fr", cell: (row) => row.query },
              {
                key: "topic",
                title: t("Topic"),
                width: "1fr",
                cell: (row) => <a href={linkTo.topic(row.topic)}>{row.topic}</a>,
              },
              {
                key: "queue",
                title: t("Queue"),
                width: "1fr",
                isMinor: true,
                cell: (row) => `${row.broker}:${row.queue}`,
              },
              {
                key: "offset",
                title: t("Offset"),
                width: "110px",
                align: "right",
                cell: (row) => count(row.offset),
              },
              {
                key: "lag",
                title: t("Lag"),
                width: "90px",
                align: "right",
                cell: (row) => count(row.lag),
              },
            ]}
            empty={null}
          />
        </Section>
      )}
      <UnknownNotes unknown={value.unknown} />
    </>
  );
}

function Captures({ rows }: { rows: CaptureRow[] }) {
  return (
    <Table
      label={t("Captures")}
      rows={rowsOf(rows)}
      keyOf={(row) => row.name}
      rowsInSight={10}
      columns={[
        { key: "name", title: t("Name"), width: "1fr", cell: (row) => row.name },
        {
          key: "phase",
          title: t("State"),
          width: "120px",
          cell: (row) => (
            <Pill tone={row.phase === "streaming" ? "good" : "plain"}>{row.phase}</Pill>
          ),
        },
        {
          key: "position",
          title: t("Position"),
          width: "1.5fr",
          isMinor: true,
          cell: (row) => <span class="mono">{row.position}</span>,
        },
        {
          key: "rows",
          title: t("Rows"),
          width: "100px",
          align: "right",
          cell: (row) => count(row.rows),
        },
        {
          key: "lag",
          title: t("Behind by"),
          width: "110px",
          align: "right",
          cell: (row) => duration(row.lag_seconds * 1000),
        },
        {
          key: "updated",
          title: t("Saved"),
          width: "110px",
          align: "right",
          isMinor: true,
          cell: (row) => ago(row.updated),
        },
      ]}
      empty={
        <Empty icon="pipeline" title={t("No database is captured into this cluster")}>
          <Command text="aerobee capture mysql --help" />
        </Empty>
      }
    />
  );
}

function Queries({ rows, why }: { rows: QueryRow[]; why: string | undefined }) {
  return (
    <Table
      label={t("Spark queries")}
      rows={rowsOf(rows)}
      keyOf={(row) => `${row.page}/${row.name}`}
      rowsInSight={10}
      columns={[
        { key: "name", title: t("Query"), width: "1.5fr", cell: (row) => row.name },
        {
          key: "topics",
          title: t("Topics"),
          width: "1.5fr",
          isMinor: true,
          cell: (row) => row.topics.join(", "),
        },
        {
          key: "batches",
          title: t("Batches"),
          width: "80px",
          align: "right",
          cell: (row) => count(row.batches),
        },
        {
          key: "seconds",
          title: t("Last batch"),
          width: "100px",
          align: "right",
          isMinor: true,
          cell: (row) => duration(row.batch_seconds * 1000),
        },
        {
          key: "rate",
          title: t("Rows a second"),
          width: "120px",
          align: "right",
          cell: (row) => rate(row.rows_a_second),
        },
        {
          key: "lag",
          title: t("Lag"),
          width: "90px",
          align: "right",
          cell: (row) => count(row.lag),
        },
      ]}
      empty={
        <Empty icon="pipeline" title={t("No query is known")}>
          {why && <p>{why}</p>}
        </Empty>
      }
    />
  );
}
