// Ways to find messages, and the fields that each of them has.

import type { Phrase } from "../../words";

export const WAYS: { value: string; label: Phrase; fields: string[] }[] = [
  { value: "search", label: "Search", fields: ["from", "to", "text", "regex", "tag", "sql"] },
  { value: "tail", label: "Live tail", fields: ["text", "regex", "tag", "sql"] },
  { value: "key", label: "By key", fields: ["key"] },
  { value: "id", label: "By id", fields: ["id"] },
  { value: "offset", label: "By offset", fields: ["broker", "queue", "offset"] },
  { value: "lookup", label: "In all topics", fields: ["word"] },
];

export const FIELDS: Record<
  string,
  { label: Phrase; type: "text" | "number" | "datetime-local"; hint?: string }
> = {
  from: { label: "From", type: "datetime-local" },
  to: { label: "Until", type: "datetime-local" },
  text: { label: "Text", type: "text" },
  regex: { label: "Regular expression", type: "text" },
  tag: { label: "Tag", type: "text", hint: "a || b" },
  sql: { label: "SQL filter", type: "text", hint: "price > 10 AND region = 'eu'" },
  key: { label: "Key", type: "text" },
  id: { label: "Message id", type: "text" },
  broker: { label: "Broker", type: "text" },
  queue: { label: "Queue", type: "number" },
  offset: { label: "Offset", type: "number" },
  word: { label: "Message id or key", type: "text" },
};
