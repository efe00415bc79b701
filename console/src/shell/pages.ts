// The pages of the console: their paths, their names, their keys.

import type { ComponentType } from "preact";
import { may } from "../data/api";
import type { Role } from "../data/shapes";
import { AuditPage } from "../pages/AuditPage";
import { BenchPage } from "../pages/BenchPage";
import { BenchRunPage } from "../pages/BenchRunPage";
import { BrokerPage } from "../pages/BrokerPage";
import { BrokersPage } from "../pages/BrokersPage";
import { ClientPage } from "../pages/ClientPage";
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
  page: ComponentType<PageProps>;
  /** The least role that may look at it; none: every one. */
  role?: Role;
  /** The page of one thing of the list, and how many parts name it. */
  detail?: { parts: number; page: ComponentType<PageProps> };
}

export const places: Place[] = [
  {
    path: "",
    name: "Overview",
    icon: "overview",
    key: "o",
    page: OverviewPage,
  },
  {
    path: "topics",
    name: "Topics",
    icon: "topics",
    key: "t",
    page: TopicsPage,
    detail: { parts: 1, page: TopicPage },
  },
  {
    path: "groups",
    name: "Groups",
    icon: "groups",
    key: "g",
    page: GroupsPage,
    detail: { parts: 1, page: GroupPage },
  },
  {
    path: "messages",
    name: "Messages",
    icon: "messages",
    key: "m",
    page: MessagesPage,
    detail: { parts: 2, page: MessagePage },
  },
  {
    path: "dead-letters",
    name: "Dead letters",
    icon: "dead",
    key: "x",
    page: DeadLettersPage,
    detail: { parts: 1, page: DeadGroupPage },
  },
  {
    path: "transactions",
    name: "Transactions",
    icon: "transactions",
    key: "h",
    page: TransactionsPage,
  },
  {
    path: "delayed",
    name: "Delayed",
    icon: "delayed",
    key: "d",
    page: DelayedPage,
  },
  {
    path: "brokers",
    name: "Brokers",
    icon: "brokers",
    key: "b",
    page: BrokersPage,
    detail: { parts: 1, page: BrokerPage },
  },
  {
    path: "clients",
    name: "Clients",
    icon: "clients",
    key: "c",
    page: ClientsPage,
    detail: { parts: 1, page: ClientPage },
  },
  {
    path: "pipeline",
    name: "Pipeline",
    icon: "pipeline",
    key: "p",
    page: PipelinePage,
  },
  {
    path: "bench",
    name: "Load tests",
    icon: "bench",
    key: "l",
    page: BenchPage,
    detail: { parts: 1, page: BenchRunPage },
  },
  {
    path: "users",
    role: "admin",
    name: "Users and rights",
    icon: "users",
    key: "u",
    page: UsersPage,
  },
  { path: "audit", role: "admin", name: "Audit", icon: "audit", key: "a", page: AuditPage },
];

export function placeOf(path: string): Place | undefined {
  const first = path.split("/")[1] ?? "";
  return places.find((place) => place.path === first);
}

/** The pages that the visitor may see. */
export function placesOfRole(): Place[] {
  return places.filter((place) => may(place.role ?? "viewer"));
}
