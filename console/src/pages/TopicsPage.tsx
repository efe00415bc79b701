// All topics: rates, messages, groups; to make one.

import { go, linkTo, query, setQuery } from "../data/address";
import { useList } from "../data/resource";
import type { TopicRow } from "../data/shapes";
import { ActionButton } from "../parts/action";
import { Command, Empty, PageHead, Pill, UnknownNotes } from "../parts/basics";
import { getOf } from "../parts/CopyAs";
import { Choice, Filter } from "../parts/fields";
import { type Column, Table } from "../parts/Table";
import { t } from "../words";
import { ago, count, rate, time } from "../words/figures";
import { createTopic } from "./topic/topic_actions";

export function TopicsPage() {
  const { q = "", sort = "name", kind = "normal" } = query.value;
  const rows = useList<TopicRow>("/api/topics", { q, sort, kind });
  return (
    <>
      <PageHead
        title={t("Topics")}
        below={<span class="muted">{count(rows.count)}</span>}
        request={getOf("/api/topics", {}, { q, sort, kind })}
      >
        <Filter label={t("Name contains")} value={q} onChange={(value) => setQuery({ q: value })} />
        <Choice
          label={t("Kind")}
          value={kind}
          options={[
            { value: "normal", label: t("Topics of applications") },
            { value: "retry", label: t("Retry topics") },
            { value: "dead_letter", label: t("Dead letter topics") },
            { value: "system", label: t("System topics") },
            { value: "all", label: t("All") },
          ]}
          onChange={(value) => setQuery({ kind: value === "normal" ? null : value })}
        />
        <ActionButton
          action={createTopic((name) => go(linkTo.topic(name)))}
          icon="plus"
          look="primary"
        >
          {t("New topic")}
        </ActionButton>
      </PageHead>
      <Table
        label={t("Topics")}
        rows={rows}
        columns={columns()}
        keyOf={(row) => row.name}
        hrefOf={(row) => linkTo.topic(row.name)}
        sort={sort}
        onSort={(value) => setQuery({ sort: value === "name" ? null : value })}
        empty={
          q || kind !== "normal" ? (
            <Empty icon="search" title={t("Nothing found")} />
          ) : (
            <Empty icon="topics" title={t("There is no topic yet")}>
              <p>{t("Make one here, or send a message from a terminal:")}</p>
              <Command text="aerobee message send orders 'hello'" />
            </Empty>
          )
        }
      />
      <UnknownNotes unknown={rows.unknown} />
    </>
  );
}

function columns(): Column<TopicRow>[] {
  return [
    { key: "name", title: t("Name"), width: "3fr", sort: "name", cell: (row) => row.name },
    {
      key: "type",
      title: t("Type"),
      width: "110px",
      sort: "type",
      isMinor: true,
      cell: (row) => <Pill>{row.type}</Pill>,
    },
    {
      key: "in",
      title: t("In"),
      width: "90px",
      align: "right",
      sort: "in",
      cell: (row) => rate(row.in),
    },
    {
      key: "out",
      title: t("Out"),
      width: "90px",
      align: "right",
      sort: "out",
      cell: (row) => rate(row.out),
      isMinor: true,
    },
    {
      key: "messages",
      title: t("Messages"),
      width: "110px",
      align: "right",
      sort: "messages",
      cell: (row) => count(row.messages),
    },
    {
      key: "queues",
      title: t("Queues"),
      width: "80px",
      align: "right",
      sort: "queues",
      isMinor: true,
      cell: (row) => count(row.queues),
    },
    {
      key: "groups",
      title: t("Groups"),
      width: "80px",
      align: "right",
      sort: "groups",
      isMinor: true,
      cell: (row) => count(row.groups),
    },
    {
      key: "last",
      title: t("Last message"),
      width: "130px",
      align: "right",
      sort: "last_stored",
      isMinor: true,
      cell: (row) => <span title={time(row.last_stored)}>{ago(row.last_stored)}</span>,
    },
    {
      key: "brokers",
      title: t("Brokers"),
      width: "1.2fr",
      isMinor: true,
      cell: (row) => <span class="muted">{row.brokers.join(", ")}</span>,
    },
  ];
}
