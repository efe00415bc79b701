// Searches that the reader keeps in this browser, and the button that keeps the one that is shown.

import { query, setQuery } from "../../data/address";
import { forgetSearch, keepSearch, searches } from "../../data/kept";
import { Button } from "../../parts/basics";
import { Icon } from "../../parts/Icon";
import { tell } from "../../parts/toasts";
import { t } from "../../words";
import { FIELDS, WAYS } from "./search_fields";

const NAMES = ["by", "topic", ...Object.keys(FIELDS)];

/** What it looks for, in words: its topic, its way, its filters. */
function nameOf(asked: Record<string, string>): string {
  const way = WAYS.find(({ value }) => value === (asked.by ?? "search"));
  const filters = Object.keys(FIELDS)
    .filter((name) => asked[name])
    .map((name) => `${name}=${asked[name]}`);
  return [asked.topic, way ? t(way.label) : "", ...filters].filter(Boolean).join(" · ");
}

export function SaveSearch() {
  const asked = query.value;
  if (!asked.topic && !asked.word) return null;
  const kept = Object.fromEntries(
    NAMES.filter((name) => asked[name]).map((name) => [name, asked[name] ?? ""]),
  );
  const name = nameOf(kept);
  if (searches.value.some((one) => one.name === name)) return null;
  return (
    <Button
      onClick={() => {
        keepSearch({ name, query: kept });
        tell(t("The search is kept in this browser"));
      }}
    >
      {t("Keep this search")}
    </Button>
  );
}

export function SavedSearches({ onRun }: { onRun: () => void }) {
  if (searches.value.length === 0) return null;
  const open = (asked: Record<string, string>) => {
    setQuery(Object.fromEntries(NAMES.map((name) => [name, asked[name] ?? null])));
    onRun();
  };
  return (
    <ul class="saved" aria-label={t("Kept searches")}>
      {searches.value.map((one) => (
        <li key={one.name}>
          <button type="button" class="link-button" onClick={() => open(one.query)}>
            {one.name}
          </button>
          <button
            type="button"
            class="icon-button small"
            aria-label={t("Forget {name}", { name: one.name })}
            title={t("Forget {name}", { name: one.name })}
            onClick={() => forgetSearch(one.name)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}
