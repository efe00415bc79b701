// The overview: what needs attention, the figures of the cluster, its map, and its charts.

import type { ComponentChildren } from "preact";
import { linkTo } from "../data/address";
import { useResource } from "../data/resource";
import { type Board, latest, part, useBoard } from "../data/series";
import type { Broker, Overview } from "../data/shapes";
import {
  Empty,
  FailedPage,
  Failure,
  Loading,
  PageHead,
  Section,
  UnknownNotes,
} from "../parts/basics";
import { Chart } from "../parts/Chart";
import { getOf } from "../parts/CopyAs";
import { Icon } from "../parts/Icon";
import { Sparkline } from "../parts/Sparkline";
import { TimeRange } from "../parts/TimeRange";
import { t } from "../words";
import { bytes, bytesRate, count, milliseconds, percent, rate, short } from "../words/figures";
import { ClusterMap } from "./overview/ClusterMap";

const REFRESH_MS = 3000;

export function OverviewPage() {
  const { value, error } = useResource<Overview>("/api/overview", REFRESH_MS);
  const masters = value?.brokers.filter((broker) => broker.is_master) ?? [];
  const board = useBoard(value ? seriesOf(value) : []);
  if (value === null) return error ? <FailedPage error={error} /> : <Loading />;
  return (
    <>
      <PageHead title={t("Overview")} request={getOf("/api/overview")}>
        <TimeRange />
      </PageHead>
      {error && <Failure error={error} />}
      <AttentionList overview={value} />
      <Figures overview={value} board={board} />
      <ClusterMap overview={value} />
      <OverviewCharts overview={value} masters={masters} board={board} />
      <TopLists overview={value} />
      <UnknownNotes unknown={value.unknown} />
    </>
  );
}

const CLUSTER = ["in", "out", "in_bytes", "lag", "transactions", "delayed"];
const OF_BROKER = ["put_p50_ms", "put_p99_ms", "disk", "dispatch_behind", "flush_behind"];

function seriesOf(overview: Overview): string[] {
  const masters = overview.brokers.filter((broker) => broker.is_master);
  const slaves = overview.brokers.filter((broker) => !broker.is_master);
  return [
    ...CLUSTER.map((name) => `cluster.${name}`),
    ...masters.flatMap((broker) => OF_BROKER.map((name) => `broker.${part(broker.name)}.${name}`)),
    ...slaves.map((broker) => `replica.${part(broker.address)}.lag_bytes`),
  ].slice(0, 200);
}

function AttentionList({ overview }: { overview: Overview }) {
  if (overview.attention.length === 0) {
    return (
      <p class="all-well">
        <Icon name="ok" /> {t("Nothing needs attention.")}
      </p>
    );
  }
  return (
    <ul class="attention">
      {overview.attention.map((one) => (
        <li key={one.kind + one.of + one.text}>
          <Icon name="warning" />
          <a href={one.path}>{one.text}</a>
        </li>
      ))}
    </ul>
  );
}

interface FigureProps {
  label: string;
  value: string;
  note?: string;
  href?: string;
  children?: ComponentChildren;
}

function Figure({ label, value, note, href, children }: FigureProps) {
  const inside = (
    <>
      <span class="figure-label">{label}</span>
      <span class="figure-value">{value}</span>
      <span class="figure-note">{note}</span>
      {children}
    </>
  );
  return href ? (
    <a class="figure" href={href}>
      {inside}
    </a>
  ) : (
    <div class="figure">{inside}</div>
  );
}

function Figures({ overview, board }: { overview: Overview; board: Board }) {
  const { totals, brokers } = overview;
  const disks = brokers.map((broker) => broker.disk).filter((disk) => disk !== null);
  const fullest = disks.toSorted((one, other) => (other.used ?? 0) - (one.used ?? 0))[0];
  const puts = brokers.map((broker) => broker.put_ms?.p99).filter((value) => value !== undefined);
  const spark = (name: string) => <Sparkline values={board.series[name] ?? []} />;
  return (
    <div class="figures">
      <Figure
        label={t("In")}
        value={rate(latest(board, "cluster.in") ?? totals.in)}
        note={bytesRate(latest(board, "cluster.in_bytes"))}
      >
        {spark("cluster.in")}
      </Figure>
      <Figure label={t("Out")} value={rate(latest(board, "cluster.out") ?? totals.out)}>
        {spark("cluster.out")}
      </Figure>
      <Figure
        label={t("Lag of all groups")}
        value={short(latest(board, "cluster.lag") ?? totals.lag)}
        note={t("{count} groups", { count: totals.groups })}
        href="/groups?sort=-lag"
      >
        {spark("cluster.lag")}
      </Figure>
      <Figure
        label={t("Put p99")}
        value={milliseconds(puts.length ? Math.max(...puts) : null)}
        note={t("slowest broker")}
      />
      <Figure
        label={t("Fullest disk")}
        value={percent(fullest?.used)}
        note={
          fullest?.days_left == null
            ? t("not growing")
            : t("{days} days left", { days: short(fullest.days_left) })
        }
        href="/brokers"
      />
      <Figure label={t("Dead letters")} value={count(totals.dead_letters)} href="/dead-letters" />
      <Figure label={t("Delayed")} value={count(totals.delayed)} href="/delayed" />
      <Figure
        label={t("Open transactions")}
        value={count(totals.transactions)}
        href="/transactions"
      />
    </div>
  );
}

