// The audit: who did what with this console.

import { query, setQuery } from "../data/address";
import { useList } from "../data/resource";
import type { AuditRow } from "../data/shapes";
import { Empty, PageHead, Pill, type Tone } from "../parts/basics";
import { getOf } from "../parts/CopyAs";
import { Filter } from "../parts/fields";
import { Table } from "../parts/Table";
import { t } from "../words";
import { count, time } from "../words/figures";

const TONES: Record<string, Tone> = { done: "good", refused: "warn", failed: "bad" };

export function AuditPage() {
  const { q = "" } = query.value;
  const rows = useList<AuditRow>("/api/audit", { q });
  return (
    <>
      <PageHead
        title={t("Audit")}
        below={<span class="muted">{count(rows.count)}</span>}
        request={getOf("/api/audit", {}, { q })}
      >
        <Filter label={t("Contains")} value={q} onChange={(value) => setQuery({ q: value })} />
      </PageHead>
      <Table
        label={t("Audit")}
        rows={rows}
        keyOf={(row) => `${row.at}${row.action}${row.of}`}
        columns={[
          { key: "at", title: t("Time"), width: "180px", cell: (row) => time(row.at) },
          {
            key: "user",
            title: t("User"),
            width: "1fr",
            isMinor: true,
            cell: (row) => row.user ?? t("(no log-in)"),
          },
          { key: "from", title: t("From"), width: "120px", isMinor: true, cell: (row) => row.from },
          { key: "action", title: t("Action"), width: "1.2fr", cell: (row) => row.action },
          { key: "of", title: t("Of"), width: "1.5fr", cell: (row) => row.of },
          {
            key: "outcome",
            title: t("Outcome"),
            width: "90px",
            cell: (row) => <Pill tone={TONES[row.outcome] ?? "plain"}>{row.outcome}</Pill>,
          },
          {
            key: "detail",
            title: t("Detail"),
            width: "2.5fr",
            isMinor: true,
            cell: (row) => <span class="muted">{row.detail}</span>,
          },
        ]}
        empty={
          <Empty
            icon="audit"
            title={q ? t("Nothing found") : t("Nothing was changed with this console yet")}
          >
            <p>{t("Every change made here is written down: who, when, what, and how it ended.")}</p>
          </Empty>
        }
      />
    </>
  );
}
