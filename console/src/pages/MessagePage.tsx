// One message: its body in every way it can be read, its properties, who consumed it, its trace.

import { useState } from "preact/hooks";
import { linkTo } from "../data/address";
import { pathOf } from "../data/api";
import { schemaOf } from "../data/kept";
import { useResource } from "../data/resource";
import type { Finding, Message, MessageRow } from "../data/shapes";
import { type Action, ActionButton } from "../parts/action";
import {
  Button,
  Empty,
  type Fact,
  Facts,
  FailedPage,
  Failure,
  Findings,
  Loading,
  PageHead,
  Pill,
  Section,
  type Tone,
  UnknownNotes,
} from "../parts/basics";
import { copy, getOf } from "../parts/CopyAs";
import type { PageProps } from "../shell/pages";
import { t } from "../words";
import { bytes, count, time } from "../words/figures";
import { SchemaField } from "./messages/SchemaField";
import { TraceSection } from "./messages/TraceSection";

export function MessagePage({ parts }: PageProps) {
  const [topic = "", id = ""] = parts;
  const path = `/api/messages/${encodeURIComponent(topic)}/${encodeURIComponent(id)}`;
  const asked = schemaOf(topic);
  const { value, error, stop } = useResource<Message>(pathOf(path, {}, asked));
  if (value === null) return error ? <FailedPage error={error} /> : <Loading onStop={stop} />;
  const { message } = value;
  return (
    <>
      <PageHead
        title={message.id}
        kind={t("Message")}
        below={<a href={linkTo.topic(topic)}>{topic}</a>}
        request={getOf("/api/messages/{topic}/{id}", { topic, id }, asked)}
      >
        {message.offset > 0 && (
          <Neighbour message={message} step={-1} label={`← ${t("previous")}`} />
        )}
        <Neighbour message={message} step={1} label={`${t("next")} →`} />
        <Button icon="copy" onClick={() => void copy(location.href)}>
          {t("Copy link")}
        </Button>
        <a class="button" href={`${path}/body`} download>
          {t("Download body")}
        </a>
        <ActionButton action={resend(message, value)}>{t("Resend")}</ActionButton>
      </PageHead>
      <Section title={t("Facts")}>
        <Facts facts={factsOf(value)} />
      </Section>
      {error && <Failure error={error} />}
      <SchemaField topic={topic} />
      <Body key={value.body.kind} message={value} />
      <div class="columns">
        <Pairs title={t("Headers of the application")} pairs={message.headers} />
        <Pairs title={t("Properties of RocketMQ")} pairs={message.properties} />
      </div>
      <ConsumedBy message={value} />
      <Explanation path={`${path}/explain`} />
      <TraceSection path={`${path}/trace`} born={message.born} stored={message.stored} />
      <UnknownNotes unknown={value.unknown} />
    </>
  );
}

interface NeighbourProps {
  message: MessageRow;
  step: 1 | -1;
  label: string;
}

/** The message before or behind in the same queue. */
function Neighbour({ message, step, label }: NeighbourProps) {
  const query = new URLSearchParams({
    topic: message.topic,
    by: "offset",
    broker: message.broker,
    queue: String(message.queue),
    offset: String(message.offset + step),
  });
  return (
    <a class="button" href={`/messages?${query}`}>
      {label}
    </a>
  );
}

function factsOf({ message, body }: Message): Fact[] {
  const { topic, broker, queue, offset } = message;
  const search = (asked: Record<string, string>) =>
    `/messages?${new URLSearchParams({ topic, ...asked })}`;
  const place = { by: "offset", broker, queue: String(queue), offset: String(offset) };
  return [
    [t("Stored"), time(message.stored)],
    [t("Born"), time(message.born)],
    [t("Born at"), message.born_host],
    [t("Stored at"), message.store_host],
    [t("Broker"), <a href={linkTo.broker(broker)}>{broker}</a>],
    [t("Queue"), String(queue)],
    [t("Offset"), <a href={search(place)}>{count(offset)}</a>],
    [t("Tag"), message.tag ? <a href={search({ tag: message.tag })}>{message.tag}</a> : "–"],
    [
      t("Keys"),
      message.keys.length === 0
        ? "–"
        : message.keys.map((key) => (
            <a key={key} class="spaced" href={search({ by: "key", key })}>
              {key}
            </a>
          )),
    ],
    [t("Body size"), bytes(body.size)],
    [t("Attempt"), count(message.attempt)],
    [t("Offset id"), message.offset_id],
  ];
}

