// "Copy as": one action as a command of aerobee, as a call of curl and as Python, made from the
// templates that the server's OpenAPI has for each operation.

import { type Method, pathOf, session } from "./api";
import { description, type Operation } from "./description";

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

/** Parameters that no command line and no program repeats: they would be kept in its history. */
const SECRETS = new Set(["password"]);

export function recipesOf(request: Request): Recipe[] {
  const found = description.value?.paths[request.template]?.[request.method.toLowerCase()];
  const sent = { ...request.query, ...request.body };
  const values: Record<string, unknown> = { ...request.parameters, ...sent };
  const recipes: Recipe[] = [];
  const command = found?.["x-aerobee"];
  if (command && saysAll(command, sent, found)) {
    recipes.push({ kind: "aerobee", text: fill(command, values, shellQuoted) });
  }
  recipes.push({ kind: "curl", text: curl(request) });
  const python = found?.["x-python"];
  const isSaid = python !== undefined && saysAll(python, sent, found);
  const text = isSaid ? program(fill(python, values, pythonLiteral)) : callOf(request);
  recipes.push({ kind: "Python", text });
  return recipes;
}

/** Whether a template has all values that are sent: one that leaves some out does something else. */
function saysAll(template: string, sent: Record<string, unknown>, told?: Operation): boolean {
  const known = told?.requestBody?.content["application/json"].schema.properties ?? {};
  return Object.entries(sent).every(
    ([name, value]) =>
      !isThere(value) ||
      SECRETS.has(name) ||
      name === "confirm" ||
      value === known[name]?.default ||
      new RegExp(`\\{${name}\\b`).test(template),
  );
}

const isThere = (value: unknown): boolean =>
  value !== undefined &&
  value !== null &&
  value !== "" &&
  !(Array.isArray(value) && value.length === 0);

/** The body without what must not be repeated. */
function shownBody(request: Request): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(request.body ?? {}).map(([name, value]) => [
      name,
      SECRETS.has(name) ? name.toUpperCase() : value,
    ]),
  );
}

function curl(request: Request): string {
  const url = location.origin + pathOf(request.template, request.parameters, request.query);
  const words = ["curl"];
  if (request.method !== "GET") {
    words.push("-X", request.method, "-H", shellQuoted("X-CSRF-Token: $TOKEN").replace(/'/g, '"'));
  }
  if (request.body) {
    words.push("-H", shellQuoted("Content-Type: application/json"));
    words.push("-d", shellQuoted(JSON.stringify(shownBody(request))));
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
  const [name, opened] = line.includes("client.") ? ["client", "connect"] : ["admin", "admin"];
  return [
    "import asyncio",
    "import aerobee",
    "",
    "async def main():",
    `    async with aerobee.${opened}(${pythonLiteral(servers)}) as ${name}:`,
    `        ${line.startsWith("async for") ? line : `print(${line})`}`,
    "",
    "asyncio.run(main())",
  ].join("\n");
}

/** The call itself as Python, where the library has no line that does the same. */
function callOf(request: Request): string {
  const url = location.origin + pathOf(request.template, request.parameters, request.query);
  const isNamed = Boolean(session.value?.user);
  const lines = ["from urllib.request import Request, urlopen", ""];
  if (request.method !== "GET") lines.unshift("import json");
  lines.push(isNamed ? 'headers = {"Cookie": "aerobee=TOKEN"}' : "headers = {}");
  if (request.method === "GET") {
    lines.push(`for line in urlopen(Request(${pythonLiteral(url)}, headers=headers)):`);
  } else {
    const own = pythonLiteral(`${location.origin}/api/session`);
    lines.push(
      `session = json.load(urlopen(Request(${own}, headers=headers)))`,
      'headers |= {"X-CSRF-Token": session["csrf"], "Content-Type": "application/json"}',
      `body = json.dumps(${pythonLiteral(shownBody(request))}).encode()`,
      `url = ${pythonLiteral(url)}`,
      `for line in urlopen(Request(url, body, headers, method="${request.method}")):`,
    );
  }
  return [...lines, '    print(line.decode(), end="")'].join("\n");
}

/** {name} is a value, {name!r} a literal, {name@} a time; {name+} each of a list, {name+--flag } each
 *  behind a flag. [a part] is left out where a value of it is absent. [text?{name}] is there where the
 *  value is true or a text, ?!{name} where it is false, ?-{name} where it is absent, ?{name=word}
 *  where it is that word. */
export function fill(
  template: string,
  values: Record<string, unknown>,
  quoted: (value: unknown) => string,
): string {
  const chosen = template.replace(/\[([^\]]*)\]/g, (whole, inner: string) => {
    const choice = /^(.*)\?([!-]?)\{(\w+)(?:=(\w+))?\}$/.exec(inner);
    if (choice) {
      const [, text = "", mark = "", name = "", word] = choice;
      return isChosen(values[name], mark, word) ? text : "";
    }
    const names = [...inner.matchAll(/\{(\w+)/g)].map((match) => match[1] ?? "");
    if (names.length === 0) return whole;
    return names.every((name) => isThere(values[name])) ? inner : "";
  });
  // In one pass: a value may look like a place for another one, and its spaces are its own.
  return chosen
    .replace(/ {2,}/g, " ")
    .trim()
    .replace(/\{(\w+)(!r|@|\+(?:--\w+ )?)?\}/g, (_, name: string, mark = "") => {
      if (mark.startsWith("+")) {
        return listed(values[name])
          .map((value) => mark.slice(1) + quoted(value))
          .join(" ");
      }
      return quoted(mark === "@" ? momentOf(values[name]) : values[name]);
    });
}

function isChosen(value: unknown, mark: string, word: string | undefined): boolean {
  if (word !== undefined) return value === word;
  if (mark === "!") return value === false;
  if (mark === "-") return !isThere(value);
  return value === true || (typeof value === "string" && value !== "");
}

function listed(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).map(([name, one]) => `${name}=${one}`);
  }
  return [value];
}

/** A time as commands take it: a number would be an offset. */
const momentOf = (value: unknown): unknown =>
  typeof value === "number" ? new Date(value).toISOString() : value;

export function shellQuoted(value: unknown): string {
  const text = Array.isArray(value) ? value.join(",") : String(value ?? "");
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;
}

export function pythonLiteral(value: unknown): string {
  if (value === true) return "True";
  if (value === false) return "False";
  if (value === null || value === undefined) return "None";
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(", ")}]`;
  if (typeof value === "object") {
    const pairs = Object.entries(value).map(
      ([name, one]) => `${JSON.stringify(name)}: ${pythonLiteral(one)}`,
    );
    return `{${pairs.join(", ")}}`;
  }
  // A string of JSON is one of Python, too.
  return JSON.stringify(value);
}
