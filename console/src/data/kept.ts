// What a reader keeps in this browser: schemas of bodies by topic, and searches. In its local storage,
// bounded; what cannot be kept (a full or forbidden storage) lasts as long as the page.

import { signal } from "@preact/signals";
import type { Query } from "./address";

export interface Schema {
  text: string;
  /** The message of a .proto; empty: its first. */
  type: string;
}

export interface SavedSearch {
  name: string;
  query: Query;
}

const SCHEMAS_MAX = 50;
const SEARCHES_MAX = 30;

export const schemas = signal<Record<string, Schema>>(read("schemas", {}));
export const searches = signal<SavedSearch[]>(read("searches", []));

function read<Value>(name: string, empty: Value): Value {
  try {
    return (JSON.parse(localStorage.getItem(`aerobee.${name}`) ?? "null") as Value) ?? empty;
  } catch {
    return empty;
  }
}

function keep(name: string, value: unknown): void {
  try {
    localStorage.setItem(`aerobee.${name}`, JSON.stringify(value));
  } catch {
    // It lasts as long as the page.
  }
}

/** An empty text forgets the schema of a topic. The newest come last, the oldest go first. */
export function keepSchema(topic: string, schema: Schema): void {
  const { [topic]: _, ...others } = schemas.value;
  const entries = Object.entries(others).slice(-(SCHEMAS_MAX - 1));
  if (schema.text.trim()) entries.push([topic, schema]);
  schemas.value = Object.fromEntries(entries);
  keep("schemas", schemas.value);
}

/** The parameters of a call by which bodies of a topic are read. */
export function schemaOf(topic: string): { schema?: string; schema_type?: string } {
  const own = schemas.value[topic];
  if (!own) return {};
  return { schema: packed(own.text), ...(own.type ? { schema_type: own.type } : {}) };
}

/** It is a part of an address: without what only people need. */
function packed(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text
      .replace(/\/\/[^\n"']*$/gm, "")
      .replace(/[ \t]+/g, " ")
      .replace(/\s*\n\s*/g, "\n")
      .trim();
  }
}

export function keepSearch(search: SavedSearch): void {
  const others = searches.value.filter(({ name }) => name !== search.name);
  searches.value = [search, ...others].slice(0, SEARCHES_MAX);
  keep("searches", searches.value);
}

export function forgetSearch(name: string): void {
  searches.value = searches.value.filter((one) => one.name !== name);
  keep("searches", searches.value);
}
