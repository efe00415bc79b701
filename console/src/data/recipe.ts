// "Copy as": one action as a command of aerobee, as a call of curl and as Python, made from the
// templates that the server's OpenAPI has for each operation.

import { type Method, pathOf, session } from "./api";
import { description } from "./description";

export interface Request {
  method: Method;
  /** As OpenAPI spells it: /api/topics/{topic} */
  template: string;
  parameters: Record<string, string>;
  body?: Record<string, unknown>;
  query?: Record<string, string | number | null | undefined>;
}

export interface Recipe {
  kind: "aerobee" | "curl" | "Python";
  text: string;
}

export function recipesOf(request: Request): Recipe[] {
  const found = description.value?.paths[request.template]?.[request.method.toLowerCase()];
  const values: Record<string, unknown> = {
    ...request.parameters,
    ...request.query,
    ...request.body,
  };
  const recipes: Recipe[] = [];
  const command = found?.["x-aerobee"];
  if (command) recipes.push({ kind: "aerobee", text: fill(command, values, shellQuoted) });
  recipes.push({ kind: "curl", text: curl(request) });
  const python = found?.["x-python"];
  if (python) recipes.push({ kind: "Python", text: program(fill(python, values, pythonLiteral)) });
  return recipes;
}

function curl(request: Request): string {
  const url = location.origin + pathOf(request.template, request.parameters, request.query);
  const words = ["curl"];
  if (request.method !== "GET") {
    words.push("-X", request.method, "-H", shellQuoted("X-CSRF-Token: $TOKEN").replace(/'/g, '"'));
  }
  if (request.body) {
    words.push("-H", shellQuoted("Content-Type: application/json"));
    words.push("-d", shellQuoted(JSON.stringify(request.body)));
  }
  words.push(shellQuoted(url));
  const line = words.join(" ");
  if (request.method === "GET") return line;
  // The token belongs to the session; who did not log in has none to name.
  const jar = session.value?.user ? "-b cookies.txt " : "";
  const token = `TOKEN=$(curl -s ${jar}${location.origin}/api/session | python3 -c 'import json, sys; print(json.load(sys.stdin)["csrf"])')`;
  return `${token}\n${line.replace("curl ", `curl ${jar}`)}`;
}

function program(line: string): string {
  const servers = session.value?.name_servers.join(";") ?? "127.0.0.1:9876";
  return [
    "import asyncio",
    "import aerobee",
    "",
    "async def main():",
    `    async with aerobee.admin(${pythonLiteral(servers)}) as admin:`,
    `        print(${line.startsWith("await") ? line : `await ${line}`})`,
    "",
    "asyncio.run(main())",
  ].join("\n");
}

/** {name} is a value, {name+} each of a list, {name!r} a literal; [a part] is left out where a value of it is absent, and
 *  [--flag?{name}] is --flag where the value is true. */
export function fill(
  template: string,
  values: Record<string, unknown>,
  quoted: (value: unknown) => string,
): string {
  const isThere = (name: string) =>
    values[name] !== undefined && values[name] !== null && values[name] !== "";
  const put = (text: string) =>
    text
      .replace(/\{(\w+)\+\}/g, (_, name: string) => listed(values[name]).map(quoted).join(" "))
      .replace(/\{(\w+)(?:!r)?\}/g, (_, name: string) => quoted(values[name]));
  return put(
    template.replace(/\[([^\]]*)\]/g, (whole, inner: string) => {
      const flag = /^(.*)\?\{(\w+)\}$/.exec(inner);
      if (flag) return values[flag[2] ?? ""] === true ? (flag[1] ?? "") : "";
      const names = [...inner.matchAll(/\{(\w+)/g)].map((match) => match[1] ?? "");
      if (names.length === 0) return whole;
      return names.every(isThere) ? inner : "";
    }),
  )
    .replace(/ {2,}/g, " ")
    .trim();
}

const listed = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

export function shellQuoted(value: unknown): string {
  const text = Array.isArray(value) ? value.join(",") : String(value ?? "");
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;
}

export function pythonLiteral(value: unknown): string {
  if (value === true) return "True";
  if (value === false) return "False";
  if (value === null || value === undefined) return "None";
  if (typeof value === "number") return String(value);
  // A string of JSON is one of Python, too; so are lists and tables of such.
  return JSON.stringify(value);
}
