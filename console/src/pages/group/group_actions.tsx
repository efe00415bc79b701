// Actions on groups: make, change, delete, and the reset of offsets with its preview.

import type { Group } from "../../data/shapes";
import type { Action, Answer } from "../../parts/action";
import { momentOf, yes } from "../../parts/fields";
import { t } from "../../words";
import { count } from "../../words/figures";

export function createGroup(onDone: (name: string) => void): Action {
  let made = "";
  return {
    title: t("New group"),
    role: "operator",
    method: "POST",
    template: "/api/groups",
    fields: [
      { name: "name", label: t("Name"), kind: "text", isNeeded: true },
      { name: "retry_max", label: t("Retries at most"), kind: "number", initial: "16" },
      {
        name: "broadcast",
        label: t("Broadcast allowed"),
        kind: "select",
        initial: "true",
        options: yes(),
      },
    ],
    body: (values) => {
      made = values.name ?? "";
      return {
        name: values.name,
        retry_max: Number(values.retry_max),
        broadcast: values.broadcast === "true",
      };
    },
    onDone: () => onDone(made),
  };
}

export function changeGroup(group: Group, onDone: () => void): Action {
  const config = group.configs[0];
  return {
    title: t("Change group"),
    role: "operator",
    method: "PATCH",
    template: "/api/groups/{group}",
    parameters: { group: group.name },
    fields: [
      {
        name: "enabled",
        label: t("Consuming allowed"),
        kind: "select",
        initial: String(config?.enabled ?? true),
        options: yes(),
      },
      {
        name: "broadcast",
        label: t("Broadcast allowed"),
        kind: "select",
        initial: String(config?.broadcast ?? true),
        options: yes(),
      },
      {
        name: "retry_max",
        label: t("Retries at most"),
        kind: "number",
        initial: String(config?.retry_max ?? 16),
      },
    ],
    body: (values) => ({
      enabled: values.enabled === "true",
      broadcast: values.broadcast === "true",
      retry_max: Number(values.retry_max),
    }),
    onDone,
  };
}

export function deleteGroup(name: string, onDone: () => void): Action {
  return {
    title: t("Delete group"),
    role: "admin",
    method: "DELETE",
    template: "/api/groups/{group}",
    parameters: { group: name },
    confirm: name,
    hasPreview: true,
    isDanger: true,
    fields: [
      { name: "keep_offsets", label: t("Keep its offsets"), kind: "check", initial: "false" },
    ],
    body: (values) => ({ keep_offsets: values.keep_offsets === "true" }),
    onDone,
  };
}

export function resetGroup(group: Group, onDone: () => void): Action {
  const topics = [
    ...new Set(group.queues.filter((queue) => !queue.is_retry).map((queue) => queue.topic)),
  ];
  return {
    title: t("Reset offsets"),
    role: "operator",
    method: "POST",
    template: "/api/groups/{group}/reset",
    parameters: { group: group.name },
    confirm: group.name,
    hasPreview: true,
    isDanger: true,
    preview: (answer) => <ResetPreview answer={answer} />,
    fields: [
      {
        name: "topic",
        label: t("Topic"),
        kind: "select",
        initial: topics[0] ?? "",
        options: topics.map((value) => ({ value, label: value })),
      },
      {
        name: "to",
        label: t("To"),
        kind: "select",
        initial: "latest",
        options: [
          { value: "latest", label: t("the newest message: skip the lag") },
          { value: "earliest", label: t("the oldest message: repeat everything") },
          { value: "time", label: t("the time below") },
        ],
      },
      { name: "time", label: t("Time"), kind: "moment" },
    ],
    body: (values) => ({
      topic: values.topic,
      to: values.to === "time" ? (momentOf(values.time) ?? "latest") : values.to,
    }),
    onDone,
  };
}

const PREVIEWED = 16;

interface ResetQueue {
  broker: string;
  queue: number;
  from: number;
  to: number;
  repeated: number;
  skipped: number;
}

function ResetPreview({ answer }: { answer: Answer }) {
  const queues = (answer.preview?.queues ?? []) as ResetQueue[];
  return (
    <table class="small-table">
      <thead>
        <tr>
          <th scope="col">{t("Queue")}</th>
          <th scope="col">{t("Offset")}</th>
          <th scope="col">{t("Repeated")}</th>
          <th scope="col">{t("Skipped")}</th>
        </tr>
      </thead>
      <tbody>
        {queues.slice(0, PREVIEWED).map((queue) => (
          <tr key={`${queue.broker}/${queue.queue}`}>
            <td>
              {queue.broker} {queue.queue}
            </td>
            <td>
              {count(queue.from)} → {count(queue.to)}
            </td>
            <td>{count(queue.repeated)}</td>
            <td>{count(queue.skipped)}</td>
          </tr>
        ))}
        {queues.length > PREVIEWED && (
          <tr>
            <td colSpan={4}>{t("and {count} more", { count: queues.length - PREVIEWED })}</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}
