// The result of one load test: its figures and charts, and how it compares with another one.

import { go, query, setQuery } from "../data/address";
import { pathOf } from "../data/api";
import { rowsOf, useResource } from "../data/resource";
import type { BenchComparison, BenchList, BenchResult } from "../data/shapes";
import { ActionButton } from "../parts/action";
import {
  Empty,
  type Fact,
  Facts,
  FailedPage,
  Failure,
  Loading,
  PageHead,
  Section,
} from "../parts/basics";
import { getOf } from "../parts/CopyAs";
import { Choice } from "../parts/fields";
import { Table } from "../parts/Table";
import type { PageProps } from "../shell/pages";
import { t } from "../words";
import { count, milliseconds, rate, time } from "../words/figures";
import { LoadCharts } from "./bench/LoadCharts";

export function BenchRunPage({ parts }: PageProps) {
  const name = parts[0] ?? "";
  const other = query.value.with ?? "";
  const asked = pathOf("/api/bench/{name}", { name }, { with: other });
  const { value, error } = useResource<BenchResult>(asked);
  const all = useResource<BenchList>("/api/bench");
  if (value === null) return error ? <FailedPage error={error} /> : <Loading />;
  const { result } = value;
  const others = (all.value?.rows ?? []).filter((row) => row.name !== name);
  return (
    <>
      <PageHead title={name} kind={t("Load test")} request={getOf("/api/bench/{name}", { name })}>
        <Choice
          label={t("Compare with")}
          value={other}
          options={[
            { value: "", label: t("Compare with…") },
            ...others.map((row) => ({ value: row.name, label: `${row.name} ${row.kind}` })),
          ]}
          onChange={(text) => setQuery({ with: text })}
        />
        <ActionButton
          action={{
            title: t("Delete result"),
            role: "admin",
            method: "DELETE",
            template: "/api/bench/{name}",
            parameters: { name },
            confirm: name,
            isDanger: true,
            onDone: () => go("/bench"),
          }}
        >
          {t("Delete")}
        </ActionButton>
      </PageHead>
      {error && <Failure error={error} />}
      <Section title={result.kind} note={result.verdict.sentence}>
        <Facts facts={factsOf(value)} />
      </Section>
      {value.comparison && <Comparison comparison={value.comparison} />}
      {result.series.length > 0 && (
        <LoadCharts points={result.series} begun={Date.parse(result.started)} />
      )}
    </>
  );
}

function factsOf({ result }: BenchResult): Fact[] {
  const facts: Fact[] = [[t("Started"), time(Date.parse(result.started))]];
  for (const [side, figures] of Object.entries(result.figures)) {
    facts.push([`${side}: ${t("Messages")}`, count(figures.messages)]);
    facts.push([`${side}: ${t("Rate")}`, rate(figures.rate)]);
    facts.push([`${side}: ${t("Errors")}`, count(figures.errors)]);
    for (const percentile of ["p50", "p99", "p99.9", "max"]) {
      const ms = figures.latency_ms?.[percentile];
      if (ms !== undefined) facts.push([`${side}: ${percentile}`, milliseconds(ms)]);
    }
  }
  return facts;
}

function Comparison({ comparison }: { comparison: BenchComparison }) {
  const { changes, settings } = comparison;
  return (
    <Section
      title={t("Compared with {name}", { name: comparison.with })}
      note={settings.join(", ")}
    >
      <Table
        label={t("Comparison")}
        rows={rowsOf(changes)}
        keyOf={(row) => row.figure}
        rowsInSight={14}
        columns={[
          { key: "figure", title: t("Figure"), width: "1fr", cell: (row) => row.figure },
          {
            key: "before",
            title: t("Before"),
            width: "110px",
            align: "right",
            cell: (row) => row.before.toLocaleString(),
          },
          {
            key: "now",
            title: t("Now"),
            width: "110px",
            align: "right",
            cell: (row) => row.now.toLocaleString(),
          },
          {
            key: "ratio",
            title: t("Ratio"),
            width: "90px",
            align: "right",
            cell: (row) => (row.ratio === null ? "–" : `× ${row.ratio.toFixed(2)}`),
          },
        ]}
        empty={<Empty icon="info" title={t("They have no figure in common")} />}
      />
    </Section>
  );
}
