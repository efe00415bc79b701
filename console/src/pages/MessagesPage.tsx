// Messages: found by id, key or offset, searched by time with filters on the server, or followed live.

import { useEffect, useState } from "preact/hooks";
import { linkTo, query } from "../data/address";
import { pathOf } from "../data/api";
import { type Found, useFoundMessages } from "../data/found_messages";
import { schemaOf } from "../data/kept";
import { rowsOf, useResource } from "../data/resource";
import type { MessageRow } from "../data/shapes";
import { Button, Empty, Failure, Loading, PageHead, UnknownNotes } from "../parts/basics";
import { CopyAs } from "../parts/CopyAs";
import { momentOf } from "../parts/fields";
import { Table } from "../parts/Table";
import { t } from "../words";
import { count } from "../words/figures";
import { messageColumns, topicColumn } from "./messages/message_columns";
import { SaveSearch } from "./messages/SavedSearches";
import { SchemaField } from "./messages/SchemaField";
import { SearchForm } from "./messages/SearchForm";

type Way = "search" | "tail" | "key" | "id" | "offset" | "lookup";

export function MessagesPage() {
  const { topic = "", by = "search", word = "" } = query.value;
  const way = by as Way;
  const [run, setRun] = useState(0);
  const isStream = way === "search" || way === "tail";
  const isAsked = way === "lookup" ? word !== "" : topic !== "";
  return (
    <>
      <PageHead title={t("Messages")} below={topic && <a href={linkTo.topic(topic)}>{topic}</a>} />
      <SearchForm onRun={() => setRun((count) => count + 1)} />
      {topic !== "" && way !== "lookup" && <SchemaField topic={topic} />}
      {way === "lookup" ? (
        isAsked ? (
          <Lookup word={word} run={run} />
        ) : (
          <Empty icon="search" title={t("Fill in the fields above")}>
            <p>
              {t("A message is looked for in every topic, those with the newest messages first.")}
            </p>
          </Empty>
        )
      ) : !isAsked ? (
        <Empty icon="messages" title={t("Choose a topic")}>
          <p>{t("Then search by time, key, id or offset, or follow new messages live.")}</p>
        </Empty>
      ) : isStream ? (
        <Stream isTail={way === "tail"} run={run} />
      ) : (
        <Picked way={way} run={run} />
      )}
    </>
  );
}

/** What the address asks for, as parameters of the API. */
function asked(): Record<string, string | number | null | undefined> {
  const { topic, from, to, tag, sql, text, regex, broker, queue, limit, order } = query.value;
  return {
    topic,
    from: momentOf(from),
    to: momentOf(to),
    tag,
    sql,
    text,
    regex,
    broker,
    queue,
    limit,
    order,
  };
}

function Stream({ isTail, run }: { isTail: boolean; run: number }) {
  const all = asked();
  const { topic, tag, sql, text, regex } = all;
  const schema = schemaOf(String(topic ?? ""));
  const parameters = isTail ? { topic, tag, sql, text, regex, ...schema } : { ...all, ...schema };
  const template = isTail ? "/api/messages/tail" : "/api/messages/search";
  const found = useFoundMessages(pathOf(template, {}, parameters), isTail, run);
  const exported = (format: string) => pathOf("/api/messages/export", {}, { ...all, format });
  return (
    <>
      <div class="stream-bar">
        <StreamState found={found} isTail={isTail} />
        <span class="page-actions">
          <SaveSearch />
          <CopyAs request={{ method: "GET", template, parameters: {}, query: parameters }} />
          {!isTail &&
            ["ndjson", "csv", "parquet"].map((format) => (
              <a key={format} class="button" href={exported(format)} download>
                {format}
              </a>
            ))}
        </span>
      </div>
      {found.error && <Failure error={found.error} />}
      <MessageTable rows={found.rows} isOver={found.state !== "running"} />
    </>
  );
}

