// The pages of the console: their paths, their names, their keys.

import { computed } from "@preact/signals";
import type { ComponentType } from "preact";
import { serves } from "../data/description";
import { AuditPage } from "../pages/AuditPage";
import { BenchPage } from "../pages/BenchPage";
import { BenchRunPage } from "../pages/BenchRunPage";
import { BrokerPage } from "../pages/BrokerPage";
import { BrokersPage } from "../pages/BrokersPage";
import { ClientsPage } from "../pages/ClientsPage";
import { DeadGroupPage } from "../pages/DeadGroupPage";
import { DeadLettersPage } from "../pages/DeadLettersPage";
import { DelayedPage } from "../pages/DelayedPage";
import { GroupPage } from "../pages/GroupPage";
import { GroupsPage } from "../pages/GroupsPage";
import { MessagePage } from "../pages/MessagePage";
import { MessagesPage } from "../pages/MessagesPage";
import { OverviewPage } from "../pages/OverviewPage";
import { PipelinePage } from "../pages/PipelinePage";
import { TopicPage } from "../pages/TopicPage";
import { TopicsPage } from "../pages/TopicsPage";
import { TransactionsPage } from "../pages/TransactionsPage";
import { UsersPage } from "../pages/UsersPage";
import type { IconName } from "../parts/Icon";
import type { Phrase } from "../words";

/** A page is given the parts of its path after the first. */
export type PageProps = { parts: string[] };

export interface Place {
  /** The first part of its path. */
  path: string;
  name: Phrase;
  icon: IconName;
  /** The key after `g` that leads there. */
  key: string;
  /** The path of the API that the page shows; a server without it has no such page. */
  api: string;
  page: ComponentType<PageProps>;
  /** The page of one thing of the list, and how many parts name it. */
  detail?: { parts: number; page: ComponentType<PageProps> };
}

const ALL_PLACES: Place[] = [
  {
    path: "",
    api: "/api/overview",
    name: "Overview",
    icon: "overview",
    key: "o",
    page: OverviewPage,
  },
  {
    path: "topics",
    api: "/api/topics",
    name: "Topics",
    icon: "topics",
    key: "t",
    page: TopicsPage,
    detail: { parts: 1, page: TopicPage },
  },
  {
    path: "groups",
    api: "/api/groups",
    name: "Groups",
    icon: "groups",
    key: "g",
    page: GroupsPage,
    detail: { parts: 1, page: GroupPage },
  },
  {
    path: "messages",
    api: "/api/messages",
    name: "Messages",
    icon: "messages",
    key: "m",
    page: MessagesPage,
    detail: { parts: 2, page: MessagePage },
  },
  {
    path: "dead-letters",
    api: "/api/dead-letters",
    name: "Dead letters",
    icon: "dead",
    key: "x",
    page: DeadLettersPage,
    detail: { parts: 1, page: DeadGroupPage },
  },
  {
    path: "transactions",
    api: "/api/transactions",
    name: "Transactions",
    icon: "transactions",
    key: "h",
    page: TransactionsPage,
  },
  {
    path: "delayed",
    api: "/api/delayed",
    name: "Delayed",
    icon: "delayed",
    key: "d",
    page: DelayedPage,
  },
  {
    path: "brokers",
    api: "/api/brokers",
    name: "Brokers",
    icon: "brokers",
    key: "b",
    page: BrokersPage,
    detail: { parts: 1, page: BrokerPage },
  },
  {
    path: "clients",
    api: "/api/clients",
    name: "Clients",
    icon: "clients",
    key: "c",
    page: ClientsPage,
  },
  {
    path: "pipeline",
    api: "/api/pipeline",
    name: "Pipeline",
    icon: "pipeline",
    key: "p",
    page: PipelinePage,
  },
  {
    path: "bench",
    api: "/api/bench",
    name: "Load tests",
    icon: "bench",
    key: "l",
    page: BenchPage,
    detail: { parts: 1, page: BenchRunPage },
  },
  {
    path: "users",
    api: "/api/users",
    name: "Users and rights",
    icon: "users",
    key: "u",
    page: UsersPage,
  },
  { path: "audit", api: "/api/audit", name: "Audit", icon: "audit", key: "a", page: AuditPage },
];

export const places = computed(() => ALL_PLACES.filter((place) => serves(place.api)));

export function placeOf(path: string): Place | undefined {
  const first = path.split("/")[1] ?? "";
  return places.value.find((place) => place.path === first);
}
