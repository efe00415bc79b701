// One broker group: its members, its charts, its configuration and what differs from the default.

import { query, setQuery } from "../data/address";
import { rowsOf, useResource } from "../data/resource";
import { part, useBoard } from "../data/series";
import type { Broker, BrokerPage as BrokerAnswer, ConfigEntry } from "../data/shapes";
import { type Action, ActionButton, type Answer } from "../parts/action";
import {
  Empty,
  Facts,
  FailedPage,
  Failure,
  Findings,
  Loading,
  PageHead,
  Pill,
  Section,
  UnknownNotes,
} from "../parts/basics";
import { Chart } from "../parts/Chart";
import { getOf } from "../parts/CopyAs";
import { Filter } from "../parts/fields";
import { Table } from "../parts/Table";
import { TimeRange } from "../parts/TimeRange";
import type { PageProps } from "../shell/pages";
import { t } from "../words";
import { bytes, count, duration, milliseconds, percent, rate } from "../words/figures";
import { roleOf } from "./overview/ClusterMap";

export function BrokerPage({ parts }: PageProps) {
  const name = parts[0] ?? "";
  const path = `/api/brokers/${encodeURIComponent(name)}`;
  const { value: broker, error, reload } = useResource<BrokerAnswer>(path, 5000);
  const of = `broker.${part(name)}`;
  const kinds = ["in", "out", "in_bytes", "put_p50_ms", "put_p99_ms", "put_p999_ms", "disk"];
  const board = useBoard(kinds.map((kind) => `${of}.${kind}`));
  if (broker === null) return error ? <FailedPage error={error} /> : <Loading />;
  const master = broker.members.find((member) => member.is_master);
  const disk = master?.disk;
  const limits = disk
    ? [disk.warn, disk.clean, disk.stop].map((value) => ({ value, label: percent(value) }))
    : [];
  return (
    <>
      <PageHead
        title={name}
        kind={t("Broker")}
        below={<span class="muted">{broker.cluster}</span>}
        request={getOf("/api/brokers/{broker}", { broker: name })}
      >
        {broker.epochs && (
          <ActionButton action={transfer(broker, reload)}>{t("Transfer leadership")}</ActionButton>
        )}
        <ActionButton action={writes(name, reload)}>{t("Stop or allow writes")}</ActionButton>
      </PageHead>
      {error && <Failure error={error} />}
      {broker.findings.length > 0 && (
        <Section title={t("Explanation")}>
          <Findings findings={broker.findings} />
        </Section>
      )}
      {master && (
        <Section title={t("Now")} actions={<TimeRange />}>
          <Facts facts={factsOf(master)} />
        </Section>
      )}
      <div class="charts">
        <Chart
          title={t("Messages a second")}
          board={board}
          format={rate}
          lines={[
            { name: `${of}.in`, label: t("in") },
            { name: `${of}.out`, label: t("out") },
          ]}
        />
        <Chart
          title={t("Put latency")}
          board={board}
          format={milliseconds}
          lines={["p50", "p99", "p999"].map((kind) => ({
            name: `${of}.put_${kind}_ms`,
            label: kind,
          }))}
        />
        <Chart
          title={t("Disk used")}
          board={board}
          format={percent}
          limits={limits}
          lines={[{ name: `${of}.disk`, label: t("used") }]}
        />
      </div>
      <Replicas broker={broker} />
      {broker.epochs && <Epochs epochs={broker.epochs} />}
      <Configuration broker={broker} reload={reload} />
      <UnknownNotes unknown={broker.unknown} />
    </>
  );
}

function factsOf(master: Broker): [string, string][] {
  return [
    [t("In"), `${rate(master.in)} · ${bytes(master.in_bytes)}/s`],
    [t("Out"), rate(master.out)],
    [t("Log"), bytes(master.log_bytes)],
    [t("Retained"), master.oldest ? duration(Date.now() - master.oldest) : "–"],
    [
      t("Days left"),
      master.disk?.days_left == null ? t("not growing") : master.disk.days_left.toFixed(1),
    ],
    [t("Running for"), master.started ? duration(Date.now() - master.started) : "–"],
    [t("Version"), master.version ?? "–"],
    [t("Open transactions"), count(master.transactions)],
    [t("Delayed"), count(master.delayed)],
  ];
}

function Replicas({ broker }: { broker: BrokerAnswer }) {
  return (
    <Section title={t("Replicas")} note={epochsNote(broker)}>
      <Table
        label={t("Replicas")}
        rows={rowsOf(broker.members)}
        keyOf={(row) => row.address}
        rowsInSight={6}
        columns={[
          { key: "address", title: t("Address"), width: "1.5fr", cell: (row) => row.address },
          {
            key: "role",
            title: t("Role"),
            width: "110px",
            cell: (row) => <Pill tone={row.is_master ? "accent" : "good"}>{roleOf(row)}</Pill>,
          },
          {
            key: "end",
            title: t("End of log"),
            width: "130px",
            align: "right",
            isMinor: true,
            cell: (row) => count(row.end_offset),
          },
          {
            key: "lag",
            title: t("Behind"),
            width: "100px",
            align: "right",
            cell: (row) => (row.replica ? bytes(row.replica.lag_bytes) : ""),
          },
          {
            key: "sync",
            title: t("In sync"),
            width: "1.5fr",
            isMinor: true,
            cell: (row) =>
              row.problem ??
              (row.replica ? (row.replica.in_sync === false ? row.replica.why : t("yes")) : ""),
          },
        ]}
        empty={<Empty icon="brokers" title={t("No member answers")} />}
      />
    </Section>
  );
}

