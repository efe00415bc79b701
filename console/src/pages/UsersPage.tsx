// Users of the cluster, and what they may do.

import { query, setQuery } from "../data/address";
import { rowsOf, useResource } from "../data/resource";
import type { List, RightRow, UserRow } from "../data/shapes";
import { type Action, ActionButton } from "../parts/action";
import { Command, Empty, Failure, PageHead, Pill, Section, UnknownNotes } from "../parts/basics";
import { getOf } from "../parts/CopyAs";
import { Filter, yes } from "../parts/fields";
import { Table } from "../parts/Table";
import { t } from "../words";
import { Verdicts } from "./users/Verdicts";

export function UsersPage() {
  const { q = "" } = query.value;
  const asked = q ? `?q=${encodeURIComponent(q)}&limit=1000` : "?limit=1000";
  const users = useResource<List<UserRow>>(`/api/users${asked}`);
  const rights = useResource<List<RightRow>>(`/api/rights${asked}`);
  const why = users.value?.unknown.rows;
  return (
    <>
      <PageHead title={t("Users and rights")} request={getOf("/api/users", {}, { q })}>
        <Filter label={t("Name contains")} value={q} onChange={(value) => setQuery({ q: value })} />
        {!why && (
          <>
            <ActionButton action={createUser(users.reload)} icon="plus">
              {t("New user")}
            </ActionButton>
            <ActionButton action={putRight(null, rights.reload)} icon="plus">
              {t("New right")}
            </ActionButton>
          </>
        )}
      </PageHead>
      {why ? (
        <Empty icon="users" title={t("There are no users here")}>
          <p>{why}</p>
          <Command text="aerobee auth --help" />
        </Empty>
      ) : (
        <>
          <Users rows={users.value?.rows ?? []} reload={users.reload} />
          <Rights rows={rights.value?.rows ?? []} reload={rights.reload} />
          <Verdicts />
          {users.error && <Failure error={users.error} />}
          <UnknownNotes unknown={users.value?.unknown ?? {}} />
        </>
      )}
    </>
  );
}

function Users({ rows, reload }: { rows: UserRow[]; reload: () => void }) {
  return (
    <Section title={t("Users")}>
      <Table
        label={t("Users")}
        rows={rowsOf(rows)}
        keyOf={(row) => row.name}
        rowsInSight={12}
        columns={[
          { key: "name", title: t("Name"), width: "2fr", cell: (row) => row.name },
          {
            key: "kind",
            title: t("Kind"),
            width: "100px",
            cell: (row) => <Pill tone={row.kind === "Super" ? "accent" : "plain"}>{row.kind}</Pill>,
          },
          {
            key: "state",
            title: t("State"),
            width: "100px",
            cell: (row) => (row.enabled ? t("enabled") : <Pill tone="warn">{t("disabled")}</Pill>),
          },
          {
            key: "brokers",
            title: t("Brokers"),
            width: "1.5fr",
            isMinor: true,
            cell: (row) => <span class="muted">{row.brokers.join(", ")}</span>,
          },
          {
            key: "actions",
            title: t("Actions"),
            width: "180px",
            align: "right",
            cell: (row) => (
              <>
                <ActionButton action={changeUser(row, reload)} look="quiet">
                  {t("Change")}
                </ActionButton>
                <ActionButton action={deleteUser(row, reload)} look="quiet">
                  {t("Delete")}
                </ActionButton>
              </>
            ),
          },
        ]}
        empty={<Empty icon="users" title={t("There is no user")} />}
      />
    </Section>
  );
}

