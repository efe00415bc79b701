// Whether a user may do something, and by which rule: asked for, and decided as each broker decides.

import { useState } from "preact/hooks";
import { query, setQuery } from "../../data/address";
import { pathOf } from "../../data/api";
import { useResource } from "../../data/resource";
import type { RightVerdict } from "../../data/shapes";
import { Failure, Pill, Section } from "../../parts/basics";
import { type Field, FieldInput, type Values } from "../../parts/fields";
import { t } from "../../words";

const ACTIONS = ["Pub", "Sub", "Create", "Update", "Delete", "Get", "List"];

export function Verdicts() {
  const { user = "", action = "Sub", resource = "" } = query.value;
  const [values, setValues] = useState<Values>({ user, action, resource });
  const isAsked = user !== "" && resource !== "";
  const path = isAsked ? pathOf("/api/rights/can", {}, { user, action, resource }) : null;
  const { value, error } = useResource<{ rows: RightVerdict[] }>(path);
  return (
    <Section title={t("May a user do this?")}>
      <form
        class="search-form"
        onSubmit={(event) => {
          event.preventDefault();
          setQuery({ user: "", action: "", resource: "", ...values });
        }}
      >
        <div class="search-fields">
          {fields().map((field) => (
            <FieldInput
              key={field.name}
              field={field}
              prefix="asked"
              value={values[field.name] ?? ""}
              onChange={(text) => setValues((old) => ({ ...old, [field.name]: text }))}
            />
          ))}
          <button type="submit" class="button primary">
            {t("Ask")}
          </button>
        </div>
      </form>
      {error && <Failure error={error} />}
      {value && (
        <div role="status">
          <ul class="findings">
            {value.rows.map((row) => (
              <li key={row.broker}>
                <Pill tone={row.can ? "good" : "bad"}>{row.can ? t("yes") : t("no")}</Pill>
                <p>
                  {row.broker}: {row.reason}
                </p>
              </li>
            ))}
          </ul>
        </div>
      )}
    </Section>
  );
}

function fields(): Field[] {
  return [
    { name: "user", label: t("Who"), kind: "text", isNeeded: true },
    {
      name: "action",
      label: t("Action"),
      kind: "select",
      options: ACTIONS.map((value) => ({ value, label: value })),
    },
    { name: "resource", label: t("What"), kind: "text", hint: "Topic:orders", isNeeded: true },
  ];
}
