// Shapes of the server's answers, named as the API names them (docs/console.md).
// A value that the cluster cannot tell is null, and `unknown` says why.

export type Role = "viewer" | "operator" | "admin";
export type Unknown = Record<string, string>;

export interface Session {
  user: string | null;
  role: Role | null;
  login_needed: boolean;
  csrf: string;
  name_servers: string[];
  version: string;
  clusters: string[];
  has_prometheus: boolean;
}

/** Servers that are open to other machines though nobody is asked who it is. */
export interface Insecure {
  servers: string[];
}

export interface List<Row> {
  at: number;
  total: number;
  found: number;
  offset: number;
  rows: Row[];
  unknown: Unknown;
}

export interface Latency {
  p50: number;
  p99: number;
  p999: number;
  max: number;
}

export interface Disk {
  used: number | null;
  warn: number;
  clean: number;
  stop: number;
  days_left: number | null;
}

export interface Replica {
  lag_bytes: number | null;
  lag_ms: number | null;
  in_sync: boolean | null;
  why: string;
}

export interface Broker {
  cluster: string;
  name: string;
  id: number;
  address: string;
  role: string | null;
  is_master: boolean;
  version: string | null;
  product: string | null;
  started: number | null;
  in: number | null;
  out: number | null;
  in_bytes: number | null;
  put_ms: Latency | null;
  disk: Disk | null;
  log_bytes: number | null;
  oldest: number | null;
  dispatch_behind: number | null;
  flush_behind: number | null;
  transactions: number | null;
  delayed: number | null;
  replica: Replica | null;
  problem: string | null;
  end_offset?: number | null;
}

export interface Attention {
  kind: string;
  of: string;
  text: string;
  path: string;
}

export interface Totals {
  in: number | null;
  out: number | null;
  topics: number;
  groups: number;
  lag: number | null;
  dead_letters: number | null;
  transactions: number | null;
  delayed: number | null;
  brokers: number;
  masters: number;
}

export interface Overview {
  at: number;
  name_servers: { address: string; problem: string | null }[];
  brokers: Broker[];
  totals: Totals;
  top_topics: { name: string; in: number | null }[];
  top_groups: { name: string; lag: number | null }[];
  attention: Attention[];
  unknown: Unknown;
}

export interface TopicRow {
  name: string;
  kind: string;
  type: string;
  queues: number;
  brokers: string[];
  permission: string;
  in: number | null;
  out: number | null;
  messages: number | null;
  last_stored: number | null;
  groups: number | null;
}

export interface TopicQueue {
  broker: string;
  queue: number;
  start: number;
  end: number;
  messages: number;
  share: number | null;
  last_stored: number | null;
  oldest: number | null;
}

export interface TopicConfig {
  broker: string;
  read_queues: number;
  write_queues: number;
  permission: string;
  is_order: boolean;
  attributes: Record<string, string>;
}

export interface Topic {
  at: number;
  name: string;
  kind: string;
  type: string;
  configs: TopicConfig[];
  queues: TopicQueue[];
  skew: number | null;
  in: number | null;
  out: number | null;
  messages: number | null;
  span_ms: number | null;
  groups: { name: string; lag: number | null; members: number | null }[];
  unknown: Unknown;
}

export interface GroupRow {
  name: string;
  lag: number | null;
  out: number | null;
  members: number | null;
  model: string | null;
  topics: number | null;
  retry: number | null;
  dead: number | null;
  enabled: boolean;
}

export interface GroupQueue {
  topic: string;
  broker: string;
  queue: number;
  offset: number;
  end: number;
  lag: number;
  in_flight: number | null;
  owner: string | null;
  consumed_at: number | null;
  behind_ms: number | null;
  is_retry: boolean;
}

export interface Member {
  client_id: string;
  address: string;
  language: string;
  version: string;
  queues: number | null;
  consume_ms: number | null;
  ok: number | null;
  failed: number | null;
}

export interface Group {
  at: number;
  name: string;
  lag: number | null;
  out: number | null;
  model: string | null;
  from_where: string | null;
  mode: string | null;
  configs: {
    broker: string;
    enabled: boolean;
    broadcast: boolean;
    retry_max: number;
    retry_queues: number;
    orderly: boolean;
    attributes: Record<string, string>;
  }[];
  queues: GroupQueue[];
  members: Member[];
  subscriptions: { topic: string; expression: string; type: string }[];
  mismatches: { topic: string; said: { expression: string; clients: string[] }[] }[];
  retry: number | null;
  dead: number | null;
  unknown: Unknown;
}

export interface Finding {
  cause: string;
  text: string;
  next: string;
  severity: "ok" | "info" | "warning";
  group?: string;
}

export interface MessageRow {
  id: string;
  offset_id: string;
  topic: string;
  broker: string;
  queue: number;
  offset: number;
  stored: number;
  born: number;
  tag: string | null;
  keys: string[];
  size: number;
  attempt: number;
  preview: string;
  kind: string;
}

