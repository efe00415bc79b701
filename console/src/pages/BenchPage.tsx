// Load tests: start one, watch it, stop it; the results, each beside another one.

import { go } from "../data/address";
import { useLoadRun } from "../data/load_run";
import { rowsOf, useResource } from "../data/resource";
import type { BenchList, BenchRow } from "../data/shapes";
import { type Action, ActionButton } from "../parts/action";
import { Empty, FailedPage, Failure, Loading, PageHead, Pill, Section } from "../parts/basics";
import { getOf } from "../parts/CopyAs";
import { type Column, Table } from "../parts/Table";
import { t } from "../words";
import { count, milliseconds, rate } from "../words/figures";
import { LoadCharts } from "./bench/LoadCharts";

export const linkToRun = (name: string) => `/bench/${encodeURIComponent(name)}`;

export function BenchPage() {
  const { value, error, reload } = useResource<BenchList>("/api/bench", 10_000);
  const current = value?.current && !value.current.is_over ? value.current : null;
  const watched = useLoadRun(current?.name ?? null, reload);
  if (value === null) return error ? <FailedPage error={error} /> : <Loading />;
  const shown = watched?.run ?? value.current;
  return (
    <>
      <PageHead title={t("Load tests")} request={getOf("/api/bench")}>
        {current ? (
          <ActionButton action={stop(reload)} icon="stop" look="danger">
            {t("Stop")}
          </ActionButton>
        ) : (
          <ActionButton action={start(reload)} icon="play" look="primary">
            {t("Start a load test")}
          </ActionButton>
        )}
      </PageHead>
      {error && <Failure error={error} />}
      {shown && (
        <Section title={shown.kind} note={shown.workload}>
          <div class="job" role="status">
            <Pill tone={shown.problem ? "bad" : shown.is_over ? "good" : "accent"}>
              {shown.said}
            </Pill>
            {shown.problem && <span>{shown.problem}</span>}
            {!shown.is_over && <progress aria-label={t("A load test is under way")} />}
          </div>
          {watched && watched.points.length > 0 && (
            <LoadCharts points={watched.points} begun={watched.begun} />
          )}
        </Section>
      )}
      <Section title={t("Results")}>
        <Table
          label={t("Results")}
          rows={rowsOf(value.rows)}
          keyOf={(row) => row.name}
          hrefOf={(row) => linkToRun(row.name)}
          rowsInSight={16}
          columns={benchColumns()}
          empty={
            <Empty icon="bench" title={t("No load test was made with this console yet")}>
              <p>{t("It makes topics of its own, and deletes them when it ends.")}</p>
            </Empty>
          }
        />
      </Section>
    </>
  );
}

function benchColumns(): Column<BenchRow>[] {
  return [
    { key: "name", title: t("Name"), width: "190px", cell: (row) => row.name },
    { key: "kind", title: t("Kind"), width: "90px", cell: (row) => row.kind },
    {
      key: "rate",
      title: t("Rate"),
      width: "100px",
      align: "right",
      cell: (row) => rate(row.rate),
    },
    {
      key: "p50",
      title: "p50",
      width: "90px",
      align: "right",
      isMinor: true,
      cell: (row) => milliseconds(row.p50_ms),
    },
    {
      key: "p99",
      title: "p99",
      width: "90px",
      align: "right",
      cell: (row) => milliseconds(row.p99_ms),
    },
    {
      key: "errors",
      title: t("Errors"),
      width: "80px",
      align: "right",
      isMinor: true,
      cell: (row) => count(row.errors),
    },
    {
      key: "verdict",
      title: t("Verdict"),
      width: "3fr",
      isMinor: true,
      cell: (row) => <span class="muted">{row.verdict}</span>,
    },
  ];
}

function start(onDone: () => void): Action {
  const kinds = ["produce", "consume", "roundtrip", "latency"];
  return {
    title: t("Start a load test"),
    text: t("Everybody on the cluster feels a load test that goes as fast as it can."),
    role: "admin",
    method: "POST",
    template: "/api/bench",
    fields: [
      {
        name: "kind",
        label: t("Kind"),
        kind: "select",
        initial: "produce",
        options: kinds.map((value) => ({ value, label: value })),
      },
      {
        name: "rate",
        label: t("Messages a second"),
        kind: "number",
        initial: "1000",
        hint: t("Empty: as fast as it goes"),
      },
      { name: "size", label: t("Body size"), kind: "number", initial: "1024" },
      { name: "batch", label: t("Messages in a batch"), kind: "number", initial: "1" },
      { name: "queues", label: t("Queues"), kind: "number", initial: "8" },
      { name: "processes", label: t("Processes"), kind: "number", initial: "1" },
      { name: "duration", label: t("Seconds"), kind: "number", initial: "10" },
    ],
    body: (values) => ({
      kind: values.kind,
      rate: values.rate ? Number(values.rate) : undefined,
      size: Number(values.size),
      batch: Number(values.batch),
      queues: Number(values.queues),
      processes: Number(values.processes),
      duration: Number(values.duration),
    }),
    onDone: () => {
      go("/bench");
      onDone();
    },
  };
}

function stop(onDone: () => void): Action {
  return {
    title: t("Stop the load test"),
    role: "admin",
    method: "POST",
    template: "/api/bench/stop",
    onDone,
  };
}
