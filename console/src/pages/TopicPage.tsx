// One topic: its rates, its queues and how evenly they are filled, and its groups.

import { go, linkTo, query, setQuery } from "../data/address";
import { rowsOf, useResource } from "../data/resource";
import { part, useBoard } from "../data/series";
import type { Topic, TopicQueue } from "../data/shapes";
import { ActionButton } from "../parts/action";
import {
  Bar,
  Command,
  Empty,
  Facts,
  FailedPage,
  Failure,
  Loading,
  PageHead,
  Pill,
  Section,
  UnknownNotes,
} from "../parts/basics";
import { Chart } from "../parts/Chart";
import { getOf } from "../parts/CopyAs";
import { type Column, sorted, Table } from "../parts/Table";
import { TimeRange } from "../parts/TimeRange";
import type { PageProps } from "../shell/pages";
import { t } from "../words";
import { ago, count, duration, rate, short, time } from "../words/figures";
import { changeTopic, deleteTopic, sendMessage } from "./topic/topic_actions";

export function TopicPage({ parts }: PageProps) {
  const name = parts[0] ?? "";
  const path = `/api/topics/${encodeURIComponent(name)}`;
  const { value: topic, error, reload } = useResource<Topic>(path, 5000);
  const of = `topic.${part(name)}`;
  const board = useBoard([`${of}.in`, `${of}.out`, `${of}.messages`]);
  if (topic === null) return error ? <FailedPage error={error} /> : <Loading />;
  return (
    <>
      <PageHead
        title={name}
        kind={t("Topic")}
        below={<Pill>{topic.type}</Pill>}
        request={getOf("/api/topics/{topic}", { topic: name })}
      >
        <a class="button" href={linkTo.messages(name)}>
          {t("Messages")}
        </a>
        <ActionButton action={sendMessage(name, reload)}>{t("Send message")}</ActionButton>
        <ActionButton action={changeTopic(topic, reload)}>{t("Change")}</ActionButton>
        <ActionButton action={deleteTopic(name, () => go("/topics"))} look="danger">
          {t("Delete")}
        </ActionButton>
      </PageHead>
      {error && <Failure error={error} />}
      <Section title={t("Now")} actions={<TimeRange />}>
        <Facts facts={factsOf(topic)} />
      </Section>
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
          title={t("Messages kept")}
          board={board}
          format={short}
          least={10}
          lines={[{ name: `${of}.messages`, label: t("messages") }]}
        />
      </div>
      <Queues topic={topic} />
      <Groups topic={topic} />
      <UnknownNotes unknown={topic.unknown} />
    </>
  );
}

function factsOf(topic: Topic): [string, string][] {
  const permission = [...new Set(topic.configs.map((config) => config.permission))].join(", ");
  const attributes = Object.entries(topic.configs[0]?.attributes ?? {});
  return [
    [t("In"), rate(topic.in)],
    [t("Out"), rate(topic.out)],
    [t("Messages"), count(topic.messages)],
    [t("Retained"), duration(topic.span_ms)],
    [t("Largest queue / mean"), topic.skew === null ? "–" : topic.skew.toFixed(2)],
    [t("Queues"), count(topic.queues.length)],
    [t("Permission"), permission],
    ...attributes.map(([name, value]): [string, string] => [name, value]),
  ];
}

function Queues({ topic }: { topic: Topic }) {
  const most = Math.max(...topic.queues.map((queue) => queue.messages), 1);
  const { sort } = query.value;
  const columns: Column<TopicQueue>[] = [
    { key: "broker", title: t("Broker"), width: "1fr", sort: "broker", cell: (row) => row.broker },
    {
      key: "queue",
      title: t("Queue"),
      width: "60px",
      align: "right",
      sort: "queue",
      cell: (row) => row.queue,
    },
    {
      key: "messages",
      title: t("Messages"),
      width: "2.5fr",
      sort: "messages",
      cell: (row) => <Bar share={row.messages / most} text={count(row.messages)} />,
    },
    {
      key: "start",
      title: t("First offset"),
      width: "110px",
      align: "right",
      isMinor: true,
      cell: (row) => count(row.start),
    },
    {
      key: "end",
      title: t("End offset"),
      width: "110px",
      align: "right",
      isMinor: true,
      cell: (row) => count(row.end),
    },
    {
      key: "oldest",
      title: t("Oldest"),
      width: "120px",
      align: "right",
      isMinor: true,
      cell: (row) => <span title={time(row.oldest)}>{ago(row.oldest)}</span>,
    },
    {
      key: "last",
      title: t("Newest"),
      width: "120px",
      align: "right",
      sort: "last_stored",
      cell: (row) => <span title={time(row.last_stored)}>{ago(row.last_stored)}</span>,
    },
  ];
  return (
    <Section title={t("Queues")} note={t("how evenly they are filled")}>
      <Table
        label={t("Queues")}
        rows={rowsOf(sorted(topic.queues, sort))}
        columns={columns}
        keyOf={(row) => `${row.broker}/${row.queue}`}
        sort={sort}
        onSort={(value) => setQuery({ sort: value })}
        rowsInSight={12}
        empty={<Empty icon="topics" title={t("No broker has a queue of this topic")} />}
      />
    </Section>
  );
}

function Groups({ topic }: { topic: Topic }) {
  return (
    <Section title={t("Groups that consume it")}>
      <Table
        label={t("Groups")}
        rows={rowsOf(topic.groups)}
        keyOf={(row) => row.name}
        hrefOf={(row) => linkTo.group(row.name)}
        columns={[
          { key: "name", title: t("Group"), width: "3fr", cell: (row) => row.name },
          {
            key: "lag",
            title: t("Lag"),
            width: "110px",
            align: "right",
            cell: (row) => count(row.lag),
          },
          {
            key: "members",
            title: t("Members"),
            width: "90px",
            align: "right",
            cell: (row) => count(row.members),
          },
        ]}
        rowsInSight={10}
        empty={
          <Empty icon="groups" title={t("No group consumes this topic")}>
            <p>
              {t("A consumer makes its group when it starts. To look at messages without one:")}
            </p>
            <Command text={`aerobee message tail ${topic.name}`} />
          </Empty>
        }
      />
    </Section>
  );
}
