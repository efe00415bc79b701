// All brokers, masters and slaves: rates, latency, disk, how far replicas are behind.

import { linkTo, query, setQuery } from "../data/address";
import { useList } from "../data/resource";
import type { Broker } from "../data/shapes";
import { Bar, Command, Empty, PageHead, Pill, UnknownNotes } from "../parts/basics";
import { getOf } from "../parts/CopyAs";
import { Filter } from "../parts/fields";
import { type Column, Table } from "../parts/Table";
import { t } from "../words";
import { bytes, count, milliseconds, percent, rate } from "../words/figures";
import { diskTone, roleOf } from "./overview/ClusterMap";

export function BrokersPage() {
  const { q = "", sort = "name" } = query.value;
  const rows = useList<Broker>("/api/brokers", { q, sort });
  return (
    <>
      <PageHead
        title={t("Brokers")}
        below={<span class="muted">{count(rows.count)}</span>}
        request={getOf("/api/brokers", {}, { q, sort })}
      >
        <Filter label={t("Name contains")} value={q} onChange={(value) => setQuery({ q: value })} />
      </PageHead>
      <Table
        label={t("Brokers")}
        rows={rows}
        columns={columns()}
        keyOf={(row) => row.address}
        hrefOf={(row) => linkTo.broker(row.name)}
        sort={sort}
        onSort={(value) => setQuery({ sort: value === "name" ? null : value })}
        empty={
          <Empty icon="brokers" title={t("No broker has registered with the name server")}>
            <Command text="aerobee broker start -n HOST:9876" />
          </Empty>
        }
      />
      <UnknownNotes unknown={rows.unknown} />
    </>
  );
}

function columns(): Column<Broker>[] {
  return [
    { key: "name", title: t("Name"), width: "1.2fr", sort: "name", cell: (row) => row.name },
    {
      key: "role",
      title: t("Role"),
      width: "100px",
      cell: (row) => (
        <Pill tone={row.problem ? "bad" : row.is_master ? "accent" : "good"}>{roleOf(row)}</Pill>
      ),
    },
    {
      key: "address",
      title: t("Address"),
      width: "1.2fr",
      isMinor: true,
      cell: (row) => row.address,
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
      isMinor: true,
      cell: (row) => rate(row.out),
    },
    {
      key: "put",
      title: t("Put p99"),
      width: "90px",
      align: "right",
      isMinor: true,
      cell: (row) => milliseconds(row.put_ms?.p99),
    },
    {
      key: "disk",
      title: t("Disk"),
      width: "1fr",
      isMinor: true,
      cell: (row) =>
        row.disk?.used == null ? (
          "–"
        ) : (
          <Bar share={row.disk.used} tone={diskTone(row)} text={percent(row.disk.used)} />
        ),
    },
    {
      key: "log",
      title: t("Log"),
      width: "90px",
      align: "right",
      sort: "log_bytes",
      isMinor: true,
      cell: (row) => bytes(row.log_bytes),
    },
    {
      key: "replica",
      title: t("Behind its master"),
      width: "130px",
      align: "right",
      isMinor: true,
      cell: (row) => (row.replica ? bytes(row.replica.lag_bytes) : ""),
    },
    {
      key: "version",
      title: t("Version"),
      width: "1.3fr",
      isMinor: true,
      cell: (row) =>
        row.problem ? (
          <Pill tone="bad">{row.problem}</Pill>
        ) : (
          <span class="muted">{row.version}</span>
        ),
    },
  ];
}
