// All groups that have dead letters.

import { linkTo, query, setQuery } from "../data/address";
import { useList } from "../data/resource";
import type { DeadRow } from "../data/shapes";
import { Empty, PageHead, UnknownNotes } from "../parts/basics";
import { getOf } from "../parts/CopyAs";
import { Filter } from "../parts/fields";
import { Table } from "../parts/Table";
import { t } from "../words";
import { count } from "../words/figures";

export function DeadLettersPage() {
  const { q = "", sort = "-count" } = query.value;
  const rows = useList<DeadRow>("/api/dead-letters", { q, sort });
  return (
    <>
      <PageHead
        title={t("Dead letters")}
        below={<span class="muted">{count(rows.count)}</span>}
        request={getOf("/api/dead-letters", {}, { q, sort })}
      >
        <Filter label={t("Name contains")} value={q} onChange={(value) => setQuery({ q: value })} />
      </PageHead>
      <Table
        label={t("Dead letters")}
        rows={rows}
        keyOf={(row) => row.group}
        hrefOf={(row) => linkTo.dead(row.group)}
        sort={sort}
        onSort={(value) => setQuery({ sort: value })}
        columns={[
          {
            key: "group",
            title: t("Group"),
            width: "3fr",
            sort: "group",
            cell: (row) => row.group,
          },
          {
            key: "count",
            title: t("Dead letters"),
            width: "130px",
            align: "right",
            sort: "count",
            cell: (row) => count(row.count),
          },
        ]}
        empty={
          <Empty icon="ok" title={t("There are no dead letters")}>
            <p>
              {t("A message becomes one when a group has failed with it as often as it may retry.")}
            </p>
          </Empty>
        }
      />
      <UnknownNotes unknown={rows.unknown} />
    </>
  );
}
