// Actions on topics: make, change, delete, send a message.

import type { Topic } from "../../data/shapes";
import type { Action } from "../../parts/action";
import { t } from "../../words";

const permissions = () => [
  { value: "rw", label: t("read and write") },
  { value: "r", label: t("read only") },
  { value: "w", label: t("write only") },
];

export function createTopic(onDone: (name: string) => void): Action {
  let made = "";
  return {
    title: t("New topic"),
    role: "operator",
    method: "POST",
    template: "/api/topics",
    fields: [
      { name: "name", label: t("Name"), kind: "text", isNeeded: true },
      { name: "queues", label: t("Queues"), kind: "number", initial: "8", isNeeded: true },
      {
        name: "type",
        label: t("Type"),
        kind: "select",
        initial: "NORMAL",
        options: ["NORMAL", "FIFO", "DELAY", "TRANSACTION", "PRIORITY", "MIXED"].map((value) => ({
          value,
          label: value,
        })),
      },
      {
        name: "permission",
        label: t("Permission"),
        kind: "select",
        initial: "rw",
        options: permissions(),
      },
      { name: "on", label: t("Broker"), kind: "text", hint: t("Empty: every master") },
    ],
    body: (values) => {
      made = values.name ?? "";
      return {
        name: values.name,
        queues: Number(values.queues),
        type: values.type,
        permission: values.permission,
        on: values.on || undefined,
      };
    },
    onDone: () => onDone(made),
  };
}

export function changeTopic(topic: Topic, onDone: () => void): Action {
  const config = topic.configs[0];
  return {
    title: t("Change topic"),
    role: "operator",
    method: "PATCH",
    template: "/api/topics/{topic}",
    parameters: { topic: topic.name },
    hasPreview: true,
    fields: [
      {
        name: "queues",
        label: t("Queues"),
        kind: "number",
        initial: String(config?.write_queues ?? 8),
      },
      {
        name: "permission",
        label: t("Permission"),
        kind: "select",
        initial: config?.permission ?? "rw",
        options: permissions(),
      },
      { name: "on", label: t("Broker"), kind: "text", hint: t("Empty: every master") },
    ],
    body: (values) => ({
      queues: Number(values.queues),
      permission: values.permission,
      on: values.on || undefined,
    }),
    onDone,
  };
}

export function deleteTopic(name: string, onDone: () => void): Action {
  return {
    title: t("Delete topic"),
    role: "admin",
    method: "DELETE",
    template: "/api/topics/{topic}",
    parameters: { topic: name },
    confirm: name,
    hasPreview: true,
    isDanger: true,
    onDone,
  };
}

export function sendMessage(topic: string, onDone: () => void): Action {
  return {
    title: t("Send message"),
    role: "operator",
    method: "POST",
    template: "/api/topics/{topic}/messages",
    parameters: { topic },
    fields: [
      { name: "body", label: t("Body"), kind: "area", isNeeded: true },
      { name: "tag", label: t("Tag"), kind: "text" },
      { name: "keys", label: t("Keys"), kind: "text", hint: t("Separated by spaces") },
      { name: "delay", label: t("Delay in seconds"), kind: "number" },
    ],
    body: (values) => ({
      body: values.body,
      tag: values.tag || undefined,
      keys: values.keys ? values.keys.split(/\s+/) : undefined,
      delay_seconds: values.delay ? Number(values.delay) : undefined,
    }),
    onDone,
  };
}