function Body({ message }: { message: Message }) {
  const { body } = message;
  const ways = Object.keys(body.shown);
  const [way, setWay] = useState(ways.includes(body.kind) ? body.kind : (ways[0] ?? "hex"));
  const shown = body.shown[way];
  const text = textOf(way, shown);
  return (
    <Section
      title={t("Body")}
      note={`${bytes(body.size)}${body.truncated ? ` · ${t("only the beginning is shown")}` : ""}`}
      actions={
        <div class="segments">
          {ways.map((one) => (
            <button
              type="button"
              key={one}
              class={one === way ? "chosen" : ""}
              aria-pressed={one === way}
              onClick={() => setWay(one)}
            >
              {one}
            </button>
          ))}
        </div>
      }
    >
      {/* what scrolls must be reached by the keyboard */}
      <pre class="body-text" tabIndex={0}>
        {text || t("(empty)")}
      </pre>
      {body.why.schema && (
        <p class="pad muted">{t("Not by the schema: {why}", { why: body.why.schema })}</p>
      )}
    </Section>
  );
}

function textOf(way: string, shown: unknown): string {
  if (way === "hex" && Array.isArray(shown)) return shown.join("\n");
  return typeof shown === "string" ? shown : (JSON.stringify(shown, null, 2) ?? "");
}

function Pairs({ title, pairs }: { title: string; pairs: Record<string, string> }) {
  const entries = Object.entries(pairs);
  return (
    <Section title={title} note={String(entries.length)}>
      {entries.length === 0 ? (
        <p class="pad muted">{t("None")}</p>
      ) : (
        <dl class="pairs">
          {entries.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </Section>
  );
}

const STATE_TONE: Record<string, Tone> = { CONSUMED: "good", WAITING: "warn", OFFLINE: "bad" };

function ConsumedBy({ message }: { message: Message }) {
  const consumed = message.consumed ?? [];
  return (
    <Section title={t("Who consumed it")}>
      {consumed.length === 0 ? (
        <Empty icon="groups" title={t("No group consumes this topic")} />
      ) : (
        <ul class="consumed">
          {consumed.map((one) => (
            <li key={one.group}>
              <Pill tone={STATE_TONE[one.state] ?? "plain"}>{one.state.toLowerCase()}</Pill>
              <a href={linkTo.group(one.group)}>{one.group}</a>
              <span class="muted">{one.text}</span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

/** Why groups have or have not consumed it, and what to do next. */
function Explanation({ path }: { path: string }) {
  const { value, error, stop } = useResource<{ findings: Finding[] }>(path);
  return (
    <Section title={t("Explanation")}>
      {value ? (
        <Findings findings={value.findings} />
      ) : error ? (
        <Failure error={error} />
      ) : (
        <Loading onStop={stop} />
      )}
    </Section>
  );
}

function resend(message: MessageRow, whole: Message): Action {
  const groups = (whole.consumed ?? []).map((one) => one.group);
  return {
    title: t("Resend"),
    role: "operator",
    method: "POST",
    template: "/api/messages/{topic}/{id}/resend",
    parameters: { topic: message.topic, id: message.offset_id },
    fields: [
      {
        name: "group",
        label: t("To"),
        kind: "select",
        initial: groups[0] ?? "",
        options: [
          ...groups.map((value) => ({
            value,
            label: t("the group {group} only", { group: value }),
          })),
          { value: "", label: t("the topic {topic}: every group", { topic: message.topic }) },
        ],
      },
    ],
    body: (values) => (values.group ? { group: values.group } : { to: message.topic }),
  };
}
