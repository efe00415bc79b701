// One group: why it is behind, its lag by queue over time, who owns which queue, and its members.

import { go, linkTo, query, setQuery } from "../data/address";
import { rowsOf, useResource } from "../data/resource";
import { part, useBoard } from "../data/series";
import type { Finding, Group, GroupQueue, Member } from "../data/shapes";
import { ActionButton } from "../parts/action";
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
import { Icon } from "../parts/Icon";
import { type Column, sorted, Table } from "../parts/Table";
import { TimeRange } from "../parts/TimeRange";
import type { PageProps } from "../shell/pages";
import { t } from "../words";
import { ago, count, duration, milliseconds, rate, short, time } from "../words/figures";
import { changeGroup, deleteGroup, resetGroup } from "./group/group_actions";

const QUEUES_DRAWN_MAX = 24;

export function GroupPage({ parts }: PageProps) {
  const name = parts[0] ?? "";
  const path = `/api/groups/${encodeURIComponent(name)}`;
  const { value: group, error, reload } = useResource<Group>(path, 5000);
  const explained = useResource<{ findings: Finding[] }>(`${path}/explain`, 15_000);
  const of = `group.${part(name)}`;
  const queues = drawnQueues(group);
  const owners = [...new Set(queues.map((queue) => queue.owner))];
  const board = useBoard([
    ...["lag", "out", "members", "retry", "dead"].map((kind) => `${of}.${kind}`),
    ...queues.map((queue) => queueSeries(of, queue)),
  ]);
  if (group === null) return error ? <FailedPage error={error} /> : <Loading />;
  return (
    <>
      <PageHead
        title={name}
        kind={t("Group")}
        below={<StatePill group={group} />}
        request={getOf("/api/groups/{group}", { group: name })}
      >
        <ActionButton action={resetGroup(group, reload)}>{t("Reset offsets")}</ActionButton>
        <ActionButton action={changeGroup(group, reload)}>{t("Change")}</ActionButton>
        <ActionButton action={deleteGroup(name, () => go("/groups"))} look="danger">
          {t("Delete")}
        </ActionButton>
      </PageHead>
      {error && <Failure error={error} />}
      <Mismatches group={group} />
      <Section title={t("Explanation")}>
        {explained.value ? (
          <Findings findings={explained.value.findings} />
        ) : explained.error ? (
          <Failure error={explained.error} />
        ) : (
          <Loading />
        )}
      </Section>
      <Section title={t("Now")} actions={<TimeRange />}>
        <Facts facts={factsOf(group)} />
      </Section>
      <div class="charts">
        <Chart
          title={t("Lag by queue, a colour for each owner")}
          board={board}
          format={short}
          least={10}
          height={170}
          lines={queues.map((queue) => ({
            name: queueSeries(of, queue),
            label: `${queue.topic} ${queue.broker}:${queue.queue}`,
            hue: owners.indexOf(queue.owner),
          }))}
          isWide
        />
        <Chart
          title={t("Lag and consumed a second")}
          board={board}
          format={short}
          least={10}
          height={170}
          lines={[
            { name: `${of}.lag`, label: t("lag") },
            { name: `${of}.out`, label: t("consumed/s") },
          ]}
        />
        <Chart
          title={t("Retries and dead letters")}
          board={board}
          format={short}
          least={10}
          height={170}
          lines={[
            { name: `${of}.retry`, label: t("waiting for a retry") },
            { name: `${of}.dead`, label: t("dead letters") },
          ]}
        />
        <Chart
          title={t("Members")}
          board={board}
          format={count}
          least={4}
          height={170}
          lines={[{ name: `${of}.members`, label: t("members") }]}
        />
      </div>
      <Queues group={group} />
      <Members group={group} />
      <UnknownNotes unknown={group.unknown} />
    </>
  );
}

function drawnQueues(group: Group | null): GroupQueue[] {
  return (group?.queues ?? []).filter((queue) => !queue.is_retry).slice(0, QUEUES_DRAWN_MAX);
}

function queueSeries(of: string, queue: GroupQueue): string {
  return `${of}.lag.${part(queue.topic)}.${part(queue.broker)}.${queue.queue}`;
}

function StatePill({ group }: { group: Group }) {
  if (group.configs.some((config) => !config.enabled))
    return <Pill tone="bad">{t("disabled")}</Pill>;
  if (group.members.length === 0) return <Pill tone="warn">{t("offline")}</Pill>;
  return <Pill tone="good">{t("online")}</Pill>;
}

function Mismatches({ group }: { group: Group }) {
  return (
    <>
      {group.mismatches.map((mismatch) => (
        <div class="notice warn" role="alert" key={mismatch.topic}>
          <Icon name="warning" />
          <span>
            {t("Members subscribe to {topic} differently; messages will be missed:", {
              topic: mismatch.topic,
            })}{" "}
            {mismatch.said
              .map((said) => `${said.expression} (${said.clients.join(", ")})`)
              .join(" · ")}
          </span>
        </div>
      ))}
    </>
  );
}

