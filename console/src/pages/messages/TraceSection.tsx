// The trace of a message as a timeline: sent, stored, received, consumed.

import { linkTo } from "../../data/address";
import { useResource } from "../../data/resource";
import type { TraceEvent, Unknown } from "../../data/shapes";
import { Empty, Failure, Loading, Pill, Section } from "../../parts/basics";
import { t } from "../../words";
import { milliseconds, time } from "../../words/figures";

interface Trace {
  events: TraceEvent[];
  unknown: Unknown;
}

export function TraceSection({
  path,
  born,
  stored,
}: {
  path: string;
  born: number;
  stored: number;
}) {
  const { value, error } = useResource<Trace>(path);
  const traced = value?.events ?? [];
  const own: TraceEvent = {
    at: stored,
    kind: "stored",
    group: null,
    client: null,
    ms: null,
    ok: true,
    detail: "",
  };
  const events = [...traced, own].toSorted((one, other) => one.at - other.at);
  return (
    <Section title={t("Trace")} note={t("since it was born")}>
      {error && <Failure error={error} />}
      {!value && !error && <Loading />}
      {value && traced.length === 0 && (
        <Empty icon="info" title={t("Nothing was traced")}>
          <p>{Object.values(value.unknown)[0] ?? t("Clients trace if they are told to.")}</p>
        </Empty>
      )}
      {traced.length > 0 && (
        <ol class="timeline">
          {events.map((event) => (
            <li key={`${event.kind}${event.at}${event.client}`}>
              <span class="timeline-at" title={time(event.at)}>
                {event.at >= born ? "+" : "-"}
                {milliseconds(Math.abs(event.at - born))}
              </span>
              <Pill tone={event.ok === false ? "bad" : "accent"}>{event.kind}</Pill>
              <span>
                {event.group && <a href={linkTo.group(event.group)}>{event.group}</a>}{" "}
                {event.client} {event.detail}
                {event.ms !== null && <span class="muted"> · {milliseconds(event.ms)}</span>}
              </span>
            </li>
          ))}
        </ol>
      )}
    </Section>
  );
}