export interface Message {
  at: number;
  message: MessageRow & {
    born_host: string;
    store_host: string;
    flags: string[];
    headers: Record<string, string>;
    properties: Record<string, string>;
    log_offset: number;
  };
  body: {
    size: number;
    kind: string;
    shown: Record<string, unknown>;
    truncated: boolean;
    why: Record<string, string>;
  };
  consumed: { group: string; state: string; text: string }[] | null;
  unknown: Unknown;
}

export interface TraceEvent {
  at: number;
  kind: string;
  group: string | null;
  client: string | null;
  ms: number | null;
  ok: boolean | null;
  detail: string;
}

export interface DeadRow {
  group: string;
  count: number | null;
}

export interface DeadLetter extends MessageRow {
  origin_topic: string | null;
  origin_id: string | null;
  reason: string;
}

export interface DeadLetters {
  group: string;
  count: number | null;
  reasons: { reason: string; topic: string | null; count: number; last_stored: number | null }[];
  rows: DeadLetter[];
  unknown: Unknown;
}

export interface OpenHalf {
  id: string;
  broker: string;
  group: string | null;
  topic: string;
  stored: number | null;
  checks: number | null;
  age_ms: number | null;
}

export interface ClientRow {
  client_id: string;
  address: string;
  language: string;
  version: string;
  consumes: string[];
  produces: string[];
}

export interface HeldQueue {
  topic: string;
  broker: string;
  queue: number;
  offset: number;
  waiting: number;
  bytes: number;
  pulled_at: number | null;
  is_locked: boolean;
}

export interface ClientMember {
  group: string;
  queues: HeldQueue[];
  subscriptions: { topic: string; expression: string; type: string }[];
  stacks: string | null;
}

export interface ClientAnswer extends ClientRow {
  members: ClientMember[];
  unknown: Unknown;
}

export interface ConfigEntry {
  key: string;
  value: string;
  default: string | null;
  differs: boolean | null;
  hot: boolean | null;
}

export interface BrokerPage {
  at: number;
  name: string;
  cluster: string;
  members: Broker[];
  epochs: { epoch: number; start: number; end: number | null }[] | null;
  figures: { key: string; value: string }[];
  config: ConfigEntry[];
  findings: Finding[];
  unknown: Unknown;
}

export interface UserRow {
  name: string;
  kind: string;
  enabled: boolean;
  brokers: string[];
}

export interface RightRow {
  user: string;
  resource: string;
  actions: string[];
  decision: string;
  sources: string[];
  policy: string;
}

export interface RightVerdict {
  broker: string;
  can: boolean;
  reason: string;
}

export interface DelayedRow extends MessageRow {
  due: number;
  /** null: it has a time of its own. */
  level: number | null;
}

export interface DelayedList {
  at: number;
  step_ms: number;
  counts: number[];
  overdue: number;
  later: number;
  waiting: number;
  rows: DelayedRow[];
  unknown: Unknown;
}

export interface CaptureRow {
  name: string;
  phase: string;
  position: string;
  rows: number;
  lag_seconds: number;
  updated: number | null;
}

export interface QueryRow {
  name: string;
  page: string;
  batches: number;
  rows: number;
  rows_a_second: number | null;
  batch_seconds: number;
  lag: number;
  topics: string[];
  queues: {
    topic: string;
    broker: string;
    queue: number;
    offset: number | null;
    lag: number | null;
  }[];
}

export interface Pipeline {
  at: number;
  captures: CaptureRow[];
  queries: QueryRow[];
  unknown: Unknown;
}

export interface LoadPoint {
  second: number;
  sent: number;
  received: number;
  errors: number;
  p50_ms: number;
  p99_ms: number;
  max_ms: number;
  lag: number | null;
}

export interface LoadRun {
  name: string;
  kind: string;
  workload: string;
  said: string;
  problem: string;
  is_over: boolean;
}

export interface BenchRow {
  name: string;
  kind: string;
  started: string;
  rate: number | null;
  p50_ms: number | null;
  p99_ms: number | null;
  errors: number | null;
  verdict: string | null;
}

export interface BenchList {
  at: number;
  current: LoadRun | null;
  rows: BenchRow[];
}

export interface BenchFigures {
  messages: number;
  rate: number;
  errors: number;
  latency_ms?: Record<string, number>;
}

export interface BenchComparison {
  with: string;
  changes: { figure: string; before: number; now: number; ratio: number | null }[];
  settings: string[];
}

export interface BenchResult {
  at: number;
  result: {
    kind: string;
    started: string;
    figures: Record<string, BenchFigures>;
    verdict: { sentence: string };
    series: LoadPoint[];
  };
  comparison: BenchComparison | null;
}

export interface AuditRow {
  at: number;
  user: string | null;
  role: string | null;
  from: string;
  action: string;
  of: string;
  outcome: string;
  detail: string;
}

export interface Mark {
  at: number;
  kind: string;
  of: string;
  text: string;
}

export interface History {
  step_ms: number;
  times: number[];
  series: Record<string, (number | null)[]>;
  marks: Mark[];
  source: string;
}

export interface SearchHit {
  kind: string;
  name: string;
  path: string;
  detail: string;
}
