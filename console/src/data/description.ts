// The server's OpenAPI: which calls it serves, and the templates of "copy as". Asked for once.

import { signal } from "@preact/signals";
import { call } from "./api";

export interface Operation {
  summary?: string;
  "x-aerobee"?: string;
  "x-python"?: string;
}

export interface Description {
  paths: Record<string, Record<string, Operation>>;
}

export const description = signal<Description | null>(null);

export async function loadDescription(): Promise<void> {
  description.value = await call<Description>("GET", "/api");
}

/** Whether the server has this path: an older one lacks what newer pages show. */
export function serves(template: string): boolean {
  return description.value?.paths[template] !== undefined;
}