function Rights({ rows, reload }: { rows: RightRow[]; reload: () => void }) {
  return (
    <Section title={t("Rights")}>
      <Table
        label={t("Rights")}
        rows={rowsOf(rows)}
        keyOf={(row) => `${row.user}/${row.resource}`}
        rowsInSight={14}
        columns={[
          { key: "user", title: t("Who"), width: "1.5fr", cell: (row) => row.user },
          { key: "resource", title: t("What"), width: "2fr", cell: (row) => row.resource },
          {
            key: "actions",
            title: t("Actions"),
            width: "1.5fr",
            cell: (row) => row.actions.join(", "),
          },
          {
            key: "decision",
            title: t("Decision"),
            width: "90px",
            cell: (row) => (
              <Pill tone={row.decision === "Allow" ? "good" : "bad"}>{row.decision}</Pill>
            ),
          },
          {
            key: "sources",
            title: t("From addresses"),
            width: "1fr",
            isMinor: true,
            cell: (row) => row.sources.join(", "),
          },
          {
            key: "change",
            title: t("Actions"),
            width: "180px",
            align: "right",
            cell: (row) => (
              <>
                <ActionButton action={putRight(row, reload)} look="quiet">
                  {t("Change")}
                </ActionButton>
                <ActionButton action={deleteRight(row, reload)} look="quiet">
                  {t("Delete")}
                </ActionButton>
              </>
            ),
          },
        ]}
        empty={<Empty icon="users" title={t("No right was given")} />}
      />
    </Section>
  );
}

const kinds = () => ["Normal", "Super"].map((value) => ({ value, label: value }));

function createUser(onDone: () => void): Action {
  return {
    title: t("New user"),
    role: "admin",
    method: "POST",
    template: "/api/users",
    fields: [
      { name: "name", label: t("Name"), kind: "text", isNeeded: true },
      { name: "password", label: t("Password"), kind: "password", isNeeded: true },
      { name: "kind", label: t("Kind"), kind: "select", initial: "Normal", options: kinds() },
    ],
    body: (values) => ({ name: values.name, password: values.password, kind: values.kind }),
    onDone,
  };
}

function changeUser(row: UserRow, onDone: () => void): Action {
  return {
    title: t("Change user"),
    role: "admin",
    method: "PATCH",
    template: "/api/users/{name}",
    parameters: { name: row.name },
    fields: [
      { name: "password", label: t("New password"), kind: "password", hint: t("Empty: as it is") },
      { name: "kind", label: t("Kind"), kind: "select", initial: row.kind, options: kinds() },
      {
        name: "enabled",
        label: t("Enabled"),
        kind: "select",
        initial: String(row.enabled),
        options: yes(),
      },
    ],
    body: (values) => ({
      password: values.password || undefined,
      kind: values.kind,
      enabled: values.enabled === "true",
    }),
    onDone,
  };
}

function deleteUser(row: UserRow, onDone: () => void): Action {
  return {
    title: t("Delete user"),
    role: "admin",
    method: "DELETE",
    template: "/api/users/{name}",
    parameters: { name: row.name },
    confirm: row.name,
    isDanger: true,
    onDone,
  };
}

const list = (text: string | undefined) =>
  (text ?? "").split(/[\s,]+/).filter((word) => word !== "");

function putRight(row: RightRow | null, onDone: () => void): Action {
  return {
    title: row ? t("Change right") : t("New right"),
    role: "admin",
    method: "PUT",
    template: "/api/rights",
    fields: [
      {
        name: "user",
        label: t("Who"),
        kind: "text",
        initial: row?.user ?? "",
        isNeeded: true,
      },
      {
        name: "resource",
        label: t("What"),
        kind: "text",
        initial: row?.resource ?? "Topic:",
        hint: "Topic:orders, Group:*, Cluster:*",
        isNeeded: true,
      },
      {
        name: "actions",
        label: t("Actions"),
        kind: "text",
        initial: row?.actions.join(", ") ?? "Pub, Sub",
        hint: "Pub, Sub, Create, Update, Delete, Get, List",
      },
      {
        name: "decision",
        label: t("Decision"),
        kind: "select",
        initial: row?.decision.toLowerCase() ?? "allow",
        options: ["allow", "deny"].map((value) => ({ value, label: value })),
      },
      {
        name: "sources",
        label: t("From addresses"),
        kind: "text",
        initial: row?.sources.join(", ") ?? "",
        hint: t("Empty: from everywhere"),
      },
    ],
    body: (values) => ({
      user: values.user,
      resource: values.resource,
      actions: list(values.actions),
      decision: values.decision,
      sources: list(values.sources),
      policy: row?.policy ?? "Custom",
    }),
    onDone,
  };
}

function deleteRight(row: RightRow, onDone: () => void): Action {
  return {
    title: t("Delete right"),
    role: "admin",
    method: "DELETE",
    template: "/api/rights",
    confirm: row.user,
    isDanger: true,
    body: () => ({ user: row.user, resource: row.resource, policy: row.policy }),
    onDone,
  };
}
