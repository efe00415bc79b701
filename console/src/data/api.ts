// One call of the console's API: JSON in and out, the CSRF token on every call that changes a thing.

import { signal } from "@preact/signals";
import type { Role, Session } from "./shapes";

export const session = signal<Session | null>(null);

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}

export type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

const RANK: Record<Role, number> = { viewer: 0, operator: 1, admin: 2 };

export function may(role: Role): boolean {
  const own = session.value?.role;
  return own != null && RANK[own] >= RANK[role];
}

export async function call<Answer>(
  method: Method,
  path: string,
  body?: unknown,
  abort?: AbortSignal,
): Promise<Answer> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (method !== "GET") headers["X-CSRF-Token"] = session.value?.csrf ?? "";
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const init: RequestInit = { method, headers, credentials: "same-origin" };
  if (body !== undefined) init.body = JSON.stringify(body);
  if (abort) init.signal = abort;
  const answer = await reach(path, init);
  if (answer.status === 204) return undefined as Answer;
  if (answer.ok) return (await answer.json()) as Answer;
  throw await failure(answer);
}

/** Why a stream does not begin. */
export async function reasonOf(url: string): Promise<ApiError> {
  const ended = new ApiError(0, "unreachable", "the stream ended", "");
  const abort = new AbortController();
  try {
    const answer = await reach(url, { credentials: "same-origin", signal: abort.signal });
    return answer.ok ? ended : await failure(answer);
  } catch (error) {
    return error instanceof ApiError ? error : ended;
  } finally {
    abort.abort();
  }
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "unreachable", "the console does not answer", "is its process running?");
  }
}

async function failure(answer: Response): Promise<ApiError> {
  const said = (await answer.json().catch(() => null)) as {
    error?: { code: string; message: string; hint: string };
  } | null;
  const error = said?.error;
  if (error?.code === "login_needed") await loadSession();
  return new ApiError(
    answer.status,
    error?.code ?? "internal",
    error?.message ?? `${answer.status} ${answer.statusText}`,
    error?.hint ?? "",
  );
}

/** The page came with its session, so that nothing has to be asked before its figures; where the
 *  cluster was slow to answer, it is asked for now. */
export async function beginSession(): Promise<void> {
  const told = document.querySelector<HTMLMetaElement>("meta[name=session]")?.content;
  if (told) session.value = JSON.parse(told) as Session;
  else await loadSession();
}

export async function loadSession(): Promise<void> {
  session.value = await call<Session>("GET", "/api/session");
}

export async function logIn(user: string, password: string): Promise<void> {
  session.value = await call<Session>("POST", "/api/login", { user, password });
}

export async function logOut(): Promise<void> {
  await call<void>("POST", "/api/logout");
  await loadSession();
}

/** A path with its parameters encoded and its query; parameters without a value are left out. */
export function pathOf(
  template: string,
  parameters: Record<string, string> = {},
  query: Record<string, string | number | null | undefined> = {},
): string {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(parameters[name] ?? ""),
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") search.set(name, String(value));
  }
  const text = search.toString();
  return text ? `${path}?${text}` : path;
}