function epochsNote(broker: BrokerAnswer): string {
  const last = broker.epochs?.at(-1);
  return last
    ? t("epoch {epoch} since log offset {start}", { epoch: last.epoch, start: count(last.start) })
    : "";
}

function Epochs({ epochs }: { epochs: NonNullable<BrokerAnswer["epochs"]> }) {
  return (
    <Section title={t("Epochs")} note={t("the newest first: each began with another leader")}>
      <Table
        label={t("Epochs")}
        rows={rowsOf(epochs.toReversed())}
        keyOf={(row) => String(row.epoch)}
        rowsInSight={6}
        columns={[
          { key: "epoch", title: t("Epoch"), width: "100px", cell: (row) => count(row.epoch) },
          {
            key: "start",
            title: t("Began at log offset"),
            width: "1fr",
            align: "right",
            cell: (row) => count(row.start),
          },
          {
            key: "end",
            title: t("End offset"),
            width: "1fr",
            align: "right",
            cell: (row) => count(row.end),
          },
        ]}
        empty={<Empty icon="info" title={t("No epoch has begun")} />}
      />
    </Section>
  );
}

function Configuration({ broker, reload }: { broker: BrokerAnswer; reload: () => void }) {
  const { q = "", all } = query.value;
  const wanted = q.toLowerCase();
  const shown = broker.config.filter(
    (entry) =>
      entry.key.toLowerCase().includes(wanted) && (all || wanted || entry.differs !== false),
  );
  return (
    <Section
      title={t("Configuration")}
      note={all ? "" : t("what differs from the default")}
      actions={
        <>
          <Filter
            label={t("Name contains")}
            value={q}
            onChange={(value) => setQuery({ q: value })}
          />
          <label class="check">
            <input
              type="checkbox"
              checked={all !== undefined}
              onChange={(event) => setQuery({ all: event.currentTarget.checked ? "yes" : null })}
            />
            {t("All")}
          </label>
        </>
      }
    >
      <Table
        label={t("Configuration")}
        rows={rowsOf(shown)}
        keyOf={(row) => row.key}
        rowsInSight={14}
        columns={[
          {
            key: "key",
            title: t("Setting"),
            width: "2fr",
            cell: (row) => <span class="mono">{row.key}</span>,
          },
          {
            key: "value",
            title: t("Value"),
            width: "2fr",
            cell: (row) => (row.differs ? <b>{row.value}</b> : row.value),
          },
          {
            key: "default",
            title: t("Default"),
            width: "1.3fr",
            isMinor: true,
            cell: (row) => <span class="muted">{row.default ?? "–"}</span>,
          },
          {
            key: "change",
            title: t("Actions"),
            width: "100px",
            align: "right",
            cell: (row) =>
              row.hot === false ? (
                <span class="muted">{t("at a start")}</span>
              ) : (
                <ActionButton action={changeSetting(broker.name, row, reload)} look="quiet">
                  {t("Change")}
                </ActionButton>
              ),
          },
        ]}
        empty={<Empty icon="ok" title={t("Every setting has its default")} />}
      />
    </Section>
  );
}

function changeSetting(name: string, entry: ConfigEntry, onDone: () => void): Action {
  return {
    title: t("Change {setting}", { setting: entry.key }),
    role: "admin",
    method: "PATCH",
    template: "/api/brokers/{name}/config",
    parameters: { name },
    confirm: name,
    hasPreview: true,
    preview: (answer) => <Changes answer={answer} />,
    fields: [{ name: "value", label: t("Value"), kind: "text", initial: entry.value }],
    body: (values) => ({ settings: { [entry.key]: values.value } }),
    onDone,
  };
}

function Changes({ answer }: { answer: Answer }) {
  const changes = (answer.preview?.changes ?? []) as { key: string; from: string; to: string }[];
  return (
    <ul>
      {changes.map((change) => (
        <li key={change.key}>
          <code>
            {change.key}: {change.from} → {change.to}
          </code>
        </li>
      ))}
    </ul>
  );
}

function transfer(broker: BrokerAnswer, onDone: () => void): Action {
  const others = broker.members.filter((member) => !member.is_master);
  return {
    title: t("Transfer leadership"),
    role: "admin",
    method: "POST",
    template: "/api/brokers/{name}/leader",
    parameters: { name: broker.name },
    confirm: broker.name,
    isDanger: true,
    fields: [
      {
        name: "to",
        label: t("To"),
        kind: "select",
        initial: "",
        options: [
          { value: "", label: t("the member that is furthest") },
          ...others.map((member) => ({ value: String(member.id), label: member.address })),
        ],
      },
    ],
    body: (values) => ({ to: values.to ? Number(values.to) : null }),
    onDone,
  };
}

function writes(name: string, onDone: () => void): Action {
  return {
    title: t("Stop or allow writes"),
    text: t("Name servers then tell clients to send elsewhere. Do it before a maintenance."),
    role: "admin",
    method: "POST",
    template: "/api/brokers/{name}/writes",
    parameters: { name },
    confirm: name,
    isDanger: true,
    fields: [
      {
        name: "allowed",
        label: t("Writes"),
        kind: "select",
        initial: "false",
        options: [
          { value: "false", label: t("stop") },
          { value: "true", label: t("allow") },
        ],
      },
    ],
    body: (values) => ({ allowed: values.allowed === "true" }),
    onDone,
  };
}
