// All clients that are connected: who, in which language, and the groups they are in.

import { linkTo, query, setQuery } from "../data/address";
import { useList } from "../data/resource";
import type { ClientRow } from "../data/shapes";
import { Empty, PageHead, Pill, UnknownNotes } from "../parts/basics";
import { getOf } from "../parts/CopyAs";
import { Filter } from "../parts/fields";
import { type Column, Table } from "../parts/Table";
import { t } from "../words";
import { count } from "../words/figures";

export function ClientsPage() {
  const { q = "", sort = "client_id" } = query.value;
  const rows = useList<ClientRow>("/api/clients", { q, sort });
  return (
    <>
      <PageHead
        title={t("Clients")}
        below={<span class="muted">{count(rows.count)}</span>}
        request={getOf("/api/clients", {}, { q, sort })}
      >
        <Filter label={t("Name contains")} value={q} onChange={(value) => setQuery({ q: value })} />
      </PageHead>
      <Table
        label={t("Clients")}
        rows={rows}
        columns={columns()}
        keyOf={(row) => row.client_id}
        hrefOf={(row) => linkTo.client(row.client_id)}
        sort={sort}
        onSort={(value) => setQuery({ sort: value === "client_id" ? null : value })}
        empty={
          <Empty icon="clients" title={q ? t("Nothing found") : t("No client is connected")}>
            <p>{t("Producers and consumers appear here with their first heartbeat.")}</p>
          </Empty>
        }
      />
      <UnknownNotes unknown={rows.unknown} />
    </>
  );
}

function columns(): Column<ClientRow>[] {
  return [
    {
      key: "id",
      title: t("Client"),
      width: "2fr",
      sort: "client_id",
      cell: (row) => row.client_id,
    },
    {
      key: "address",
      title: t("Address"),
      width: "160px",
      sort: "address",
      isMinor: true,
      cell: (row) => row.address,
    },
    {
      key: "language",
      title: t("Language"),
      width: "110px",
      sort: "language",
      cell: (row) => <Pill>{row.language}</Pill>,
    },
    {
      key: "version",
      title: t("Version"),
      width: "110px",
      sort: "version",
      isMinor: true,
      cell: (row) => row.version,
    },
    {
      key: "consumes",
      title: t("Consumes as"),
      width: "1.5fr",
      cell: (row) =>
        row.consumes.map((group) => (
          <a key={group} class="spaced" href={linkTo.group(group)}>
            {group}
          </a>
        )),
    },
    {
      key: "produces",
      title: t("Produces as"),
      width: "1.5fr",
      isMinor: true,
      cell: (row) => row.produces.join(", "),
    },
  ];
}
