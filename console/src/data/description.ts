// The server's OpenAPI: the templates of "copy as". Asked for once, by the first who needs it.

import { signal } from "@preact/signals";
import { call } from "./api";

export interface Operation {
  summary?: string;
  "x-aerobee"?: string;
  "x-python"?: string;
  requestBody?: {
    content: { "application/json": { schema: { properties?: Record<string, Property> } } };
  };
}

interface Property {
  default?: unknown;
}

export interface Description {
  paths: Record<string, Record<string, Operation>>;
}

export const description = signal<Description | null>(null);
let asked: Promise<void> | null = null;

export function needDescription(): Promise<void> {
  asked ??= call<Description>("GET", "/api")
    .then((told) => {
      description.value = told;
    })
    .catch((error) => {
      asked = null;
      throw error;
    });
  return asked;
}
