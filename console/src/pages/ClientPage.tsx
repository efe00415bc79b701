// One client: who it is, what it subscribes to, the queues that it holds, and what it does now.

import { linkTo, query, setQuery } from "../data/address";
import { pathOf } from "../data/api";
import { rowsOf, useResource } from "../data/resource";
import type { ClientAnswer, HeldQueue } from "../data/shapes";
import {
  Empty,
  type Fact,
  Facts,
  FailedPage,
  Failure,
  Loading,
  PageHead,
  Section,
  UnknownNotes,
} from "../parts/basics";
import { getOf } from "../parts/CopyAs";
import { type Column, sorted, Table } from "../parts/Table";
import type { PageProps } from "../shell/pages";
import { t } from "../words";
import { ago, bytes, count, time } from "../words/figures";

type Held = HeldQueue & { group: string };

export function ClientPage({ parts }: PageProps) {
  const id = parts[0] ?? "";
  const { stacks, sort } = query.value;
  const asked = pathOf("/api/client", {}, { id, stacks: stacks ? "true" : null });
  const { value: client, error } = useResource<ClientAnswer>(asked, 5000);
  if (client === null) return error ? <FailedPage error={error} /> : <Loading />;
  const held = client.members.flatMap(({ group, queues }): Held[] =>
    queues.map((queue) => ({ ...queue, group })),
  );
  const doing = client.members.find((member) => member.stacks)?.stacks;
  return (
    <>
      <PageHead title={id} kind={t("Client")} request={getOf("/api/client", {}, { id })}>
        <label class="check">
          <input
            type="checkbox"
            checked={stacks !== undefined}
            onChange={(event) => setQuery({ stacks: event.currentTarget.checked ? "yes" : null })}
          />
          {t("What it does now")}
        </label>
      </PageHead>
      {error && <Failure error={error} />}
      <Section title={t("Facts")}>
        <Facts facts={factsOf(client)} />
      </Section>
      {doing && (
        <Section title={t("What it does now")}>
          <pre class="body-text" tabIndex={0}>
            {doing}
          </pre>
        </Section>
      )}
      <Section title={t("Queues that it holds")} note={count(held.length)}>
        <Table
          label={t("Queues that it holds")}
          rows={rowsOf(sorted(held, sort))}
          columns={columns()}
          keyOf={(row) => `${row.group}/${row.topic}/${row.broker}/${row.queue}`}
          sort={sort}
          onSort={(value) => setQuery({ sort: value })}
          rowsInSight={20}
          empty={
            <Empty icon="topics" title={t("It holds no queue")}>
              <p>
                {t(
                  "It only sends, or other members of its groups have all queues, or it does not tell.",
                )}
              </p>
            </Empty>
          }
        />
      </Section>
      <UnknownNotes unknown={client.unknown} />
    </>
  );
}

function factsOf(client: ClientAnswer): Fact[] {
  return [
    [t("Address"), client.address],
    [t("Language"), client.language],
    [t("Version"), client.version],
    [
      t("Consumes as"),
      client.consumes.length === 0
        ? "–"
        : client.consumes.map((group) => (
            <a key={group} class="spaced" href={linkTo.group(group)}>
              {group}
            </a>
          )),
    ],
    [t("Produces as"), client.produces.join(", ") || "–"],
    ...client.members.flatMap(({ group, subscriptions }) =>
      subscriptions.map(
        (one): Fact => [
          `${group}: ${t("Subscribes to {topic}", { topic: one.topic })}`,
          `${one.expression} ${one.type === "TAG" ? "" : one.type}`,
        ],
      ),
    ),
  ];
}

function columns(): Column<Held>[] {
  return [
    { key: "group", title: t("Group"), width: "1.2fr", sort: "group", cell: (row) => row.group },
    {
      key: "topic",
      title: t("Topic"),
      width: "1.4fr",
      sort: "topic",
      cell: (row) => <a href={linkTo.topic(row.topic)}>{row.topic}</a>,
    },
    {
      key: "queue",
      title: t("Queue"),
      width: "110px",
      cell: (row) => `${row.broker}:${row.queue}`,
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
      key: "waiting",
      title: t("In hand"),
      width: "90px",
      align: "right",
      sort: "waiting",
      isMinor: true,
      cell: (row) => `${count(row.waiting)} · ${bytes(row.bytes)}`,
    },
    {
      key: "pulled",
      title: t("Last asked"),
      width: "120px",
      align: "right",
      isMinor: true,
      cell: (row) => <span title={time(row.pulled_at)}>{ago(row.pulled_at)}</span>,
    },
  ];
}