function factsOf(group: Group): [string, string][] {
  const behind = group.queues.map((queue) => queue.behind_ms).filter((value) => value !== null);
  return [
    [t("Lag"), count(group.lag)],
    [t("Behind by"), behind.length ? duration(Math.max(...behind)) : "–"],
    [t("Consumed"), rate(group.out)],
    [t("Members"), count(group.members.length)],
    [t("Retries waiting"), count(group.retry)],
    [t("Dead letters"), count(group.dead)],
    [t("Model"), group.model?.toLowerCase() ?? "–"],
    [t("Mode"), group.mode ?? "–"],
    [t("Retries at most"), count(group.configs[0]?.retry_max)],
    ...group.subscriptions.map((one): [string, string] => [
      t("Subscribes to {topic}", { topic: one.topic }),
      `${one.expression} ${one.type === "TAG" ? "" : one.type}`,
    ]),
  ];
}

function Queues({ group }: { group: Group }) {
  const { sort = "-lag" } = query.value;
  const columns: Column<GroupQueue>[] = [
    { key: "topic", title: t("Topic"), width: "1.4fr", sort: "topic", cell: (row) => row.topic },
    {
      key: "broker",
      title: t("Broker"),
      width: "100px",
      sort: "broker",
      isMinor: true,
      cell: (row) => row.broker,
    },
    {
      key: "queue",
      title: t("Queue"),
      width: "64px",
      align: "right",
      sort: "queue",
      cell: (row) => row.queue,
    },
    {
      key: "lag",
      title: t("Lag"),
      width: "90px",
      align: "right",
      sort: "lag",
      cell: (row) => <b>{count(row.lag)}</b>,
    },
    {
      key: "behind",
      title: t("Behind by"),
      width: "90px",
      align: "right",
      sort: "behind_ms",
      cell: (row) => duration(row.behind_ms),
    },
    {
      key: "offset",
      title: t("Offset"),
      width: "100px",
      align: "right",
      isMinor: true,
      cell: (row) => count(row.offset),
    },
    {
      key: "end",
      title: t("End offset"),
      width: "100px",
      align: "right",
      isMinor: true,
      cell: (row) => count(row.end),
    },
    {
      key: "flight",
      title: t("In flight"),
      width: "80px",
      align: "right",
      isMinor: true,
      cell: (row) => count(row.in_flight),
    },
    {
      key: "at",
      title: t("Last consumed"),
      width: "110px",
      align: "right",
      isMinor: true,
      cell: (row) => <span title={time(row.consumed_at)}>{ago(row.consumed_at)}</span>,
    },
    {
      key: "owner",
      title: t("Owner"),
      width: "2.4fr",
      sort: "owner",
      isMinor: true,
      cell: (row) =>
        row.owner ? (
          <a href={linkTo.client(row.owner)}>{row.owner}</a>
        ) : (
          <span class="muted">{t("nobody")}</span>
        ),
    },
  ];
  return (
    <Section title={t("Queues")} note={t("who owns which, and how far it is behind")}>
      <Table
        label={t("Queues")}
        rows={rowsOf(sorted(group.queues, sort))}
        columns={columns}
        keyOf={(row) => `${row.topic}/${row.broker}/${row.queue}`}
        hrefOf={(row) => linkTo.topic(row.topic)}
        sort={sort}
        onSort={(value) => setQuery({ sort: value })}
        rowsInSight={14}
        empty={
          <Empty icon="groups" title={t("This group has consumed nothing yet")}>
            <p>{t("Its queues appear when a member commits its first offset.")}</p>
          </Empty>
        }
      />
    </Section>
  );
}

function Members({ group }: { group: Group }) {
  const columns: Column<Member>[] = [
    { key: "id", title: t("Client"), width: "2fr", cell: (row) => row.client_id },
    {
      key: "address",
      title: t("Address"),
      width: "150px",
      isMinor: true,
      cell: (row) => row.address,
    },
    { key: "language", title: t("Language"), width: "90px", cell: (row) => row.language },
    {
      key: "version",
      title: t("Version"),
      width: "90px",
      isMinor: true,
      cell: (row) => row.version,
    },
    {
      key: "queues",
      title: t("Queues"),
      width: "70px",
      align: "right",
      cell: (row) => count(row.queues),
    },
    {
      key: "ms",
      title: t("Consume time"),
      width: "100px",
      align: "right",
      isMinor: true,
      cell: (row) => milliseconds(row.consume_ms),
    },
    {
      key: "ok",
      title: t("Done"),
      width: "90px",
      align: "right",
      isMinor: true,
      cell: (row) => rate(row.ok),
    },
    {
      key: "failed",
      title: t("Failed"),
      width: "90px",
      align: "right",
      isMinor: true,
      cell: (row) => rate(row.failed),
    },
  ];
  return (
    <Section title={t("Members")}>
      <Table
        label={t("Members")}
        rows={rowsOf(group.members)}
        columns={columns}
        keyOf={(row) => row.client_id}
        hrefOf={(row) => linkTo.client(row.client_id)}
        rowsInSight={10}
        empty={
          <Empty icon="clients" title={t("No member is connected")}>
            <p>{t("Start a consumer of this group; until then its lag grows.")}</p>
          </Empty>
        }
      />
    </Section>
  );
}
