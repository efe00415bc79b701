// How long members take for a message, by what they traced in the last hour.

import { useResource } from "../../data/resource";
import type { Unknown } from "../../data/shapes";
import { Facts, Failure, Loading, Section } from "../../parts/basics";
import { t } from "../../words";
import { count, milliseconds } from "../../words/figures";

interface Times {
  messages: number;
  failed: number;
  ms: { p50: number; p99: number; p999: number; most: number } | null;
  unknown: Unknown;
}

export function ConsumeTimes({ name }: { name: string }) {
  const path = `/api/groups/${encodeURIComponent(name)}/times`;
  const { value, error, stop } = useResource<Times>(path);
  const why = value?.unknown.ms;
  return (
    <Section title={t("Consume times")} note={t("of messages that were traced in the last hour")}>
      {error && <Failure error={error} />}
      {!value && !error && <Loading onStop={stop} />}
      {value && (
        <Facts
          facts={[
            ["p50", milliseconds(value.ms?.p50)],
            ["p99", milliseconds(value.ms?.p99)],
            ["p99.9", milliseconds(value.ms?.p999)],
            [t("Longest"), milliseconds(value.ms?.most)],
            [t("Messages"), count(value.messages)],
            [t("Failed"), count(value.failed)],
          ]}
        />
      )}
      {why && <p class="pad muted">{why}</p>}
    </Section>
  );
}
