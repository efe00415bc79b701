// The search over everything: topics, groups, brokers, clients, messages, pages. Key: /

import { useEffect, useRef, useState } from "preact/hooks";
import { go } from "../data/address";
import { call, pathOf } from "../data/api";
import type { SearchHit } from "../data/shapes";
import { Icon } from "../parts/Icon";
import { type Phrase, t } from "../words";
import { lookupsOf } from "./lookups";
import { placesOfRole } from "./pages";

const KINDS: Record<string, Phrase> = {
  topic: "topic",
  group: "group",
  broker: "broker",
  client: "client",
  message: "message",
  page: "page",
};

function pagesNamed(text: string): SearchHit[] {
  const wanted = text.toLowerCase();
  return placesOfRole()
    .filter((place) => t(place.name).toLowerCase().includes(wanted))
    .map((place) => ({
      kind: "page",
      name: t(place.name),
      path: `/${place.path}`,
      detail: `g ${place.key}`,
    }));
}

function useHits(text: string): SearchHit[] {
  const [hits, setHits] = useState<SearchHit[]>([]);
  useEffect(() => {
    const wanted = text.trim();
    if (wanted === "") {
      setHits([]);
      return;
    }
    const local = [...pagesNamed(wanted), ...lookupsOf(wanted)];
    const abort = new AbortController();
    const timer = setTimeout(() => {
      const path = pathOf("/api/search", {}, { q: wanted, limit: 20 });
      call<{ rows: SearchHit[] }>("GET", path, undefined, abort.signal)
        .then(({ rows }) => {
          const paths = new Set(rows.map(({ path }) => path));
          setHits([...rows, ...local.filter(({ path }) => !paths.has(path))]);
        })
        .catch(() => !abort.signal.aborted && setHits(local));
    }, 120);
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [text]);
  return hits;
}

export function SearchBox() {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const hits = useHits(text);
  const isListed = isOpen && text.trim() !== "";
  const open = (hit: SearchHit | undefined) => {
    if (!hit) return;
    go(hit.path);
    setText("");
    setOpen(false);
    input.current?.blur();
  };
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setChosen((at) => Math.max(0, Math.min(hits.length - 1, at + step)));
    } else if (event.key === "Enter") open(hits[chosen]);
    else if (event.key === "Escape") {
      setText("");
      input.current?.blur();
    }
  };
  return (
    <div class="search" role="search">
      <Icon name="search" />
      <input
        ref={input}
        id="search"
        type="text"
        role="combobox"
        autocomplete="off"
        spellcheck={false}
        aria-label={t("Search everything")}
        aria-expanded={isListed}
        aria-controls="search-hits"
        aria-activedescendant={isListed && hits[chosen] ? `hit-${chosen}` : undefined}
        placeholder={t("Search topics, groups, clients, message ids and keys")}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setChosen(0);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setTimeout(() => setOpen(false), 150)}
        onKeyDown={onKey}
      />
      <kbd aria-hidden="true">/</kbd>
      {/* the focus stays in the field, as a combobox has it */}
      <div
        id="search-hits"
        class="search-hits"
        role="listbox"
        aria-label={t("Found")}
        hidden={!isListed}
      >
        {hits.map((hit, index) => (
          // keys are the field's
          <div
            role="option"
            id={`hit-${index}`}
            key={hit.path}
            class="search-hit"
            aria-selected={index === chosen}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => open(hit)}
          >
            <span class="pill plain">{t(KINDS[hit.kind] ?? "page")}</span>
            <span class="search-name">{hit.name}</span>
            <span class="muted">{hit.detail}</span>
          </div>
        ))}
        {hits.length === 0 && (
          <div role="option" aria-selected={false} aria-disabled="true" class="search-hit muted">
            {t("Nothing found")}
          </div>
        )}
      </div>
    </div>
  );
}
