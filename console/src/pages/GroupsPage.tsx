// All groups: lag, rate, members, retries and dead letters; to make one.

import { go, linkTo, query, setQuery } from "../data/address";
import { useList } from "../data/resource";
import type { GroupRow } from "../data/shapes";
import { ActionButton } from "../parts/action";
import { Empty, PageHead, Pill, UnknownNotes, Zeroed } from "../parts/basics";
import { getOf } from "../parts/CopyAs";
import { Choice, Filter } from "../parts/fields";
import { type Column, Table } from "../parts/Table";
import { t } from "../words";
import { count, rate } from "../words/figures";
import { createGroup } from "./group/group_actions";

export function GroupsPage() {
  const { q = "", sort = "-lag", kind = "normal" } = query.value;
  const rows = useList<GroupRow>("/api/groups", { q, sort, kind });
  return (
    <>
      <PageHead
        title={t("Groups")}
        below={<span class="muted">{count(rows.count)}</span>}
        request={getOf("/api/groups", {}, { q, sort, kind })}
      >
        <Filter label={t("Name contains")} value={q} onChange={(value) => setQuery({ q: value })} />
        <Choice
          label={t("Kind")}
          value={kind}
          options={[
            { value: "normal", label: t("Groups of applications") },
            { value: "system", label: t("System groups") },
            { value: "all", label: t("All") },
          ]}
          onChange={(value) => setQuery({ kind: value === "normal" ? null : value })}
        />
        <ActionButton
          action={createGroup((name) => go(linkTo.group(name)))}
          icon="plus"
          look="primary"
        >
          {t("New group")}
        </ActionButton>
      </PageHead>
      <Table
        label={t("Groups")}
        rows={rows}
        columns={columns()}
        keyOf={(row) => row.name}
        hrefOf={(row) => linkTo.group(row.name)}
        sort={sort}
        onSort={(value) => setQuery({ sort: value === "-lag" ? null : value })}
        empty={
          q ? (
            <Empty icon="search" title={t("Nothing found")} />
          ) : (
            <Empty icon="groups" title={t("There is no group yet")}>
              <p>{t("A consumer makes its group when it starts.")}</p>
            </Empty>
          )
        }
      />
      <UnknownNotes unknown={rows.unknown} />
    </>
  );
}

function columns(): Column<GroupRow>[] {
  return [
    { key: "name", title: t("Name"), width: "3fr", sort: "name", cell: (row) => row.name },
    {
      key: "state",
      title: t("State"),
      width: "110px",
      isMinor: true,
      cell: (row) => <GroupState row={row} />,
    },
    {
      key: "lag",
      title: t("Lag"),
      width: "100px",
      align: "right",
      sort: "lag",
      cell: (row) => <Zeroed value={row.lag} />,
    },
    {
      key: "out",
      title: t("Consumed"),
      width: "100px",
      align: "right",
      sort: "out",
      cell: (row) => rate(row.out),
    },
    {
      key: "members",
      title: t("Members"),
      width: "90px",
      align: "right",
      sort: "members",
      isMinor: true,
      cell: (row) => <Zeroed value={row.members} />,
    },
    {
      key: "topics",
      title: t("Topics"),
      width: "80px",
      align: "right",
      sort: "topics",
      isMinor: true,
      cell: (row) => count(row.topics),
    },
    {
      key: "retry",
      title: t("Retries"),
      width: "90px",
      align: "right",
      sort: "retry",
      isMinor: true,
      cell: (row) => <Zeroed value={row.retry} />,
    },
    {
      key: "dead",
      title: t("Dead letters"),
      width: "110px",
      align: "right",
      sort: "dead",
      isMinor: true,
      cell: (row) =>
        row.dead ? (
          <a href={linkTo.dead(row.name)}>{count(row.dead)}</a>
        ) : (
          <Zeroed value={row.dead} />
        ),
    },
  ];
}

function GroupState({ row }: { row: GroupRow }) {
  if (!row.enabled) return <Pill tone="bad">{t("disabled")}</Pill>;
  if (row.members === null) return <Pill>–</Pill>;
  return row.members > 0 ? (
    <Pill tone="good">{t("online")}</Pill>
  ) : (
    <Pill tone="warn">{t("offline")}</Pill>
  );
}
