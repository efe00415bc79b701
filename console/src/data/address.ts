// The address of the page: its path, and the filters in its query. Links need no handler of their own.

import { computed, signal } from "@preact/signals";

export type Query = Record<string, string>;

const place = signal(read());

export const path = computed(() => place.value.path);
export const query = computed(() => place.value.query);

function read(): { path: string; query: Query } {
  const query = Object.fromEntries(new URLSearchParams(location.search));
  return { path: location.pathname, query };
}

export function go(target: string, replace = false): void {
  if (replace) history.replaceState(null, "", target);
  else history.pushState(null, "", target);
  const before = place.value.path;
  place.value = read();
  if (before !== place.value.path) {
    document.querySelector("main")?.scrollTo(0, 0);
    // Screen readers and the keyboard begin at the new page, not behind the link that led to it.
    document.querySelector<HTMLElement>("main")?.focus();
  }
}

/** Filters are kept in the address; an empty one is left out of it. */
export function setQuery(change: Record<string, string | null>): void {
  const next = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(change)) {
    if (value === null || value === "") next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  go(text ? `${location.pathname}?${text}` : location.pathname, true);
}

export function followLinks(): void {
  addEventListener("popstate", () => {
    place.value = read();
  });
  document.addEventListener("click", (event) => {
    const link = (event.target as Element | null)?.closest?.("a[href]");
    if (!(link instanceof HTMLAnchorElement) || event.defaultPrevented) return;
    const isPlain =
      event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    const isOurs = link.origin === location.origin && !link.pathname.startsWith("/api");
    if (!isPlain || !isOurs || link.target || link.hash || link.hasAttribute("download")) return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
}

/** The parts of a path after its first: /topics/a%2Fb → ["a/b"]. A bad escape stays as it is. */
export function partsOf(text: string): string[] {
  return text
    .split("/")
    .slice(2)
    .filter((part) => part !== "")
    .map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
}

export const linkTo = {
  topic: (name: string) => `/topics/${encodeURIComponent(name)}`,
  group: (name: string) => `/groups/${encodeURIComponent(name)}`,
  broker: (name: string) => `/brokers/${encodeURIComponent(name)}`,
  dead: (group: string) => `/dead-letters/${encodeURIComponent(group)}`,
  client: (id: string) => `/clients/${encodeURIComponent(id)}`,
  messages: (topic: string) => `/messages?topic=${encodeURIComponent(topic)}`,
  message: (topic: string, id: string) =>
    `/messages/${encodeURIComponent(topic)}/${encodeURIComponent(id)}`,
};
