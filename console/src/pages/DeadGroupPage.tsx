// The dead letters of one group: by reason, to be sent again at a limited rate, or exported.

import { linkTo } from "../data/address";
import { rowsOf, useResource } from "../data/resource";
import type { DeadLetter, DeadLetters } from "../data/shapes";
import { type Action, ActionButton } from "../parts/action";
import { Empty, FailedPage, Loading, PageHead, Section, UnknownNotes } from "../parts/basics";
import { getOf } from "../parts/CopyAs";
import { Table } from "../parts/Table";
import type { PageProps } from "../shell/pages";
import { t } from "../words";
import { ago, count } from "../words/figures";
import { messageColumns } from "./messages/message_columns";

export function DeadGroupPage({ parts }: PageProps) {
  const group = parts[0] ?? "";
  const path = `/api/dead-letters/${encodeURIComponent(group)}`;
  const { value, error, reload } = useResource<DeadLetters>(path, 10_000);
  if (value === null) return error ? <FailedPage error={error} /> : <Loading />;
  return (
    <>
      <PageHead
        title={group}
        kind={t("Dead letters of")}
        below={<a href={linkTo.group(group)}>{t("Group")}</a>}
        request={getOf("/api/dead-letters/{group}", { group })}
      >
        {["ndjson", "csv", "parquet"].map((format) => (
          <a key={format} class="button" href={`${path}/export?format=${format}`} download>
            {format}
          </a>
        ))}
        <ActionButton action={resend(group, reload)} look="primary">
          {t("Resend")}
        </ActionButton>
      </PageHead>
      <Section title={t("Reasons")} note={t("{count} dead letters", { count: count(value.count) })}>
        <Table
          label={t("Reasons")}
          rows={rowsOf(value.reasons)}
          keyOf={(row) => row.reason}
          rowsInSight={8}
          columns={[
            { key: "reason", title: t("Reason"), width: "3fr", cell: (row) => row.reason },
            {
              key: "count",
              title: t("Messages"),
              width: "100px",
              align: "right",
              cell: (row) => count(row.count),
            },
            {
              key: "last",
              title: t("Newest"),
              width: "120px",
              align: "right",
              cell: (row) => ago(row.last_stored),
            },
            {
              key: "resend",
              title: t("Actions"),
              width: "110px",
              align: "right",
              cell: (row) => {
                const own = value.rows.filter((one) => one.reason === row.reason);
                const ids = own.map((one) => one.offset_id);
                return (
                  <ActionButton action={resend(group, reload, ids)} look="quiet">
                    {t("Resend")}
                  </ActionButton>
                );
              },
            },
          ]}
          empty={<Empty icon="ok" title={t("There are no dead letters")} />}
        />
      </Section>
      <Section title={t("Messages")}>
        <Table
          label={t("Messages")}
          rows={rowsOf(value.rows)}
          keyOf={(row) => row.offset_id}
          hrefOf={(row) => linkTo.message(row.topic, row.offset_id)}
          rowsInSight={16}
          columns={[
            ...messageColumns<DeadLetter>(),
            {
              key: "origin",
              title: t("From topic"),
              width: "1.2fr",
              isMinor: true,
              cell: (row) => row.origin_topic ?? "–",
            },
          ]}
          empty={<Empty icon="ok" title={t("There are no dead letters")} />}
        />
      </Section>
      <UnknownNotes unknown={value.unknown} />
    </>
  );
}

/** `ids`: only these; none: all of the group. */
function resend(group: string, onDone: () => void, ids: string[] = []): Action {
  return {
    title: t("Resend dead letters"),
    role: "operator",
    method: "POST",
    template: "/api/dead-letters/{group}/resend",
    parameters: { group },
    confirm: group,
    hasPreview: true,
    seconds: (answer, values) => Number(answer.preview?.count) / Number(values.per_second),
    fields: [
      { name: "per_second", label: t("Messages a second"), kind: "number", initial: "100" },
      { name: "limit", label: t("At most"), kind: "number" },
    ],
    body: (values) => ({
      per_second: Number(values.per_second),
      ids: ids.length ? ids : undefined,
      limit: values.limit ? Number(values.limit) : undefined,
    }),
    onDone,
  };
}