/** By an id or a key alone, in all topics. */
function Lookup({ word, run }: { word: string; run: number }) {
  const template = "/api/messages/lookup";
  const found = useFoundMessages(pathOf(template, {}, { word }), false, run);
  const { progress, state } = found;
  return (
    <>
      <div class="stream-bar">
        <div class="stream-state" role="status">
          {state === "running" && (
            <>
              <Button icon="stop" onClick={found.stop}>
                {t("Stop")}
              </Button>
              <progress
                value={progress?.scanned ?? 0}
                max={progress?.total || 1}
                aria-label={t("Searched")}
              />
            </>
          )}
          <span>
            {t("{found} found in {topics} topics", {
              found: count(found.rows.length),
              topics: count(progress?.scanned ?? 0),
            })}
          </span>
        </div>
        <span class="page-actions">
          <SaveSearch />
          <CopyAs request={{ method: "GET", template, parameters: {}, query: { word } }} />
        </span>
      </div>
      {found.error && <Failure error={found.error} />}
      <MessageTable rows={found.rows} isOver={state !== "running"} hasTopics />
    </>
  );
}

function StreamState({ found, isTail }: { found: Found; isTail: boolean }) {
  const { progress, state } = found;
  const share = progress?.total ? progress.scanned / progress.total : 0;
  const scanned = count(progress?.scanned ?? 0);
  return (
    <div class="stream-state" role="status">
      {state === "running" && (
        <Button icon="stop" onClick={found.stop}>
          {t("Stop")}
        </Button>
      )}
      {isTail ? (
        <span>
          {state === "running" ? t("Live: new messages appear above") : t("Stopped")}
          {found.dropped > 0 &&
            ` · ${t("{count} not shown: they come too fast", { count: count(found.dropped) })}`}
        </span>
      ) : (
        <>
          {state === "running" && <progress value={share} max={1} aria-label={t("Searched")} />}
          <span>
            {t("{found} found in {scanned} messages", { found: count(found.rows.length), scanned })}
            {found.why === "limit" && ` · ${t("more than the limit: narrow the search")}`}
          </span>
        </>
      )}
    </div>
  );
}

function Picked({ way, run }: { way: Way; run: number }) {
  const { topic = "", key, id, broker, queue, offset } = query.value;
  const wanted = { key: { key }, id: { id }, offset: { broker, queue, offset } }[
    way as "key" | "id" | "offset"
  ];
  const isWhole = Object.values(wanted).every((value) => value !== undefined && value !== "");
  const asked = { topic, ...wanted, limit: 64, ...schemaOf(topic) };
  const path = isWhole ? pathOf("/api/messages", {}, asked) : null;
  const { value, error, reload, stop } = useResource<{
    rows: MessageRow[];
    unknown: Record<string, string>;
  }>(path);
  useEffect(() => {
    if (run > 0) reload();
  }, [run]);
  if (!isWhole) return <Empty icon="search" title={t("Fill in the fields above")} />;
  if (error) return <Failure error={error} />;
  if (value === null) return <Loading onStop={stop} />;
  return (
    <>
      <div class="stream-bar">
        <span class="muted">{t("{count} messages", { count: count(value.rows.length) })}</span>
        <span class="page-actions">
          <SaveSearch />
          <CopyAs
            request={{ method: "GET", template: "/api/messages", parameters: {}, query: asked }}
          />
        </span>
      </div>
      <MessageTable rows={value.rows} isOver />
      <UnknownNotes unknown={value.unknown} />
    </>
  );
}

interface MessageTableProps {
  rows: MessageRow[];
  isOver: boolean;
  hasTopics?: boolean;
}

function MessageTable({ rows, isOver, hasTopics = false }: MessageTableProps) {
  return (
    <Table
      label={t("Messages")}
      rows={{ ...rowsOf(rows), isLoaded: isOver || rows.length > 0 }}
      columns={hasTopics ? [topicColumn(), ...messageColumns()] : messageColumns()}
      keyOf={(row) => row.offset_id}
      hrefOf={(row) => linkTo.message(row.topic, row.offset_id)}
      empty={
        <Empty icon="messages" title={t("No message matches")}>
          <p>{t("Widen the time, or take filters away.")}</p>
        </Empty>
      }
    />
  );
}
