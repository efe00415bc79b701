// The form of the messages page. All of it is kept in the address, so that a search can be shared.

import { useEffect, useState } from "preact/hooks";
import { query, setQuery } from "../../data/address";
import { useResource } from "../../data/resource";
import type { List, TopicRow } from "../../data/shapes";
import { momentText } from "../../parts/fields";
import { t } from "../../words";
import { SavedSearches } from "./SavedSearches";
import { FIELDS, WAYS } from "./search_fields";

const AGES: { label: string; ms: number }[] = [
  { label: "15m", ms: 900_000 },
  { label: "1h", ms: 3_600_000 },
  { label: "1d", ms: 86_400_000 },
];

export function SearchForm({ onRun }: { onRun: () => void }) {
  const { by = "search", topic = "" } = query.value;
  const way = WAYS.find(({ value }) => value === by) ?? WAYS[0];
  const [draft, setDraft] = useState<Record<string, string>>(query.value);
  // A search from elsewhere, as the search box, fills in the form.
  useEffect(() => setDraft((old) => ({ ...old, ...query.value })), [query.value]);
  const put = (name: string, value: string) => setDraft((old) => ({ ...old, [name]: value }));
  const run = (event: Event) => {
    event.preventDefault();
    const names = ["topic", ...Object.keys(FIELDS)];
    const isUsed = (name: string) =>
      name === "topic" ? way?.value !== "lookup" : way?.fields.includes(name);
    setQuery(
      Object.fromEntries(names.map((name) => [name, isUsed(name) ? (draft[name] ?? "") : null])),
    );
    onRun();
  };
  return (
    <form class="search-form" onSubmit={run}>
      <div class="segments">
        {WAYS.map(({ value, label }) => (
          <button
            type="button"
            key={value}
            class={way?.value === value ? "chosen" : ""}
            aria-pressed={way?.value === value}
            onClick={() => setQuery({ by: value === "search" ? null : value })}
          >
            {t(label)}
          </button>
        ))}
      </div>
      <div class="search-fields">
        {way?.value !== "lookup" && (
          <TopicField value={draft.topic ?? topic} onChange={(value) => put("topic", value)} />
        )}
        {way?.fields.map((name) => (
          <div class="field" key={name}>
            <label for={`search-${name}`}>{t(FIELDS[name]?.label ?? "Text")}</label>
            <input
              id={`search-${name}`}
              type={(FIELDS[name]?.type ?? "text") as "text"}
              step={FIELDS[name]?.type === "datetime-local" ? 1 : undefined}
              placeholder={FIELDS[name]?.hint}
              value={draft[name] ?? ""}
              onInput={(event) => put(name, event.currentTarget.value)}
            />
          </div>
        ))}
        {way?.value === "search" && (
          <div class="segments ages">
            {AGES.map(({ label, ms }) => (
              <button
                type="button"
                key={label}
                onClick={() =>
                  setDraft((old) => ({ ...old, from: momentText(Date.now() - ms), to: "" }))
                }
              >
                {t("last {age}", { age: label })}
              </button>
            ))}
          </div>
        )}
        <button type="submit" class="button primary">
          {way?.value === "tail" ? t("Follow") : t("Search")}
        </button>
      </div>
      <SavedSearches
        onRun={() => {
          setDraft(query.value);
          onRun();
        }}
      />
    </form>
  );
}

function TopicField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const names = useResource<List<TopicRow>>("/api/topics?kind=all&limit=1000");
  return (
    <div class="field">
      <label for="search-topic">{t("Topic")}</label>
      <input
        id="search-topic"
        list="topic-names"
        required
        autocomplete="off"
        spellcheck={false}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <datalist id="topic-names">
        {names.value?.rows.map((row) => (
          <option key={row.name} value={row.name} />
        ))}
      </datalist>
    </div>
  );
}