interface ChartsProps {
  overview: Overview;
  masters: Broker[];
  board: Board;
}

function OverviewCharts({ overview, masters, board }: ChartsProps) {
  const of = (name: string, suffix = "") =>
    masters.map((broker) => ({
      name: `broker.${part(broker.name)}.${name}`,
      label: broker.name + suffix,
    }));
  const slaves = overview.brokers.filter((broker) => !broker.is_master);
  const disk = masters.find((broker) => broker.disk)?.disk;
  const limits = disk
    ? [disk.warn, disk.clean, disk.stop].map((value) => ({ value, label: percent(value) }))
    : [];
  return (
    <div class="charts">
      <Chart
        title={t("Messages a second")}
        board={board}
        format={rate}
        lines={[
          { name: "cluster.in", label: t("in") },
          { name: "cluster.out", label: t("out") },
        ]}
      />
      <Chart
        title={t("Written to the log")}
        board={board}
        format={bytesRate}
        least={1024}
        lines={[{ name: "cluster.in_bytes", label: t("in") }]}
      />
      <Chart
        title={t("Lag of all groups")}
        board={board}
        format={short}
        least={10}
        lines={[{ name: "cluster.lag", label: t("messages") }]}
      />
      <Chart
        title={t("Put latency")}
        board={board}
        format={milliseconds}
        lines={[...of("put_p50_ms", " p50"), ...of("put_p99_ms", " p99")]}
      />
      <Chart
        title={t("Disk used")}
        board={board}
        format={percent}
        limits={limits}
        lines={of("disk")}
      />
      <Chart
        title={t("Behind: index and flush")}
        board={board}
        format={bytes}
        least={1024}
        lines={[
          ...of("dispatch_behind", ` ${t("index")}`),
          ...of("flush_behind", ` ${t("flush")}`),
        ]}
      />
      {slaves.length > 0 && (
        <Chart
          title={t("Replicas behind")}
          board={board}
          format={bytes}
          least={1024}
          lines={slaves.map((broker) => ({
            name: `replica.${part(broker.address)}.lag_bytes`,
            label: broker.address,
          }))}
        />
      )}
      <Chart
        title={t("Waiting for their time")}
        board={board}
        format={short}
        least={10}
        lines={[
          { name: "cluster.delayed", label: t("delayed") },
          { name: "cluster.transactions", label: t("open transactions") },
        ]}
      />
    </div>
  );
}

function TopLists({ overview }: { overview: Overview }) {
  const fast = overview.top_topics.filter((topic) => topic.in);
  const behind = overview.top_groups.filter((group) => group.lag);
  return (
    <div class="columns">
      <Section title={t("Busiest topics")}>
        <TopList
          rows={fast.map((topic) => [topic.name, linkTo.topic(topic.name), topic.in ?? 0])}
          format={rate}
        />
        {fast.length === 0 && (
          <Empty icon="topics" title={t("No topic is written to at the moment")} />
        )}
      </Section>
      <Section title={t("Groups furthest behind")}>
        <TopList
          rows={behind.map((group) => [group.name, linkTo.group(group.name), group.lag ?? 0])}
          format={short}
        />
        {behind.length === 0 && <Empty icon="ok" title={t("No group is behind")} />}
      </Section>
    </div>
  );
}

interface TopListProps {
  rows: [name: string, href: string, value: number][];
  format: (value: number) => string;
}

function TopList({ rows, format }: TopListProps) {
  const most = Math.max(...rows.map((row) => row[2]), 1e-9);
  return (
    <ul class="top-list">
      {rows.map(([name, href, value]) => (
        <li key={name}>
          <a href={href}>{name}</a>
          <span class="bar-rail" aria-hidden="true">
            <span class="bar-fill" style={{ width: `${(value / most) * 100}%` }} />
          </span>
          <b>{format(value)}</b>
        </li>
      ))}
    </ul>
  );
}
