// Delayed messages: how many are due when, and the next ones; one with a time can be taken back.

import { linkTo, query, setQuery } from "../data/address";
import { pathOf } from "../data/api";
import { rowsOf, useResource } from "../data/resource";
import type { DelayedList, DelayedRow } from "../data/shapes";
import { type Action, ActionButton } from "../parts/action";
import { Empty, Failure, Loading, PageHead, Pill, Section, UnknownNotes } from "../parts/basics";
import { getOf } from "../parts/CopyAs";
import { Choice, Filter } from "../parts/fields";
import { type Column, Table } from "../parts/Table";
import { t } from "../words";
import { clock, count, duration, time } from "../words/figures";

const HOUR_MS = 3_600_000;
const RANGES: [string, number][] = [
  ["5m", HOUR_MS / 12],
  ["1h", HOUR_MS],
  ["2h", 2 * HOUR_MS],
  ["1d", 24 * HOUR_MS],
  ["7d", 7 * 24 * HOUR_MS],
];

export function DelayedPage() {
  const { within = "1h", topic = "" } = query.value;
  const range = RANGES.find(([name]) => name === within)?.[1] ?? HOUR_MS;
  const asked = pathOf("/api/delayed", {}, { range_ms: range, topic });
  const { value, error, reload } = useResource<DelayedList>(asked, 5000);
  return (
    <>
      <PageHead
        title={t("Delayed messages")}
        below={value && <span class="muted">{count(value.waiting)}</span>}
        request={getOf("/api/delayed", {}, { range_ms: range, topic })}
      >
        <Choice
          label={t("Due within")}
          value={within}
          options={RANGES.map(([name]) => ({ value: name, label: name }))}
          onChange={(name) => setQuery({ within: name === "1h" ? null : name })}
        />
        <Filter label={t("Topic")} value={topic} onChange={(text) => setQuery({ topic: text })} />
      </PageHead>
      {error && <Failure error={error} />}
      {value === null ? !error && <Loading /> : <Delayed value={value} reload={reload} />}
    </>
  );
}

function Delayed({ value, reload }: { value: DelayedList; reload: () => void }) {
  return (
    <>
      <Section
        title={t("Due")}
        note={t("{later} later, {overdue} overdue", {
          later: count(value.later),
          overdue: count(value.overdue),
        })}
      >
        <Histogram value={value} />
      </Section>
      <Section title={t("Next")}>
        <Table
          label={t("Next")}
          rows={rowsOf(value.rows)}
          keyOf={(row) => row.offset_id}
          rowsInSight={18}
          columns={columns(reload)}
          empty={
            <Empty icon="delayed" title={t("No message waits for its time")}>
              <p>{t("A message is delayed by its sender: send(…, delay=60).")}</p>
            </Empty>
          }
        />
      </Section>
      <UnknownNotes unknown={value.unknown} />
    </>
  );
}

const BAR_PX = 110;
/** A space that has a height: bars stand on one line. */
const NOTHING = "\u00a0";

function Histogram({ value }: { value: DelayedList }) {
  const most = Math.max(1, ...value.counts);
  return (
    // what scrolls must be reached by the keyboard
    <ul class="histogram" tabIndex={0} aria-label={t("Messages by the time they are due")}>
      {value.counts.map((due, index) => {
        const from = value.at + index * value.step_ms;
        const until = clock(from + value.step_ms);
        return (
          <li key={index} title={`${time(from)} – ${until}`}>
            <span>{due > 0 ? count(due) : NOTHING}</span>
            <span class="histogram-bar" style={{ height: `${(due / most) * BAR_PX}px` }} />
            <span>{index % 3 === 0 ? clock(from).slice(0, 5) : NOTHING}</span>
          </li>
        );
      })}
    </ul>
  );
}

function columns(reload: () => void): Column<DelayedRow>[] {
  return [
    {
      key: "due",
      title: t("Due at"),
      width: "150px",
      cell: (row) => (
        <span title={time(row.due)}>
          {clock(row.due)} <span class="muted">{duration(row.due - Date.now())}</span>
        </span>
      ),
    },
    {
      key: "topic",
      title: t("Topic"),
      width: "1fr",
      cell: (row) => <a href={linkTo.topic(row.topic)}>{row.topic}</a>,
    },
    {
      key: "body",
      title: t("Body"),
      width: "2fr",
      isMinor: true,
      cell: (row) => <span class="mono">{row.preview || t("(empty)")}</span>,
    },
    {
      key: "level",
      title: t("Kind"),
      width: "90px",
      isMinor: true,
      cell: (row) => (
        <Pill>{row.level === null ? t("by time") : t("level {level}", { level: row.level })}</Pill>
      ),
    },
    { key: "broker", title: t("Broker"), width: "100px", isMinor: true, cell: (row) => row.broker },
    {
      key: "recall",
      title: t("Actions"),
      width: "100px",
      align: "right",
      cell: (row) =>
        row.level === null && (
          <ActionButton action={recall(row, reload)} look="quiet">
            {t("Recall")}
          </ActionButton>
        ),
    },
  ];
}

function recall(row: DelayedRow, onDone: () => void): Action {
  return {
    title: t("Recall message"),
    text: t("It is never delivered. Its sender is not told."),
    role: "admin",
    method: "POST",
    template: "/api/delayed/recall",
    confirm: row.id,
    isDanger: true,
    body: () => ({ id: row.id, broker: row.broker, topic: row.topic, due: row.due }),
    onDone,
  };
}
