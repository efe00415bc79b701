// Transactions: open half messages, to be committed or rolled back by hand, and those given up.

import { linkTo } from "../data/address";
import { rowsOf, useResource } from "../data/resource";
import type { MessageRow, OpenHalf, Unknown } from "../data/shapes";
import { type Action, ActionButton } from "../parts/action";
import {
  Empty,
  FailedPage,
  Failure,
  Loading,
  PageHead,
  Section,
  UnknownNotes,
} from "../parts/basics";
import { getOf } from "../parts/CopyAs";
import { type Column, Table } from "../parts/Table";
import { t } from "../words";
import { count, duration, time } from "../words/figures";
import { messageColumns } from "./messages/message_columns";

interface Transactions {
  open: OpenHalf[] | null;
  given_up: MessageRow[];
  unknown: Unknown;
}

export function TransactionsPage() {
  const { value, error, reload } = useResource<Transactions>("/api/transactions", 5000);
  if (value === null) return error ? <FailedPage error={error} /> : <Loading />;
  return (
    <>
      <PageHead
        title={t("Transactions")}
        below={<span class="muted">{count(value.open?.length)}</span>}
        request={getOf("/api/transactions")}
      />
      {error && <Failure error={error} />}
      <Section title={t("Open")} note={t("half messages whose producer has not decided")}>
        <Table
          label={t("Open transactions")}
          rows={rowsOf(value.open ?? [])}
          columns={columns(reload)}
          keyOf={(row) => row.id}
          rowsInSight={14}
          empty={
            <Empty
              icon={value.open ? "ok" : "info"}
              title={value.open ? t("No transaction is open") : t("This cluster does not tell")}
            >
              {value.open === null && <p>{Object.values(value.unknown)[0]}</p>}
            </Empty>
          }
        />
      </Section>
      <Section title={t("Given up")} note={t("asked about too often, without an answer")}>
        <Table
          label={t("Given up")}
          rows={rowsOf(value.given_up)}
          keyOf={(row) => row.offset_id}
          rowsInSight={10}
          columns={messageColumns<MessageRow>()}
          empty={<Empty icon="ok" title={t("None was given up")} />}
        />
      </Section>
      <UnknownNotes unknown={value.unknown} />
    </>
  );
}

function columns(reload: () => void): Column<OpenHalf>[] {
  return [
    {
      key: "topic",
      title: t("Topic"),
      width: "1fr",
      cell: (row) => <a href={linkTo.topic(row.topic)}>{row.topic}</a>,
    },
    {
      key: "id",
      title: t("Message id"),
      width: "2fr",
      isMinor: true,
      cell: (row) => <span class="mono">{row.id}</span>,
    },
    {
      key: "group",
      title: t("Producer group"),
      width: "1fr",
      isMinor: true,
      cell: (row) => row.group ?? "–",
    },
    { key: "broker", title: t("Broker"), width: "100px", isMinor: true, cell: (row) => row.broker },
    {
      key: "age",
      title: t("Open for"),
      width: "100px",
      align: "right",
      cell: (row) => <span title={time(row.stored)}>{duration(row.age_ms)}</span>,
    },
    {
      key: "checks",
      title: t("Asked"),
      width: "70px",
      align: "right",
      cell: (row) => count(row.checks),
    },
    {
      key: "end",
      title: t("Actions"),
      width: "190px",
      align: "right",
      cell: (row) => (
        <>
          <ActionButton action={end(row, "commit", reload)} look="quiet">
            {t("Commit")}
          </ActionButton>
          <ActionButton action={end(row, "rollback", reload)} look="quiet">
            {t("Roll back")}
          </ActionButton>
        </>
      ),
    },
  ];
}

function end(row: OpenHalf, kind: "commit" | "rollback", onDone: () => void): Action {
  return {
    title: kind === "commit" ? t("Commit transaction") : t("Roll back transaction"),
    text: t("The producer is not asked any more: make sure that its own work has the same end."),
    role: "admin",
    method: "POST",
    template: `/api/transactions/{id}/${kind}`,
    parameters: { id: row.id },
    confirm: row.id,
    isDanger: true,
    onDone,
  };
}
